//! `solon control`: the control plane's API over HTTP, and its commands.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Folder;
use crate::waiting::wait_for;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command.arg("control").args(arguments).current_dir(folder);
    command.env_remove("SOLON_SECRETS_KEY");
    command
}

pub fn output(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(folder, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_stop_reports_unready_before_the_listeners_close() {
    let folder = Folder::with(&[]);
    let (_, key, _) = output(folder.path(), &["token", "create", "--role", "viewer", "v"]);
    let mut running = Running::start(folder.path(), &["--shutdown-wait-period", "5m"]);
    let health = || {
        let mut client = Client::connect(&running.address);
        client.send(&Message::new("GET", "/health")).status
    };
    assert_eq!(health(), 200);
    let pid = running.child.id().to_string();
    let signal = || {
        let mut kill = Command::new("kill");
        assert!(kill.args(["-TERM", &pid]).status().unwrap().success());
    };
    signal();
    wait_for("/health is unready", || (health() == 500).then_some(()));
    // requests are served in the meantime
    let mut client = Client::connect(&running.address);
    let bearer = format!("Bearer {}", key.trim());
    let list = Message::new("GET", "/v1/bundles").header("Authorization", &bearer);
    assert_eq!(client.send(&list).status, 200);
    // a second signal does not wait
    signal();
    assert!(running.child.wait().unwrap().success());
    assert!(TcpStream::connect(&running.address).is_err());
}

#[test]
fn checks_and_the_audit_have_commands() {
    let folder = Folder::with(&[]);
    let (code, _, text) = output(folder.path(), &["check"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("no database exists at"), "{text}");
    output(folder.path(), &["token", "create", "--role", "viewer", "v"]);
    assert_eq!(
        output(folder.path(), &["check"]),
        (Some(0), String::new(), String::new())
    );
    let source = r#"{"sources": {"s": {"datasources": [{"name": "d", "path": "d", "type": "http", "config": {"url": "https://h.example.com", "headers": {"Cookie": "canary"}}}]}}}"#;
    std::fs::write(folder.path().join("c.json"), source).unwrap();
    let running = Running::start(folder.path(), &["--config", "c.json"]);
    assert!(
        !running
            .lines("a credential is stored in plain text", 1)
            .is_empty()
    );
    assert!(
        !running
            .lines("entries of the audit are kept for ever", 1)
            .is_empty()
    );
    drop(running);
    let (code, found, text) = output(folder.path(), &["check"]);
    assert_eq!((code, &*text), (Some(1), "error: 1 findings\n"));
    assert!(
        found.starts_with("source \"s\": datasources[0].config.headers.Cookie holds"),
        "{found}"
    );
    let (code, exported, _) = output(folder.path(), &["audit", "export"]);
    assert_eq!((code, exported.lines().count()), (Some(0), 2), "{exported}");
    assert!(
        exported.contains("REDACTED") && !exported.contains("canary"),
        "{exported}"
    );
    let (_, pruned, _) = output(folder.path(), &["audit", "prune", "--older-than", "1d"]);
    assert_eq!(pruned, "0 entries were removed\n");
    let (code, _, text) = output(folder.path(), &["audit", "prune", "--older-than", "1m"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("at least `1h`"), "{text}");
    let running = Running::start(folder.path(), &["--audit-retention", "90d"]);
    assert_eq!(
        running.lines("entries of the audit are removed when they are older", 1)[0]["hours"],
        2160
    );
}

/// A running control plane.
pub struct Running {
    child: Child,
    address: String,
    /// Lines of its log.
    log: Arc<Mutex<Vec<String>>>,
}

impl Running {
    pub fn start(folder: &Path, flags: &[&str]) -> Self {
        let mut command = command(folder, &["run", "--addr", "127.0.0.1:0"]);
        let mut child = command.args(flags).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // the process must not block on a reader of its log
        let log = Arc::<Mutex<Vec<String>>>::default();
        let address = loop {
            let text = lines.next().unwrap().unwrap();
            let line: Value = serde_json::from_str(&text).unwrap();
            if line["msg"] == "Control plane initialized." {
                break line["addrs"].as_str().unwrap().to_owned();
            }
            log.lock().unwrap().push(text);
        };
        let written = log.clone();
        std::thread::spawn(move || {
            let lines = lines.map_while(Result::ok);
            lines.for_each(|line| written.lock().unwrap().push(line));
        });
        Self {
            child,
            address,
            log,
        }
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the lines of the log that contain `text`, once there are `count`.
    fn lines(&self, text: &str, count: usize) -> Vec<Value> {
        wait_for(text, || {
            let log = self.log.lock().unwrap();
            let found: Vec<&String> = log.iter().filter(|line| line.contains(text)).collect();
            let read = |line: &&String| serde_json::from_str(line).unwrap();
            (found.len() >= count).then(|| found.iter().map(read).collect())
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_control_plane_answers_whom_it_gave_a_key() {
    let folder = Folder::with(&[]);
    let (code, key, _) = output(
        folder.path(),
        &["token", "create", "--role", "administrator", "root"],
    );
    assert_eq!(code, Some(0));
    let (code, _, text) = output(
        folder.path(),
        &["token", "create", "--role", "viewer", "root"],
    );
    assert_eq!((code, &*text), (Some(1), "error: token \"root\" exists\n"));
    let running = Running::start(folder.path(), &[]);
    let mut client = Client::connect(&running.address);
    let bearer = format!("Bearer {}", key.trim());
    let bundle = r#"{"object_storage": {"filesystem": {"path": "b.tar.gz"}}}"#;
    let with_key = |method: &str, target: &str, body: &str| {
        let message = Message::new(method, target).header("Authorization", &bearer);
        message.body(body.to_owned())
    };
    let put = client.send(&with_key("PUT", "/v1/bundles/hello", bundle));
    assert_eq!((put.status, &*put.text()), (200, "{}\n"));
    let got = client.send(&with_key("GET", "/v1/bundles/hello", ""));
    let length = got.text().len().to_string();
    let got: Value = serde_json::from_str(&got.text()).unwrap();
    assert_eq!(got["result"]["name"], json!("hello"));
    // the length is that of the response to `GET`
    let head = client.send(&with_key("HEAD", "/v1/bundles/hello", ""));
    assert_eq!((head.status, &*head.text()), (200, ""));
    assert_eq!(head.header("content-length"), Some(&*length));
    assert_eq!(
        client
            .send(&Message::new("GET", "/v1/bundles/hello"))
            .status,
        401
    );
    assert_eq!(client.send(&Message::new("GET", "/health")).status, 200);
    // requests that never reach the API get errors in its format
    let mut stream = TcpStream::connect(&running.address).unwrap();
    let head = format!(
        "PUT /v1/bundles/x HTTP/1.1\r\nHost: a\r\nAuthorization: {bearer}\r\nContent-Length: 999999999999\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = String::new();
    let mut answer = BufReader::new(stream);
    answer.read_line(&mut status).unwrap();
    assert_eq!(status, "HTTP/1.1 413 Payload Too Large\r\n");
    let mut rest = String::new();
    answer.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"code\":\"too_large\""), "{rest}");
    drop(running);

    let (_, listed, _) = output(folder.path(), &["token", "list"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["name"], &listed["role"]),
        (&json!("root"), &json!("administrator"))
    );
    assert!(listed["last_used_at"].is_string() && listed.get("key").is_none());
    assert_eq!(
        output(folder.path(), &["token", "revoke", "root"]).0,
        Some(0)
    );
    let running = Running::start(folder.path(), &["--api-prefix", "/ocp"]);
    let mut client = Client::connect(&running.address);
    let revoked = client.send(&with_key("GET", "/ocp/v1/bundles/hello", ""));
    assert_eq!(revoked.status, 401);
    drop(running);

    let (code, text, _) = output(folder.path(), &["secrets", "rotate"]);
    assert_eq!((code, &*text), (Some(0), "0 secrets were encrypted anew\n"));
    let (code, text, _) = output(folder.path(), &["db", "migrate", "--dry-run"]);
    assert_eq!((code, &*text), (Some(0), ""), "the tables are the latest");
}

/// Each request has a log line, regardless of its client and result. Lines of a write share one request id. No line
/// contains a body.
#[test]
fn requests_are_logged() {
    let folder = Folder::with(&[]);
    let create = ["token", "create", "--role", "administrator", "root"];
    let (_, key, _) = output(folder.path(), &create);
    let running = Running::start(folder.path(), &["--log-level", "debug"]);
    let mut client = Client::connect(&running.address);
    let bearer = format!("Bearer {}", key.trim());
    let secret = r#"{"type": "token_auth", "token": "canary"}"#;
    let put = Message::new("PUT", "/v1/secrets/s?pretty")
        .header("Authorization", &bearer)
        .header("X-Request-Id", &"n".repeat(100));
    let put = client.send(&put.body(secret.to_owned()));
    assert_eq!(put.status, 200);
    assert_eq!(client.send(&Message::new("GET", "/v1/secrets")).status, 401);
    let made = Message::new("POST", "/v1/tokens").header("Authorization", &bearer);
    let made = client.send(&made.body(r#"{"name": "x", "role": "viewer"}"#.to_owned()));
    let made: Value = serde_json::from_str(&made.text()).unwrap();

    let lines = running.lines("Sent response.", 3);
    let told = |line: &Value| {
        let (method, path) = (&line["req_method"], &line["req_path"]);
        let (method, path) = (method.as_str().unwrap(), path.as_str().unwrap());
        format!("{method} {path} {}", line["resp_status"])
    };
    let told: Vec<String> = lines.iter().map(told).collect();
    assert_eq!(
        told,
        [
            "PUT /v1/secrets/s 200",
            "GET /v1/secrets 401",
            "POST /v1/tokens 200"
        ]
    );
    for line in &lines {
        let address = line["client_addr"].as_str().unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
    }
    let written = running.lines("\"written\"", 2);
    assert_eq!(written[0]["request"], "n".repeat(64));
    for (written, sent) in written.iter().zip([&lines[0], &lines[2]]) {
        assert_eq!(written["request"], sent["request"]);
    }
    let log = running.log.lock().unwrap().concat();
    for hidden in [
        "canary",
        key.trim(),
        made["result"]["key"].as_str().unwrap(),
    ] {
        assert!(!log.contains(hidden), "{log}");
    }
    drop(running);

    let running = Running::start(folder.path(), &["--log-level", "info"]);
    let mut client = Client::connect(&running.address);
    assert_eq!(client.send(&Message::new("GET", "/health")).status, 200);
    assert_eq!(running.lines("Sent response.", 1)[0]["req_path"], "/health");
}

#[test]
fn configurations_are_checked_before_anything_starts() {
    let good =
        "bundles:\n  hello:\n    object_storage:\n      filesystem:\n        path: b.tar.gz\n";
    let files = [
        ("good.yaml", good),
        ("bad.yaml", "bundles:\n  hello:\n    object_store: {}\n"),
    ];
    let folder = Folder::with(&files);
    let validate = |file: &str| output(folder.path(), &["run", "--validate", "--config", file]);
    assert_eq!(
        validate("good.yaml"),
        (Some(0), String::new(), String::new())
    );
    let (code, _, text) = validate("bad.yaml");
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("error: ") && text.contains("object_store"),
        "{text}"
    );
    assert_eq!(validate("none.yaml").0, Some(1));
    // one argument may contain several values, and the levels are those of OPA Control Plane
    let flags = ["run", "--validate", "--log-level", "warn", "-c"];
    let validate = |files: &str| output(folder.path(), &[&flags[..], &[files]].concat()).0;
    assert_eq!(validate("good.yaml,good.yaml"), Some(0));
    assert_eq!(validate("good.yaml,bad.yaml"), Some(1));
}
