//! Downloads of bundles: `/v1/status` and the documents in force after each of the replies of a service, as in OPA.
//! `SOLON_RECORD=opa cargo test -p solon-server --test http downloads` records the results of that program.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};
use solon::bundle::{Bundle, BundleFile, SigningKey};

use crate::distribution::json_at;
use crate::process::Server;
use crate::service::{Reply, Service};
use crate::waiting::wait_until;

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn files(value: &Value) -> Vec<BundleFile> {
    let files = value.as_object().into_iter().flatten();
    let file = |(path, bytes): (&String, &Value)| BundleFile {
        path: path.clone(),
        bytes: text(bytes).into(),
    };
    files.map(file).collect()
}

fn reply(case: &Value) -> Reply {
    if let Some(status) = case["status"].as_u64() {
        return Reply::status(u16::try_from(status).unwrap());
    }
    if let Some(body) = case["text"].as_str() {
        return Reply::archive(body.into());
    }
    let mut files_of = files(&case["files"]);
    if let Some(secret) = case["sign"].as_str() {
        let key = SigningKey::new("HS256", secret).id("k");
        let bytes = Bundle::sign(&files_of, &key).unwrap();
        files_of.extend(files(&case["unsigned"]));
        files_of.push(BundleFile {
            path: ".signatures.json".to_owned(),
            bytes,
        });
    }
    let mut reply = Reply::archive(Bundle::write_archive(&files_of).unwrap());
    reply.etag = case["etag"].as_str().map(str::to_owned);
    let cut = case["cut"].as_u64();
    reply.cut = cut.map(|cut| usize::try_from(cut).unwrap());
    reply
}

/// Replaces times by `true` and keeps their names.
fn without_times(status: &Value) -> Value {
    let fields = status.as_object().into_iter().flatten();
    let fields = fields.filter_map(|(name, value)| {
        let value = match name.as_str() {
            _ if name.starts_with("last_") => json!(value != "0001-01-01T00:00:00Z"),
            "metrics" => return None,
            _ => value.clone(),
        };
        Some((name.clone(), value))
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Returns a port that was free when it was checked.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn downloads_end_as_recorded() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/server/http/cases/downloads.json");
    let mut cases: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let service = Service::start();
    let mut bundles = Map::new();
    for case in &cases {
        let name = text(&case["name"]);
        let replies = case["replies"].as_array().unwrap();
        service.reply(
            &format!("/bundles/{name}"),
            replies.iter().map(reply).collect(),
        );
        let mut settings = case["settings"].clone();
        if settings.is_null() {
            settings = json!({});
        }
        settings["polling"] = json!({"min_delay_seconds": 0, "max_delay_seconds": 1});
        for (key, value) in case["polling"].as_object().into_iter().flatten() {
            settings["polling"][key] = value.clone();
        }
        bundles.insert(name.to_owned(), settings);
    }
    let config = json!({
        "services": {"s": {"url": service.url()}},
        "keys": {"k": {"key": "secret", "algorithm": "HS256"}},
        "bundles": bundles,
        "status": {"prometheus": true},
    });
    let record = std::env::var_os("SOLON_RECORD");
    let port = free_port();
    let script = match record {
        // OPA does not log its port
        Some(_) => format!(
            r#"(sleep 2; echo '{{"msg": "Server initialized.", "addrs": "127.0.0.1:{port}", "diagnostic_addrs": ""}}' >&2) &
            exec "$0" run --server --skip-version-check -c c.yaml --addr 127.0.0.1:{port}"#
        ),
        None => r#"exec "$0" run --server --compat opa -c c.yaml --addr 127.0.0.1:0"#.to_owned(),
    };
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    command.arg(
        record
            .clone()
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_solon").into()),
    );
    let server = Server::start_by(
        command,
        &["--addr", "127.0.0.1:0"],
        &[("c.yaml", &config.to_string())],
    );
    for case in &cases {
        let path = format!("/bundles/{}", text(&case["name"]));
        let count = case["replies"].as_array().unwrap().len() + 2;
        wait_until(&path, || {
            service
                .received(&path)
                .iter()
                .filter(|one| one.path == path)
                .count()
                >= count
        });
    }
    let status = json_at(&server, "/v1/status");
    let mut changed = Vec::new();
    for case in &mut cases {
        let name = text(&case["name"]).to_owned();
        let found = json!({
            "status": without_times(&status["result"]["bundles"][&name]),
            "document": json_at(&server, &format!("/v1/data/{name}"))["result"],
            "etag": json_at(&server, &format!("/v1/data/system/bundles/{name}/etag"))["result"],
        });
        if record.is_some() {
            case["opa"] = found;
            continue;
        }
        let want = case.get("solon").unwrap_or(&case["opa"]);
        if *want != found {
            changed.push(format!("{name}: expected {want}\n  got {found}"));
        }
    }
    if record.is_some() {
        let text = serde_json::to_string_pretty(&cases).unwrap() + "\n";
        std::fs::write(&path, text).unwrap();
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    if record.is_none() {
        let mut plugins = status["result"]["plugins"].clone();
        plugins
            .as_object_mut()
            .unwrap()
            .retain(|_, plugin| plugin["state"] == "OK");
        assert_eq!(
            plugins,
            json!({"discovery": {"state": "OK"}, "status": {"state": "OK"}})
        );
        let health = json_at(&server, "/health?bundles");
        let error = text(&health["error"]);
        assert!(
            error.starts_with("one or more bundles are not activated: "),
            "{error}"
        );
        assert!(error.contains("never"), "{error}");
    }
}
