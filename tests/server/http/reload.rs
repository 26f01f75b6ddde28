//! Reload signals, and changes of the configuration at run time.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::client::{Client, Message, get};
use crate::process::{Folder, Server};
use crate::waiting::{wait_for, wait_until};

const RELOADED: &str = "Configuration reloaded.";

/// Writes the configuration of a server that watches it.
fn configure(server: &Server, text: &str) {
    std::fs::write(server.folder().join("c.yaml"), text).unwrap();
}

fn watching(files: &[(&str, &str)]) -> Server {
    Server::start_with(&["--watch-config", "-c", "c.yaml"], files)
}

/// Waits until `count` lines have a message.
fn logged<'s>(server: &'s mut Server, message: &str, count: usize) -> &'s [Value] {
    server.logged(message, count, |line| line["msg"] == message)
}

fn config(address: &str) -> Value {
    let shown: Value = serde_json::from_str(&get(address, "/v1/config").text()).unwrap();
    shown["result"].clone()
}

#[test]
fn a_hangup_without_anything_to_reload_changes_nothing() {
    let mut server = Server::start(&[("p.rego", "package p\n\nx := 1\n")]);
    let mut client = Client::connect(server.address());
    for count in 1..=3 {
        server.signal("HUP");
        let message = "Received SIGHUP, and there is nothing to reload: see --watch, --watch-config and --tls-cert-file.";
        logged(&mut server, message, count);
        let answer = client.send(&Message::new("GET", "/v1/data/p/x"));
        assert_eq!(answer.text(), "{\"result\":1}\n");
    }
    assert_eq!(server.terminate(), Some(0));
}

