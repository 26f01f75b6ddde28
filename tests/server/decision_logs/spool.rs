//! Servers that are killed while they log decisions.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::{Folder, Server};
use crate::sink::Sink;
use crate::upload::{POLICY, config, decide, ids, start};
use crate::waiting::{Waiting, wait_until};

/// Kills a server at different times while clients make decisions. Each decision whose response was received arrives at
/// least once, and repeated events are equal.
#[test]
fn no_answered_decision_is_lost_when_the_server_is_killed() {
    let sink = Sink::start();
    let spool = json!({"spool": {"directory": "spool", "segment_bytes": 20_000}});
    let folder = Folder::with(&[("p.rego", POLICY), ("c.yaml", &config(&sink, &spool))]);
    let answered = Mutex::new(BTreeSet::new());
    for turn in 0..20_u64 {
        // some uploads fail, so that the spool is not empty
        if turn % 3 == 0 {
            sink.respond(&[500, 503]);
        }
        let (mut child, address) = server(&folder);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (answered, address) = (&answered, &address);
                scope.spawn(move || requests(address, thread, answered));
            }
            std::thread::sleep(Duration::from_millis(20 + turn * 37 % 200));
            child.kill().unwrap();
        });
        child.wait().unwrap();
    }
    let answered = answered.into_inner().unwrap();
    assert!(answered.len() > 100, "only {} decisions", answered.len());
    let (mut child, _) = server(&folder);
    wait_until("all answered decisions arrive", || {
        ids(&sink.events()).is_superset(&answered)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let mut events: Vec<(String, String)> = sink
        .events()
        .iter()
        .map(|event| (event["decision_id"].to_string(), event.to_string()))
        .collect();
    events.sort();
    events.dedup();
    let distinct: BTreeSet<&String> = events.iter().map(|(id, _)| id).collect();
    assert_eq!(distinct.len(), events.len(), "repeated events differ");
}

/// Starts a server in a folder that outlives it.
fn server(folder: &Folder) -> (Child, String) {
    let address = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().to_string()
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args([
            "run",
            "--log-level",
            "error",
            "--addr",
            &address,
            "-c",
            "c.yaml",
            "p.rego",
        ])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let waiting = Waiting::until("the server starts");
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(child.try_wait().unwrap().is_none(), "the server ended");
        waiting.pause();
    }
    (child, address)
}

/// Makes decisions until the server is gone.
fn requests(address: &str, thread: usize, answered: &Mutex<BTreeSet<String>>) {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let Ok(stream) = std::net::TcpStream::connect(address) else {
        return;
    };
    let mut stream = BufReader::new(stream);
    for number in 0.. {
        let body = json!({"input": {"x": [thread, number]}}).to_string();
        let request = format!(
            "POST /v1/data/p/allow HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.get_mut().write_all(request.as_bytes()).is_err() {
            return;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let id = answer["decision_id"].as_str().unwrap().to_owned();
        answered.lock().unwrap().insert(id);
    }
}

#[test]
fn a_full_spool_rejects_requests_if_the_configuration_demands_it() {
    for (when_full, status) in [("reject", 500), ("drop", 200)] {
        let sink = Sink::start();
        sink.respond(&[500; 1000]);
        let spool = json!({"spool": {"directory": "spool", "max_bytes": 5000, "when_full": when_full, "fsync": "always"}});
        let server = start(&config(&sink, &spool));
        let mut client = Client::connect(server.address());
        let mut sent = BTreeSet::new();
        let answer = loop {
            let message = Message::new("POST", "/v1/data/p/allow").body(r#"{"input":{"x":1}}"#);
            let answer = client.send(&message);
            let id = serde_json::from_str::<Value>(&answer.text()).unwrap()["decision_id"].clone();
            if sent.len() > 100 || answer.status != 200 {
                break answer;
            }
            sent.insert(id.as_str().unwrap().to_owned());
        };
        assert_eq!(answer.status, status);
        if status == 500 {
            assert!(answer.text().contains("decision_logs: the spool is full"));
            assert!(sent.len() > 3);
        }
        let metrics = crate::client::get(server.address(), "/metrics").text();
        let dropped = "\nsolon_decision_logs_dropped_spool_full_total ";
        assert!(metrics.contains(dropped) && !metrics.contains(&format!("{dropped}0\n")));
        let size: u64 = fs::read_dir(server.folder().join("spool"))
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(size < 6000, "{size} bytes");
    }
}

#[test]
fn two_servers_do_not_share_a_spool() {
    let sink = Sink::start();
    let folder = Folder::with(&[]);
    let spool = json!({"spool": {"directory": folder.path().join("spool")}});
    let config = config(&sink, &spool);
    let server = start(&config);
    decide(&mut Client::connect(server.address()), 1);
    let file = folder.path().join("c.json");
    fs::write(&file, &config).unwrap();
    let (code, text) = Server::fail(&["--addr", "127.0.0.1:0", "-c", file.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(text.contains("another process uses it"), "{text}");
}
