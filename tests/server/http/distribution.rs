//! Bundles that the server downloads: from files, persisted on disk, changed with the configuration.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use solon::bundle::SigningKey;

use crate::client::get;
use crate::process::Server;
use crate::service::{Reply, Service, archive, signed, signed_by};
use crate::waiting::wait_until;

/// Returns the files of a bundle that owns `data.NAME`.
pub fn files(name: &str, revision: &str) -> Vec<(String, String)> {
    vec![
        (
            ".manifest".to_owned(),
            json!({"revision": revision, "roots": [name]}).to_string(),
        ),
        (
            format!("{name}/data.json"),
            json!({"revision": revision}).to_string(),
        ),
        (
            format!("{name}/p.rego"),
            format!("package {name}\nallow := true\n"),
        ),
    ]
}

/// Returns the archive of a bundle that owns `data.NAME`.
pub fn bundle(name: &str, revision: &str) -> Vec<u8> {
    let files = files(name, revision);
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    archive(&files)
}

pub fn json_at(server: &Server, target: &str) -> Value {
    serde_json::from_slice(&get(server.address(), target).body).unwrap()
}

/// Waits until a document has a value.
pub fn wait_for_document(server: &Server, path: &str, want: &Value) {
    wait_until(path, || {
        let found = json_at(server, &format!("/v1/data/{path}"));
        found.get("result") == Some(want)
    });
}

/// Returns the status of a bundle.
pub fn status(server: &Server, name: &str) -> Value {
    json_at(server, "/v1/status")["result"]["bundles"][name].clone()
}

/// Starts a server with a configuration and other files.
pub fn start(config: &Value, files: &[(&str, &str)]) -> Server {
    let config = config.to_string();
    let files: Vec<_> = files
        .iter()
        .copied()
        .chain([("c.yaml", &*config)])
        .collect();
    let mut command = Command::new("sh");
    // the folder contains files that must not be loaded
    command.args([
        "-c",
        r#"exec "$0" "$1" "$2" -c c.yaml --watch-config --compat opa --addr 127.0.0.1:0"#,
    ]);
    command.arg(env!("CARGO_BIN_EXE_solon"));
    Server::start_by(command, &[], &files)
}

fn replace(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("new");
    fs::write(&new, bytes).unwrap();
    fs::rename(new, path).unwrap();
}

/// Starts a server with a configuration and a store.
fn start_with_store(config: &Value, store: &Path) -> Server {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        r#"exec "$0" "$1" "$2" -c c.yaml --data-dir "$STORE" --compat opa --addr 127.0.0.1:0"#,
    ]);
    command.arg(env!("CARGO_BIN_EXE_solon")).env("STORE", store);
    Server::start_by(command, &[], &[("c.yaml", &config.to_string())])
}

fn polling() -> Value {
    json!({"min_delay_seconds": 0, "max_delay_seconds": 0})
}

