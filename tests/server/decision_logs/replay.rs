//! `solon replay` with the logs that a server writes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Server;
use crate::sink::Sink;
use crate::waiting::wait_until;

const POLICY: &str =
    "package p\n\ndefault allow := false\n\nallow if input.x < 50\n\nnow := time.now_ns()\n";

/// Replays a log on a bundle. Returns the exit code and the JSON output.
fn replay(log: &Path, bundle: &Path) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["replay", "--format", "json", "--limit", "0", "--bundle"])
        .args([bundle, log])
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    (
        output.status.code(),
        value.unwrap_or_else(|_| panic!("{errors}")),
    )
}

fn compressed(parts: &[&[u8]]) -> Vec<u8> {
    let member = |part: &&[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    parts.iter().flat_map(member).collect()
}

#[test]
fn logs_of_every_sink_are_replayed() {
    let sink = Sink::start();
    sink.respond(&[500; 1000]);
    let config = json!({
        "services": {"sink": {"url": sink.url()}},
        "nd_builtin_cache": true,
        "decision_logs": {
            "service": "sink",
            "reporting": {"min_delay_seconds": 1, "max_delay_seconds": 1},
            "spool": {"directory": "spool"},
            "file": {"path": "d.log"},
            "sqlite": {"path": "d.db"},
        },
    });
    let server = Server::start_with(
        &["-c", "c.yaml"],
        &[("p.rego", POLICY), ("c.yaml", &config.to_string())],
    );
    let folder = server.folder();
    let mut client = Client::connect(server.address());
    for number in 0..100 {
        for path in [
            "/v1/data/p/allow",
            "/v1/data/p/now",
            "/v1/data/p/none",
            "/v1/query",
        ] {
            let body =
                json!({"input": {"x": number, "quote": "}\"{"}, "query": "x = data.p.allow"});
            client.send(&Message::new("POST", path).body(body.to_string()));
        }
    }
    let database = folder.join("d.db");
    let (same, new) = (folder.join("same"), folder.join("new"));
    for (bundle, policy) in [(&same, POLICY), (&new, &*POLICY.replace("< 50", "<= 50"))] {
        fs::create_dir(bundle).unwrap();
        fs::write(bundle.join("p.rego"), policy).unwrap();
    }
    wait_until("all events are in the SQLite file", || {
        replay(&database, &same).1["decisions"] == 400
    });
    let text = fs::read_to_string(folder.join("d.log")).unwrap();
    let (first, last) = text.split_at(text.len() / 2);
    let lines: Vec<&str> = text.lines().collect();
    let array = |lines: &[&str]| format!("[{}]", lines.join(","));
    let (one, two) = (array(&lines[..150]), array(&lines[150..]));
    let write = |name: &str, text: &[u8]| fs::write(folder.join(name), text).unwrap();
    // chunks as a service stores them, and a rotated file
    write("chunks.gz", &compressed(&[one.as_bytes(), two.as_bytes()]));
    write(
        "lines.gz",
        &compressed(&[first.as_bytes(), last.as_bytes()]),
    );
    let mut cut = compressed(&[text.as_bytes()]);
    cut.truncate(cut.len() - 20);
    write("cut.gz", &cut);
    let id = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["path"] == "p/allow" && event["input"]["x"] == 50);
    let id = id.unwrap()["decision_id"].clone();
    for log in ["d.log", "d.db", "spool", "chunks.gz", "lines.gz"] {
        let log = folder.join(log);
        let (code, output) = replay(&log, &same);
        assert_eq!(code, Some(0), "{log:?} {output}");
        assert_eq!(output["unchanged"], 400, "{log:?} {output}");
        let (code, output) = replay(&log, &new);
        assert_eq!(code, Some(1), "{log:?} {output}");
        assert_eq!(output["changed"], 2, "{log:?} {output}");
        let change = &output["changes"][0];
        let want = json!({
            "path": "p/allow", "old": "false", "new": "true", "count": 1, "decision_ids": [id],
        });
        assert_eq!(*change, want, "{log:?}");
    }
    let (code, output) = replay(&folder.join("cut.gz"), &same);
    assert_eq!(code, Some(2), "{output}");
}
