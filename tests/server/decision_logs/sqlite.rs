//! Events in a SQLite file, and `solon logs`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Server;
use crate::waiting::wait_until;

fn logs(file: &Path, flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .arg("logs")
        .arg(file)
        .args(flags)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the inputs of the events that a query shows.
fn inputs(file: &Path, flags: &[&str]) -> Vec<Value> {
    let flags: Vec<&str> = flags.iter().copied().chain(["--format", "json"]).collect();
    let events = logs(file, &flags);
    let events = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["input"]["x"].clone()).collect()
}

#[test]
fn decisions_are_queried_by_path_result_input_and_time() {
    let policy = "package p\n\nallow := input.x\n\nc := 1 if input.x\n\nc := 2 if input.x\n";
    let config =
        json!({"decision_logs": {"sqlite": {"path": "d.db", "max_events": 6}}}).to_string();
    let server = Server::start_with(
        &["-c", "c.yaml"],
        &[("p.rego", policy), ("c.yaml", &config)],
    );
    let file = server.folder().join("d.db");
    let mut client = Client::connect(server.address());
    let mut decide = |path: &str, x: Value| {
        let body =
            json!({"input": {"x": x, "user": {"name": "al\"ice", "tags": [1, 2]}}}).to_string();
        client.send(&Message::new("POST", path).body(body));
    };
    for number in 0..4 {
        decide("/v1/data/p/allow", json!(number));
    }
    decide("/v1/data/p/allow", json!({"b": 1, "a": [true]}));
    decide("/v1/data/p/c", json!(7));
    decide("/v1/data/p/none", json!(8));
    wait_until("all events are written", || {
        file.exists() && inputs(&file, &[]).last() == Some(&json!(8))
    });
    let object = json!({"a": [true], "b": 1});
    // the oldest one was removed
    assert_eq!(
        inputs(&file, &[]),
        [
            json!(1),
            json!(2),
            json!(3),
            object.clone(),
            json!(7),
            json!(8)
        ]
    );
    for (flags, want) in [
        (
            vec!["--path", "p/allow"],
            vec![json!(1), json!(2), json!(3), object.clone()],
        ),
        (
            vec!["--path", "/p/"],
            vec![
                json!(1),
                json!(2),
                json!(3),
                object.clone(),
                json!(7),
                json!(8),
            ],
        ),
        (vec!["--path", "p/al"], vec![]),
        (vec!["--result", "2"], vec![json!(2)]),
        (
            vec!["--result", r#"{"a": [true], "b": 1}"#],
            vec![object.clone()],
        ),
        (vec!["--result", "undefined"], vec![json!(7), json!(8)]),
        (vec!["--errors"], vec![json!(7)]),
        (vec!["--input", "x=3"], vec![json!(3)]),
        (
            vec![
                "--input",
                r#"user.name="al\"ice""#,
                "--input",
                "user.tags.1=2",
                "--limit",
                "1",
            ],
            vec![json!(8)],
        ),
        (vec!["--input", "user.name=bob"], vec![]),
        (
            vec!["--since", "1h", "--limit", "2"],
            vec![json!(7), json!(8)],
        ),
        (vec!["--until", "2020-01-01T00:00:00Z"], vec![]),
        (vec!["--limit", "0", "--result", "1"], vec![json!(1)]),
    ] {
        assert_eq!(inputs(&file, &flags), want, "{flags:?}");
    }
    let stats: Value =
        serde_json::from_str(&logs(&file, &["--stats", "--format", "json"])).unwrap();
    let counts: Vec<String> = stats
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} {}", row["path"], row["result"], row["count"]))
        .collect();
    assert!(
        counts.contains(&r#""p/c" "error" 1"#.to_owned()),
        "{counts:?}"
    );
    assert!(
        counts.contains(&r#""p/none" "undefined" 1"#.to_owned()),
        "{counts:?}"
    );
    assert!(stats[0]["p99_ns"].as_u64().unwrap() > 0);
    assert!(logs(&file, &["--stats"]).contains("p99"));
    assert!(logs(&file, &[]).contains("p/allow"));
    #[cfg(unix)]
    for name in ["d.db", "d.db-wal"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(server.folder().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