/// The signal arrives before the server has read its configuration: the configuration is a pipe that the test has not
/// written yet.
#[test]
fn a_hangup_during_the_start_does_not_end_the_server() {
    let folder = Folder::with(&[]);
    let pipe = folder.path().join("c.yaml");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["run", "--addr", "127.0.0.1:0", "-c"])
        .arg(&pipe)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // the server waits for the rest of the pipe once it can be opened
    let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    let id = child.id().to_string();
    let signal = |name: &str| {
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), id.clone()]);
        assert!(kill.status().unwrap().success());
    };
    signal("HUP");
    writer.write_all(b"labels: {a: b}\n").unwrap();
    drop(writer);
    let mut log = child.stderr.take().unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains("Server initialized.") {
        let read = log.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "the server has ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    signal("TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_hangup_loads_changed_files() {
    let mut server = Server::start_with(&["--watch"], &[("p.rego", "package p\n\nx := 1\n")]);
    for count in 1..=2 {
        server.signal("HUP");
        logged(&mut server, "Processed file watch event.", count);
    }
    assert_eq!(
        get(server.address(), "/v1/data/p/x").text(),
        "{\"result\":1}\n"
    );
}

#[test]
fn a_hangup_reads_a_changed_configuration() {
    let mut server = watching(&[("c.yaml", "labels: {a: b}\n")]);
    for count in 1..=2 {
        server.signal("HUP");
        logged(&mut server, RELOADED, count);
    }
    assert_eq!(config(server.address())["labels"]["a"], "b");
}

/// The file is emptied, and then written in parts, as by an editor that does not rename it.
#[test]
fn incomplete_configurations_are_not_used() {
    let message =
        "The configuration changed, and cannot be used; the server goes on with the one before.";
    let text = |label: &str| {
        format!(
            "labels: {{a: {label}}}\ndecision_logs: {{console: true}}\nstatus: {{prometheus: true}}\n"
        )
    };
    let mut server = watching(&[("c.yaml", &text("b"))]);
    let has_logs = |address: &str| {
        let shown: Value = serde_json::from_str(&get(address, "/v1/status").text()).unwrap();
        shown["result"]["plugins"]["decision_logs"].is_object()
    };
    for (count, empty) in ["", "\n", " \n\t\n"].into_iter().enumerate() {
        configure(&server, empty);
        logged(&mut server, message, count + 1);
        assert_eq!(config(server.address())["labels"]["a"], "b");
        assert!(has_logs(server.address()));
    }
    let whole = text("c");
    let path = server.folder().join("c.yaml");
    let mut file = std::fs::File::create(path).unwrap();
    for line in whole.split_inclusive('\n') {
        file.write_all(line.as_bytes()).unwrap();
        file.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    drop(file);
    logged(&mut server, RELOADED, 1);
    wait_until("the new label", || {
        config(server.address())["labels"]["a"] == "c"
    });
    assert!(has_logs(server.address()));
}

#[test]
fn a_decision_log_joins_and_leaves_the_plugins() {
    let with = "status: {prometheus: true}\ndecision_logs: {console: true}\n";
    let without = "status: {prometheus: true}\n";
    let mut server = watching(&[("c.yaml", without)]);
    let state = |address: &str| {
        let shown: Value = serde_json::from_str(&get(address, "/v1/status").text()).unwrap();
        shown["result"]["plugins"]["decision_logs"].clone()
    };
    assert_eq!(state(server.address()), Value::Null);
    for count in 1..=4 {
        let is_on = count % 2 == 1;
        configure(&server, if is_on { with } else { without });
        logged(&mut server, RELOADED, count);
        let want = if is_on {
            json!({"state": "OK"})
        } else {
            Value::Null
        };
        assert_eq!(state(server.address()), want);
        assert_eq!(get(server.address(), "/health?plugins").status, 200);
    }
}

/// Connections stay open, and a request that was sent before the change gets its response after it.
#[test]
fn requests_and_connections_outlive_a_change() {
    let policy = "package p\n\nstatus := http.send({\"method\": \"get\", \"url\": input, \"timeout\": \"10m\"}).status_code\n\nx := opa.runtime().config.labels.a\n";
    let files = [("p.rego", policy), ("c.yaml", "labels: {a: old}\n")];
    let flags = ["--watch-config", "-c", "c.yaml", "--timeout", "1h"];
    let mut server = Server::start_with(&flags, &files);
    let address = server.address().to_owned();
    let id = server.id();
    let mut kept = Client::connect(&address);
    let ask = Message::new("GET", "/v1/data/p/x");
    assert_eq!(kept.send(&ask).text(), "{\"result\":\"old\"}\n");
    // a request that waits, and an incomplete request
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", backend.local_addr().unwrap());
    let waiting = std::thread::spawn({
        let address = address.clone();
        let ask = Message::new("POST", "/v1/data/p/status").body(json!({"input": url}).to_string());
        move || Client::connect(&address).send(&ask).text()
    });
    backend.set_nonblocking(true).unwrap();
    let (mut asked, _) = wait_for("the policy sends its request", || backend.accept().ok());
    let mut half = TcpStream::connect(&address).unwrap();
    half.write_all(
        b"POST /v1/data/p/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{",
    )
    .unwrap();
    configure(&server, "labels: {a: new}\n");
    logged(&mut server, RELOADED, 1);
    assert_eq!(kept.send(&ask).text(), "{\"result\":\"new\"}\n");
    half.write_all(b"}").unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("{\"result\":\"new\"}\n"), "{answer}");
    asked.set_nonblocking(false).unwrap();
    assert_ne!(asked.read(&mut [0; 1024]).unwrap(), 0);
    asked.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert_eq!(waiting.join().unwrap(), "{\"result\":204}\n");
    assert_eq!(server.id(), id);
    let opened = server
        .log()
        .iter()
        .filter(|line| line["msg"] == "Server initialized.");
    assert_eq!(opened.count(), 1);
}

#[test]
fn every_key_that_may_change_takes_effect() {
    let policy = "package p\n\na := 1\n\nb := 2\n\nlong := concat(\"\", [x | some _ in numbers.range(1, 3000); x := \"a\"])\n";
    let first = "default_decision: /p/a\nserver: {decoding: {max_length: 20, gzip: {max_length: 30}}, encoding: {gzip: {min_length: 2000}}}\nservices: {s: {url: 'http://a'}}\nkeys: {k: {scope: r}}\n";
    let second = "default_decision: /p/b\nserver: {decoding: {max_length: 40, gzip: {max_length: 35}}, encoding: {gzip: {min_length: 5000}}}\nservices: {s: {url: 'http://b'}}\nkeys: {k: {scope: w}}\n";
    let mut server = watching(&[("p.rego", policy), ("c.yaml", first)]);
    let address = server.address().to_owned();
    let seen = || {
        let send = |message: &Message| Client::connect(&address).send(message);
        let decision = send(&Message::new("POST", "/")).text();
        let body = Message::new("POST", "/v1/data/p/a").body("{\"input\": \"aaaaaaaaaaaaaaa\"}");
        let large = send(&body).status;
        let ask = Message::new("GET", "/v1/data/p/long").header("Accept-Encoding", "gzip");
        let is_compressed = send(&ask).header("content-encoding").is_some();
        let config = config(&address);
        let shown = [
            &config["services"]["s"]["url"],
            &config["keys"]["k"]["scope"],
            &config["server"]["decoding"]["gzip"]["max_length"],
            &config["default_decision"],
        ];
        json!([decision, large, is_compressed, shown])
    };
    // decisions prepared for the first configuration are not used for the second
    for _ in 0..2 {
        assert_eq!(
            seen(),
            json!(["1\n", 400, true, ["http://a", "r", 30, "/p/a"]])
        );
    }
    configure(&server, second);
    logged(&mut server, RELOADED, 1);
    for _ in 0..2 {
        assert_eq!(
            seen(),
            json!(["2\n", 200, false, ["http://b", "w", 35, "/p/b"]])
        );
    }
    // removed settings return to their defaults
    configure(&server, "{}\n");
    logged(&mut server, RELOADED, 2);
    assert_eq!(seen()[1], 200);
    assert_eq!(seen()[3], json!([null, null, null, "/system/main"]));
}

/// A decision that was prepared under another configuration must not admit a request.
#[test]
fn the_authorization_decision_changes_at_once() {
    let policy = "package a\n\ndefault allow := true\n";
    let other = "package b\n\ndefault allow := false\n\nallow if input.path[0] == \"health\"\n";
    let text = |package: &str| format!("default_authorization_decision: /{package}/allow\n");
    let files = [
        ("a.rego", policy),
        ("b.rego", other),
        ("c.yaml", &text("a")),
    ];
    let flags = ["--watch-config", "-c", "c.yaml", "--authorization=basic"];
    let mut server = Server::start_with(&flags, &files);
    let address = server.address().to_owned();
    let mut kept = Client::connect(&address);
    let ask = Message::new("GET", "/v1/data");
    for (count, (package, status)) in [("b", 401), ("a", 200), ("b", 401), ("none", 500)]
        .into_iter()
        .enumerate()
    {
        configure(&server, &text(package));
        logged(&mut server, RELOADED, count + 1);
        for _ in 0..3 {
            assert_eq!(kept.send(&ask).status, status, "{package}");
        }
    }
}

#[test]
fn keys_that_need_a_restart_are_named_and_have_no_effect() {
    let first = "labels: {a: x}\ncaching: {inter_query_builtin_cache: {max_size_bytes: 1000}}\n";
    let second = "labels: {a: y}\ncaching: {inter_query_builtin_cache: {max_size_bytes: 2000}, inter_query_builtin_value_cache: {max_num_entries: 5}}\nserver: {ui: true, admission: {failure_response: error, gatekeeper: {paths: [none]}}, metrics: {prom: {http_request_duration_seconds: {buckets: [1]}}}, decoding: {max_length: 50}}\npersistence_directory: other\nstorage: {sqlite: {path: never.db}}\ncapabilities: none.json\n";
    let mut server = watching(&[("c.yaml", first)]);
    let address = server.address().to_owned();
    let message = "The change of this key takes effect after a restart.";
    let keys = [
        "caching.inter_query_builtin_cache.max_size_bytes",
        "caching.inter_query_builtin_value_cache.max_num_entries",
        "capabilities",
        "persistence_directory",
        "server.admission.failure_response",
        "server.admission.gatekeeper.paths",
        "server.metrics.prom.http_request_duration_seconds.buckets",
        "server.ui",
        "storage.sqlite.path",
    ];
    // the server keeps its initial settings, so each reload names the same keys
    for count in 1..=2 {
        if count == 1 {
            configure(&server, second);
        } else {
            server.signal("HUP");
        }
        let lines = logged(&mut server, RELOADED, count);
        let named = lines.iter().filter(|line| line["msg"] == message);
        let named: Vec<&str> = named.map(|line| line["key"].as_str().unwrap()).collect();
        assert_eq!(named, keys.repeat(count));
    }
    let config = config(&address);
    assert_eq!(config["labels"]["a"], "y");
    assert_eq!(
        config["caching"],
        json!({"inter_query_builtin_cache": {"max_size_bytes": 1000}})
    );
    assert_eq!(config["server"], json!({"decoding": {"max_length": 50}}));
    for section in ["persistence_directory", "storage", "capabilities"] {
        assert_eq!(config[section], Value::Null, "{section}");
    }
    assert_eq!(get(&address, "/ui").status, 404);
    assert_eq!(get(&address, "/v1/status").status, 500);
    assert!(!server.folder().join("never.db").exists());
    // back to the first: no keys are named
    configure(&server, first);
    let lines = logged(&mut server, RELOADED, 3);
    let named = lines.iter().filter(|line| line["msg"] == message);
    assert_eq!(named.count(), 2 * keys.len());
}

#[test]
fn an_invalid_configuration_changes_nothing() {
    let mut server = watching(&[("c.yaml", "labels: {a: x}\n")]);
    let address = server.address().to_owned();
    let message =
        "The configuration changed, and cannot be used; the server goes on with the one before.";
    for (count, (text, error)) in [
        ("labels: {a: y\n", "yaml"),
        ("labels: {a: y, b: 5}\n", "labels.b: expected a string"),
        (
            "labels: {a: y}\ndefault_decision: 1\n",
            "default_decision: expected a string",
        ),
        (
            "labels: {a: y}\nbundles: {b: {service: s}}\n",
            "invalid configuration for bundle \"b\"",
        ),
        (
            "labels: {a: y}\nserver: {encoding: {gzip: {compression_level: 5}}}\n",
            "compression_level",
        ),
        (
            "labels: {a: y}\ncaching: {inter_query_builtin_cache: {max_size_bytes: -1}}\n",
            "invalid max_size_bytes -1",
        ),
        ("[]\n", "expected an object"),
    ]
    .into_iter()
    .enumerate()
    {
        configure(&server, text);
        let lines = logged(&mut server, message, count + 1);
        let line = lines
            .iter()
            .rev()
            .find(|line| line["msg"] == message)
            .unwrap();
        assert!(
            line["err"].as_str().unwrap().contains(error),
            "{text}: {line}"
        );
        assert_eq!(config(&address)["labels"]["a"], "x", "{text}");
    }
    std::fs::remove_file(server.folder().join("c.yaml")).unwrap();
    logged(&mut server, message, 8);
    assert_eq!(config(&address)["labels"]["a"], "x");
    configure(&server, "labels: {a: z}\n");
    wait_until("the configuration is in force", || {
        config(&address)["labels"]["a"] == "z"
    });
}

/// Flags still take precedence after a change, and the name of the server does not change.
#[test]
fn flags_and_the_name_of_the_server_stay() {
    let policy = "package p\n\na := 1\n";
    let files = [("p.rego", policy), ("c.yaml", "default_decision: /p/b\n")];
    let flags = [
        "--watch-config",
        "-c",
        "c.yaml",
        "--default-decision",
        "/p/a",
        "--set",
        "labels.a=set",
        "--max-body",
        "100",
    ];
    let mut server = Server::start_with(&flags, &files);
    let address = server.address().to_owned();
    let id = config(&address)["labels"]["id"].clone();
    assert!(id.is_string());
    configure(
        &server,
        "default_decision: /p/c\nlabels: {a: file, b: file}\nserver: {decoding: {max_length: 10}}\n",
    );
    logged(&mut server, RELOADED, 1);
    let answer = Client::connect(&address)
        .send(&Message::new("POST", "/").body("{\"input\": \"aaaaaaaaa\"}"));
    assert_eq!(answer.text(), "1\n");
    let labels = &config(&address)["labels"];
    assert_eq!(
        (&labels["a"], &labels["b"], &labels["id"]),
        (&json!("set"), &json!("file"), &id)
    );
}