#[test]
fn a_file_is_activated_again_when_it_changes_and_the_last_good_bundle_stays() {
    let folder = crate::process::Folder::with(&[]);
    let file = folder.path().join("b.tar.gz");
    replace(&file, &bundle("a", "1"));
    let config = json!({
        "bundles": {"b": {"resource": format!("file://{}", file.display()), "polling": polling()}},
        "status": {
            "prometheus": true,
            "prometheus_config": {"collectors": {"bundle_loading_duration_ns": {"buckets": [1, 1e12]}}},
        },
    });
    let server = start(&config, &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    wait_until("health", || {
        get(server.address(), "/health?bundles&plugins").status == 200
    });
    replace(&file, &bundle("a", "2"));
    wait_for_document(&server, "a/revision", &json!("2"));
    let broken: [(&str, Vec<u8>, &str); 4] = [
        (
            "no archive",
            b"not an archive".to_vec(),
            "bundle read failed: archive read failed: gzip: invalid header",
        ),
        (
            "a policy that does not compile",
            archive(&[
                ("p.rego", "package a\nallow if x"),
                (".manifest", r#"{"roots": ["a"]}"#),
            ]),
            "error(s) occurred while compiling module(s)",
        ),
        (
            "other roots",
            archive(&[
                ("p.rego", "package b"),
                (".manifest", r#"{"roots": ["a"]}"#),
            ]),
            "manifest roots [a] do not permit 'package b' in module '/p.rego'",
        ),
        (
            "a signature",
            signed(&[("p.rego", "package a")], "secret"),
            "verification key not provided",
        ),
    ];
    for (name, bytes, message) in broken {
        replace(&file, &bytes);
        wait_until(name, || status(&server, "b")["message"] == message);
        let status = status(&server, "b");
        assert_eq!(status["code"], "bundle_error", "{name}");
        assert_eq!(status["active_revision"], "2", "{name}");
        assert_eq!(
            json_at(&server, "/v1/data/a/revision"),
            json!({"result": "2"})
        );
        assert_eq!(
            json_at(&server, "/v1/data/a/allow"),
            json!({"result": true})
        );
        // a bundle that was active once is sufficient
        assert_eq!(get(server.address(), "/health?bundles&plugins").status, 200);
    }
    let metrics = get(server.address(), "/metrics").text();
    for want in [
        "# TYPE bundle_loaded_counter counter\nbundle_loaded_counter{name=\"b\"} ",
        "# TYPE bundle_failed_load_counter counter\n",
        "bundle_failed_load_counter{code=\"bundle_error\",message=\"verification key not provided\",name=\"b\"} ",
        "bundle_failed_load_counter{code=\"bundle_error\",message=\"bundle read failed: archive read failed: gzip: invalid header\",name=\"b\"} ",
        "bundle_failed_load_counter{code=\"bundle_error\",message=\"error(s) occurred while compiling module(s)\",name=\"b\"} ",
        "# TYPE last_bundle_request gauge\nlast_bundle_request{name=\"b\"} ",
        "last_success_bundle_activation{active_revision=\"2\",name=\"b\"} ",
        "last_success_bundle_download{name=\"b\"} ",
        "last_success_bundle_request{name=\"b\"} ",
        "# TYPE bundle_loading_duration_ns histogram\n",
        "bundle_loading_duration_ns_bucket{name=\"b\",stage=\"timer_rego_load_bundles_ns\",le=\"1e+12\"} ",
        "bundle_loading_duration_ns_bucket{name=\"b\",stage=\"timer_rego_load_bundles_ns\",le=\"1\"} 0\n",
        "bundle_loading_duration_ns_count{name=\"b\",stage=\"timer_rego_module_compile_ns\"} ",
    ] {
        assert!(metrics.contains(want), "{want}: {metrics}");
    }
    fs::remove_file(&file).unwrap();
    let message = format!("stat {}: no such file or directory", file.display());
    wait_until("no file", || status(&server, "b")["message"] == message);
    replace(&file, &bundle("a", "3"));
    wait_for_document(&server, "a/revision", &json!("3"));
    assert_eq!(status(&server, "b").get("code"), None);
}

/// An earlier bundle has a valid signature: only its age shows that it is replayed.
#[test]
fn replayed_bundles_are_rejected_by_the_age_of_their_signature() {
    let service = Service::start();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    let old = "signature is too old: issued at ";
    let missing = "signature without a time of issue (`iat`)";
    let hour = 3600;
    let cases = [
        ("fresh", Some("1h"), Some(json!(now)), ""),
        (
            "fraction",
            Some("1h"),
            Some(json!(f64::from(u32::try_from(now).unwrap()) - 0.5)),
            "",
        ),
        ("within", Some("1h"), Some(json!(now - hour / 2)), ""),
        ("later", Some("1h"), Some(json!(now + hour)), ""),
        ("days", Some("72h"), Some(json!(now - 70 * hour)), ""),
        ("late", Some("1h"), Some(json!(now - hour - 5)), old),
        (
            "replayed",
            Some("1h"),
            Some(json!(now - 365 * 24 * hour)),
            old,
        ),
        ("epoch", Some("1h"), Some(json!(0)), old),
        ("negative", Some("1h"), Some(json!(-5)), old),
        ("long", Some("72h"), Some(json!(now - 73 * hour)), old),
        ("none", Some("1h"), None, missing),
        ("null", Some("1h"), Some(json!(null)), missing),
        ("text", Some("1h"), Some(json!(now.to_string())), missing),
        ("array", Some("1h"), Some(json!([now])), missing),
        ("unchecked", None, Some(json!(0)), ""),
        ("unchecked_none", None, None, ""),
    ];
    let mut bundles = serde_json::Map::new();
    for (name, age, iat, _) in &cases {
        let files = files(name, "1");
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (&**path, &**text))
            .collect();
        let mut claims = json!({});
        if let Some(iat) = iat {
            claims["iat"] = iat.clone();
        }
        let claims = solon::to_value(&claims).unwrap();
        let claims = claims.as_object().unwrap().clone();
        let key = SigningKey::new("HS256", "secret").id("k").claims(claims);
        let archive = signed_by(&files, &key);
        service.reply(&format!("/bundles/{name}"), vec![Reply::archive(archive)]);
        let mut signing = json!({"keyid": "k"});
        if let Some(age) = age {
            signing["max_age"] = json!(age);
        }
        let polling = json!({"min_delay_seconds": 3600, "max_delay_seconds": 3600});
        bundles.insert(
            (*name).to_owned(),
            json!({"signing": signing, "polling": polling}),
        );
    }
    let config = json!({
        "services": {"s": {"url": service.url()}},
        "keys": {"k": {"key": "secret", "algorithm": "HS256"}},
        "bundles": bundles,
        "status": {"prometheus": true},
    });
    let server = start(&config, &[]);
    for (name, _, _, want) in &cases {
        wait_until(name, || {
            let status = status(&server, name);
            status["active_revision"] == "1" || status["message"].is_string()
        });
        let status = status(&server, name);
        let message = status["message"].as_str().unwrap_or_default();
        assert_eq!(message.is_empty(), want.is_empty(), "{name}: {status}");
        assert!(message.starts_with(want), "{name}: {message}");
        let allow = json_at(&server, &format!("/v1/data/{name}/allow"));
        assert_eq!(allow.get("result").is_some(), want.is_empty(), "{name}");
    }
}

#[test]
fn the_age_of_signatures_is_a_positive_duration() {
    for age in ["", "1", "0", "0s", "-1h", "1 day", "1d"] {
        let config = json!({
            "services": {"s": {"url": "http://127.0.0.1:1"}},
            "keys": {"k": {"key": "secret", "algorithm": "HS256"}},
            "bundles": {"b": {"signing": {"keyid": "k", "max_age": age}}},
        });
        let folder = crate::process::Folder::with(&[("c.yaml", &config.to_string())]);
        let file = folder.path().join("c.yaml");
        let (code, text) = Server::fail(&["-c", file.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{age}");
        assert!(text.contains("`signing.max_age`: "), "{age}: {text}");
    }
}

/// Bundles of the command line are loaded again when their files change, next to those that are downloaded.
#[test]
fn facts_of_downloaded_bundles_outlive_a_reload() {
    let folder = crate::process::Folder::with(&[]);
    let file = folder.path().join("b.tar.gz");
    replace(&file, &bundle("a", "1"));
    let watched = folder.path().join("watched");
    fs::create_dir(&watched).unwrap();
    let manifest = |revision: &str| json!({"revision": revision, "roots": ["w"]}).to_string();
    replace(&watched.join(".manifest"), manifest("1").as_bytes());
    let config = json!({
        "bundles": {"b": {"resource": format!("file://{}", file.display()), "polling": polling()}},
    });
    let mut command = Command::new("sh");
    command.args([
        "-c",
        r#"exec "$0" "$1" "$2" -c c.yaml --watch --bundle "$WATCHED" --addr 127.0.0.1:0"#,
    ]);
    let program = env!("CARGO_BIN_EXE_solon");
    command.arg(program).env("WATCHED", &watched);
    let server = Server::start_by(command, &[], &[("c.yaml", &config.to_string())]);
    wait_for_document(&server, "a/revision", &json!("1"));
    let revisions = |server: &Server| {
        let bundles = json_at(server, "/v1/data/system/bundles")["result"].clone();
        let bundles = bundles.as_object().cloned().unwrap_or_default();
        let revisions = bundles.values().map(|facts| &facts["manifest"]["revision"]);
        let mut revisions: Vec<String> = revisions.map(ToString::to_string).collect();
        revisions.sort();
        revisions.join(" ")
    };
    assert_eq!(revisions(&server), r#""1" "1""#);
    for revision in ["2", "3"] {
        replace(&watched.join(".manifest"), manifest(revision).as_bytes());
        let want = format!(r#""1" "{revision}""#);
        wait_until(&want, || revisions(&server) == want);
    }
    replace(&file, &bundle("a", "4"));
    wait_until("both changes", || revisions(&server) == r#""3" "4""#);
}

#[test]
fn bundles_start_change_and_stop_with_the_configuration() {
    let folder = crate::process::Folder::with(&[]);
    let resource = |name: &str| {
        let file = folder.path().join(format!("{name}.tar.gz"));
        replace(&file, &bundle(name, "1"));
        json!({"resource": format!("file://{}", file.display()), "polling": polling()})
    };
    let (a, b) = (resource("a"), resource("b"));
    let server = start(
        &json!({"bundles": {"a": a}, "status": {"prometheus": true}}),
        &[],
    );
    wait_for_document(&server, "a/allow", &json!(true));
    let change = |config: Value| {
        replace(
            &server.folder().join("c.yaml"),
            config.to_string().as_bytes(),
        );
    };
    change(json!({"bundles": {"a": a, "b": b}, "status": {"prometheus": true}}));
    wait_for_document(&server, "b/allow", &json!(true));
    assert_eq!(
        json_at(&server, "/v1/config")["result"]["bundles"],
        json!({"a": a, "b": b})
    );
    change(json!({"bundles": {"b": b}, "status": {"prometheus": true}}));
    wait_until("a is gone", || {
        json_at(&server, "/v1/data/a").get("result").is_none()
    });
    wait_until("its status is gone", || status(&server, "a").is_null());
    assert_eq!(
        json_at(&server, "/v1/data/b/allow"),
        json!({"result": true})
    );
    change(json!({}));
    wait_until("b is gone", || {
        json_at(&server, "/v1/data/b").get("result").is_none()
    });
    assert_eq!(get(server.address(), "/health?bundles&plugins").status, 200);
    assert_eq!(get(server.address(), "/v1/status").status, 500);
}

#[test]
fn a_bundle_that_left_the_configuration_is_gone_after_a_restart_with_a_store() {
    let folder = crate::process::Folder::with(&[]);
    let bundle_of = |name: &str| {
        let file = folder.path().join(format!("{name}.tar.gz"));
        replace(&file, &bundle(name, "1"));
        json!({"resource": format!("file://{}", file.display())})
    };
    let (a, b) = (bundle_of("a"), bundle_of("b"));
    let store = folder.path().join("store");
    let server = start_with_store(&json!({"bundles": {"a": a, "b": b}}), &store);
    wait_for_document(&server, "a/allow", &json!(true));
    wait_for_document(&server, "b/allow", &json!(true));
    drop(server);
    let server = start_with_store(&json!({"bundles": {"b": b}}), &store);
    assert_eq!(json_at(&server, "/v1/data/a"), json!({}));
    assert_eq!(json_at(&server, "/v1/data/b/allow")["result"], json!(true));
    drop(server);
    let server = start_with_store(&json!({}), &store);
    assert_eq!(json_at(&server, "/v1/data/b"), json!({}));
}

/// The status names the steps that were reached, and only active bundles are part of the provenance.
#[test]
fn failures_are_reported_with_the_times_of_their_steps() {
    const REQUEST: &str = "timer_bundle_request_ns";
    const LOAD: &str = "timer_rego_load_bundles_ns";
    const PARSE: &str = "timer_rego_module_parse_ns";
    const COMPILE: &str = "timer_rego_module_compile_ns";
    let service = Service::start();
    let config = json!({
        "services": {"s": {"url": service.url()}},
        "bundles": {"a": {"persist": true, "polling": polling()}},
        "persistence_directory": "store",
        "status": {"prometheus": true},
    });
    let server = start(&config, &[]);
    let check = |reply: Reply, message: Option<&str>, steps: &[&str]| {
        service.reply("/bundles/a", vec![reply]);
        let wanted = message.map_or(Value::Null, Value::from);
        wait_until(message.unwrap_or("the bundle is active"), || {
            let status = status(&server, "a");
            let metrics = status["metrics"].as_object();
            let names = metrics.map(|metrics| metrics.keys().map(String::as_str).collect());
            status["message"] == wanted && names == Some(steps.to_vec())
        });
    };
    let with = |name: &str, text: &str| {
        let mut files = files("a", "1");
        files.push((name.to_owned(), text.to_owned()));
        let files: Vec<_> = files
            .iter()
            .map(|(name, text)| (&**name, &**text))
            .collect();
        archive(&files)
    };
    let compiling = Some("error(s) occurred while compiling module(s)");
    let good = bundle("a", "1");
    // numbers that do not compress well, so that the end of the archive is within them
    let long: String = (0..2000_u32)
        .map(|number| format!("{:x}", number.wrapping_mul(0x9e37_79b9)))
        .collect();
    let mut truncated = with("a/z.txt", &long);
    truncated.truncate(truncated.len() / 2);
    let delta = [
        (".manifest", r#"{"roots": ["a"]}"#),
        (
            "patch.json",
            r#"{"data": [{"op": "upsert", "path": "/a/x", "value": 1}]}"#,
        ),
    ];
    check(
        Reply::status(404),
        Some("server replied with Not Found"),
        &[REQUEST],
    );
    let provenance = || json_at(&server, "/v1/data/a/allow?provenance")["provenance"].clone();
    assert_eq!(provenance().get("bundles"), None);
    check(
        Reply::archive(truncated),
        Some("bundle read failed: failed to copy file /a/z.txt: unexpected EOF"),
        &[REQUEST, LOAD],
    );
    check(
        Reply::archive(with("a/q.rego", "package")),
        compiling,
        &[REQUEST, LOAD, PARSE],
    );
    check(
        Reply::archive(with("a/q.rego", "package a.q\np := unknown")),
        compiling,
        &[REQUEST, LOAD, COMPILE, PARSE],
    );
    check(
        Reply::archive(archive(&delta)),
        Some(
            "'persist' property is true in config. persisting delta bundle to disk is not supported",
        ),
        &[REQUEST, LOAD, PARSE],
    );
    assert_eq!(provenance().get("bundles"), None);
    check(Reply::archive(good), None, &[REQUEST, LOAD, COMPILE, PARSE]);
    assert_eq!(provenance()["bundles"], json!({"a": {"revision": "1"}}));
}
