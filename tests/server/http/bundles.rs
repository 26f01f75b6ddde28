//! Bundles of `solon run --bundle`, and bundles that a plugin activates.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde_json::{Value as Json, json};
use solon::Engine;
use solon::bundle::{Bundle, BundleFile, BundleReader};
use solon_server::{BundleStatus, Server as Builder, ServerOptions, StatusOptions};

use crate::client::{Client, Message, get};
use crate::inside::Inside;
use crate::plugins::ScriptedPlugin;
use crate::process::{Folder, Server};
use crate::waiting::wait_until;

// files with `.pem` in their names are not passed as paths
const MANIFEST: (&str, &str) = (
    "b.pem/.manifest",
    r#"{"revision": "7", "roots": ["a", "p"], "metadata": {"k": 1}}"#,
);
const DOCUMENT: (&str, &str) = ("b.pem/a/data.json", r#"{"x": 1}"#);
const POLICY: (&str, &str) = ("b.pem/p.rego", "package p\n\nx := data.a.x\n");

fn send(address: &str, method: &str, target: &str, body: &str) -> (u16, String) {
    let message = Message::new(method, target).body(body.to_owned());
    let answer = Client::connect(address).send(&message);
    (answer.status, answer.text())
}

fn read(address: &str, target: &str) -> Json {
    serde_json::from_str(&get(address, target).text()).unwrap()
}

/// S-018, S-066, S-067, S-068, S-165, S-204. The responses are OPA's, except for operations that only Solon supports.
#[test]
fn what_bundles_own_is_not_written() {
    let server = Server::start_with(&["-b", "b.pem"], &[MANIFEST, DOCUMENT, POLICY]);
    let address = server.address();
    let facts = json!({
        "etag": "",
        "manifest": {"revision": "7", "roots": ["a", "p"], "metadata": {"k": 1}},
    });
    assert_eq!(
        read(address, "/v1/data/system/bundles")["result"],
        json!({"b.pem": facts})
    );
    assert_eq!(
        read(address, "/v1/data/system/bundles/b.pem/manifest/revision")["result"],
        "7"
    );
    let answer = read(address, "/v1/data/p/x?provenance=true");
    let provenance = &answer["provenance"];
    assert_eq!(
        provenance["bundles"],
        json!({"b.pem": {"revision": "7"}}),
        "{answer}"
    );
    assert!(provenance.get("revision").is_none());
    assert_eq!(
        read(address, "/v1/policies")["result"][0]["id"],
        "b.pem/p.rego"
    );
    let patch = |operation: &str, path: &str| {
        format!(r#"[{{"op": "{operation}", "path": "{path}", "value": 1}}]"#)
    };
    let two = r#"[{"op": "add", "path": "/c", "value": 1}, {"op": "remove", "path": "/a/x"}]"#;
    let moved = r#"[{"op": "move", "from": "/a/x", "path": "/c/y"}]"#;
    let copied = r#"[{"op": "copy", "from": "/c", "path": "/a/y"}]"#;
    for (method, target, body, owned) in [
        ("PUT", "/v1/data/a", "1", "a"),
        ("PUT", "/v1/data/a/x", "1", "a/x"),
        ("PUT", "/v1/data/a/new/deep", "1", "a/new/deep"),
        ("PUT", "/v1/data/p/y", "1", "p/y"),
        ("PATCH", "/v1/data/a", &*patch("add", "/y"), "a/y"),
        ("PATCH", "/v1/data", &*patch("add", "/a/y"), "a/y"),
        ("PATCH", "/v1/data", &*patch("replace", "/a/x"), "a/x"),
        ("PATCH", "/v1/data", &*patch("remove", "/a/x"), "a/x"),
        ("PATCH", "/v1/data", two, "a/x"),
        ("PATCH", "/v1/data", moved, "a/x"),
        ("PATCH", "/v1/data", copied, "a/y"),
        ("DELETE", "/v1/data/a/x", "", "a/x"),
        ("DELETE", "/v1/data/a/nothing", "", "a/nothing"),
        ("PUT", "/v1/policies/new", "package p", "p"),
        ("PUT", "/v1/policies/new", "package p.q", "p/q"),
        // the owner is reported before errors of the compiler
        ("PUT", "/v1/policies/new", "package p.q\n\nx := y", "p/q"),
        ("PUT", "/v1/policies/b.pem/p.rego", "package p", "p"),
        ("PUT", "/v1/policies/b.pem/p.rego", "package elsewhere", "p"),
        ("DELETE", "/v1/policies/b.pem/p.rego", "", "p"),
    ] {
        let (status, text) = send(address, method, target, body);
        let error: Json = serde_json::from_str(&text).unwrap();
        let message = format!("path {owned} is owned by bundle \"b.pem\"");
        assert_eq!(
            (status, &error),
            (
                400,
                &json!({"code": "invalid_parameter", "message": message})
            ),
            "{method} {target} {body}"
        );
    }
    assert_eq!(
        read(address, "/v1/data")["result"],
        json!({"a": {"x": 1}, "p": {"x": 1}})
    );
    let (status, text) = send(address, "PUT", "/v1/data", "{}");
    let whole = "can't write to document root with bundle roots configured";
    assert!(status == 400 && text.contains(whole), "{text}");
    let (status, text) = send(address, "PUT", "/v1/policies/new", "package p.q\n\nx := {");
    assert!(status == 400 && text.contains("lang_parse_error"), "{text}");
    for (method, target, body, want) in [
        ("PUT", "/v1/data/c", "{}", 204),
        ("PATCH", "/v1/data/c", &*patch("add", "/y"), 204),
        ("DELETE", "/v1/data/c", "", 204),
        ("DELETE", "/v1/data/c", "", 404),
        ("PUT", "/v1/policies/new", "package q\n\nx := data.p.x", 200),
        ("DELETE", "/v1/policies/new", "", 200),
    ] {
        let (status, text) = send(address, method, target, body);
        assert_eq!(status, want, "{method} {target}: {text}");
    }
}

#[test]
fn a_bundle_without_roots_owns_everything() {
    let server = Server::start_with(&["-b", "b.pem"], &[DOCUMENT, POLICY]);
    let address = server.address();
    assert_eq!(
        read(address, "/v1/data/system/bundles/b.pem/manifest")["result"],
        json!({"revision": "", "roots": [""]})
    );
    for (method, target, body) in [
        ("PUT", "/v1/data/c", "{}"),
        (
            "PATCH",
            "/v1/data/c",
            r#"[{"op": "add", "path": "/y", "value": 1}]"#,
        ),
        ("DELETE", "/v1/data/a", ""),
        ("PUT", "/v1/policies/new", "package q"),
        ("DELETE", "/v1/policies/b.pem/p.rego", ""),
    ] {
        let (status, text) = send(address, method, target, body);
        let all = r#"all paths owned by bundle \"b.pem\""#;
        assert!(
            status == 400 && text.contains(all),
            "{method} {target}: {text}"
        );
    }
}

#[test]
fn facts_of_bundles_that_are_gone_leave_the_store() {
    let store = Folder::with(&[]);
    let path = store.path().to_str().unwrap();
    let files = [MANIFEST, DOCUMENT, POLICY];
    let mut server = Server::start_with(&["-d", path, "-b", "b.pem"], &files);
    assert_eq!(send(server.address(), "PUT", "/v1/data/a/x", "2").0, 400);
    server.terminate();
    let mut server = Server::start_with(&["-d", path, "-b", "b.pem"], &files);
    assert_eq!(send(server.address(), "PUT", "/v1/data/a/x", "2").0, 400);
    server.terminate();
    let server = Server::start_with(&["-d", path], &[("q.rego", "package q")]);
    let system = read(server.address(), "/v1/data/system");
    assert!(system["result"].get("bundles").is_none(), "{system}");
    assert!(read(server.address(), "/v1/data/a").get("result").is_none());
    assert_eq!(send(server.address(), "PUT", "/v1/data/a/x", "2").0, 204);
}

#[test]
fn signatures_are_verified_at_the_start() {
    let server = |flags: &[&str], signatures: &str| {
        let files = [
            MANIFEST,
            DOCUMENT,
            POLICY,
            ("b.pem/.signatures.json", signatures),
        ];
        let folder = Folder::with(&files);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_solon"))
            .args(["run", "--addr", "127.0.0.1:0", "-b", "b.pem"])
            .args(flags)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let key = ["--verification-key", "secret", "--signing-alg", "HS256"];
    let refused = server(&key, "{}");
    assert_eq!(
        refused,
        "error: load error: bundle b.pem: bundle missing .signatures.json file\n"
    );
    let token = signed("secret", &[MANIFEST, DOCUMENT, POLICY]);
    assert_eq!(
        server(
            &["--verification-key", "other", "--signing-alg", "HS256"],
            &token
        ),
        "error: load error: bundle b.pem: failed to verify JWT signature: invalid HMAC signature\n"
    );
    let files = [
        MANIFEST,
        DOCUMENT,
        POLICY,
        ("b.pem/.signatures.json", &token),
    ];
    let running = Server::start_with(&[&key[..], &["-b", "b.pem"]].concat(), &files);
    assert_eq!(read(running.address(), "/v1/data/p/x")["result"], 1);
}

/// Returns the text of `.signatures.json` for files of a folder.
fn signed(secret: &str, files: &[(&str, &str)]) -> String {
    let key = solon::bundle::SigningKey::new("HS256", secret);
    let file = |(path, text): &(&str, &str)| BundleFile {
        path: (*path).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files: Vec<_> = files.iter().map(file).collect();
    String::from_utf8(Bundle::sign(&files, &key).unwrap()).unwrap()
}

/// Writes a version of a bundle, and points the link `..data` to it, as mounted volumes of Kubernetes are updated.
fn publish(folder: &Path, revision: u32) {
    let version = format!("..v{revision}");
    let target = folder.join(&version);
    std::fs::create_dir_all(&target).unwrap();
    let manifest = format!(r#"{{"revision": "{revision}", "roots": ["app"]}}"#);
    std::fs::write(target.join(".manifest"), manifest).unwrap();
    let policy =
        format!("package app\n\ncode := {revision}\n\nanswer := [code, data.app.number]\n");
    std::fs::write(target.join("p.rego"), policy).unwrap();
    let document = format!(r#"{{"app": {{"number": {revision}}}}}"#);
    std::fs::write(target.join("data.json"), document).unwrap();
    let new = folder.join("..data_tmp");
    symlink(&version, &new).unwrap();
    std::fs::rename(&new, folder.join("..data")).unwrap();
}

#[test]
fn mounted_volumes_are_bundles_that_are_polled() {
    let server = Server::start_with(&["--watch", "-b", "m.pem"], &[("m.pem/.keep", "")]);
    let folder = server.folder().join("m.pem");
    publish(&folder, 1);
    for name in [".manifest", "p.rego", "data.json"] {
        symlink(format!("..data/{name}"), folder.join(name)).unwrap();
    }
    for revision in 1..=4 {
        if revision > 1 {
            publish(&folder, revision);
            std::fs::remove_dir_all(folder.join(format!("..v{}", revision - 1))).unwrap();
        }
        let want = json!([
            [revision, revision],
            {"m.pem": {"revision": revision.to_string()}},
        ]);
        wait_until("the new version is active", || {
            let answer = read(server.address(), "/v1/data/app/answer?provenance=true");
            json!([answer["result"], answer["provenance"]["bundles"]]) == want
        });
        let policies = read(server.address(), "/v1/policies");
        assert_eq!(policies["result"].as_array().unwrap().len(), 1);
    }
    // a change of the bundle that does not compile has no effect
    std::fs::write(folder.join("..v4/p.rego"), "package app\n\ncode := x\n").unwrap();
    publish_again(&folder);
    let answer = read(server.address(), "/v1/data/app/answer?provenance=true");
    assert_eq!(answer["result"], json!([4, 4]));
}

/// Points the link to the same version again, so that the change is noticed.
fn publish_again(folder: &Path) {
    let new = folder.join("..data_tmp");
    symlink("..v4", &new).unwrap();
    std::fs::rename(&new, folder.join("..data")).unwrap();
}

/// Creates a bundle whose policy and documents belong to one revision.
fn revision(number: u32) -> Bundle {
    let file = |path: &str, text: String| BundleFile {
        path: path.to_owned(),
        bytes: text.into_bytes(),
    };
    let files = vec![
        file(
            "/p.rego",
            format!("package app\n\nanswer := [{number}, data.app.number]\n"),
        ),
        file("/app/data.json", format!(r#"{{"number": {number}}}"#)),
        file(
            "/.manifest",
            format!(r#"{{"revision": "{number}", "roots": ["app"]}}"#),
        ),
    ];
    BundleReader::new("app").read_files(files).unwrap()
}

#[test]
fn answers_and_their_provenance_belong_to_one_revision() {
    let engine = Engine::new();
    engine.activate_bundle("app", &revision(0)).unwrap();
    let server = Inside::start(Builder::builder().engine(engine.clone()));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::connect(server.address());
                    let mut seen = std::collections::BTreeSet::new();
                    let mut last = false;
                    while !last {
                        last = is_over.load(Ordering::Relaxed);
                        let target = "/v1/data/app/answer?provenance=true";
                        let text = client.send(&Message::new("GET", target)).text();
                        let answer: Json = serde_json::from_str(&text).unwrap();
                        let number = answer["result"][0].as_u64().unwrap();
                        let named = &answer["provenance"]["bundles"]["app"]["revision"];
                        assert_eq!(answer["result"][1], number, "{text}");
                        assert_eq!(*named, number.to_string(), "{text}");
                        seen.insert(number);
                    }
                    seen
                })
            })
            .collect();
        for number in 1..=200 {
            engine.activate_bundle("app", &revision(number)).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            let seen = reader.join().unwrap();
            assert!(seen.contains(&200), "{seen:?}");
        }
    });
}

/// S-065 to S-068, S-075 to S-079, S-132, S-133, S-312, S-313, S-318, S-413
#[test]
fn bundles_that_a_plugin_activates_are_reported() {
    let engine = Engine::new();
    let options = ServerOptions {
        status: Some(StatusOptions::default()),
        ..ServerOptions::default()
    };
    let builder = Builder::builder().engine(engine.clone()).options(options);
    let (builder, plugin) = ScriptedPlugin::add(builder, "bundle");
    let server = Inside::start(builder);
    let address = server.address();
    plugin.send_to(|plugin| plugin.report_bundle(BundleStatus::new("app")));
    let (status, text) = send(address, "GET", "/health?bundles", "");
    let waits = "not all configured bundles have been activated";
    assert!(status == 500 && text.contains(waits), "{text}");
    let bundle = revision(7);
    let active = BundleStatus {
        active_revision: Some(bundle.manifest.revision.clone()),
        last_successful_activation: Some(SystemTime::now()),
        ..BundleStatus::new("app")
    };
    engine.activate_bundle("app", &bundle).unwrap();
    let reported = active.clone();
    plugin.send_to(move |plugin| plugin.report_bundle(reported));
    assert_eq!(send(address, "GET", "/health?bundles", "").0, 200);
    let status_json = &read(address, "/v1/status")["result"]["bundles"]["app"];
    assert_eq!(
        (&status_json["name"], &status_json["active_revision"]),
        (&json!("app"), &json!("7"))
    );
    for time in [
        "last_successful_activation",
        "last_successful_download",
        "last_successful_request",
        "last_request",
    ] {
        assert!(status_json[time].is_string(), "{status_json}");
    }
    let answer = read(address, "/v1/data/app/answer?provenance=true");
    assert_eq!(answer["result"], json!([7, 7]));
    assert_eq!(
        answer["provenance"]["bundles"],
        json!({"app": {"revision": "7"}})
    );
    // a later bundle that cannot be activated changes neither decisions nor health
    let broken = BundleReader::new("app").read_files(vec![
        BundleFile {
            path: "/p.rego".to_owned(),
            bytes: b"package app\n\nanswer := x\n".to_vec(),
        },
        BundleFile {
            path: "/.manifest".to_owned(),
            bytes: br#"{"revision": "8", "roots": ["app"]}"#.to_vec(),
        },
    ]);
    assert!(engine.activate_bundle("app", &broken.unwrap()).is_err());
    plugin.send_to(move |plugin| {
        plugin.report_bundle(BundleStatus {
            code: Some("bundle_error".to_owned()),
            message: Some("1 error occurred".to_owned()),
            ..active
        });
    });
    assert_eq!(send(address, "GET", "/health?bundles", "").0, 200);
    let answer = read(address, "/v1/data/app/answer?provenance=true");
    assert_eq!(
        (
            &answer["result"],
            &answer["provenance"]["bundles"]["app"]["revision"]
        ),
        (&json!([7, 7]), &json!("7"))
    );
}
