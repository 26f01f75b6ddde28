//! Batches: each input has the same response as a single request, and all inputs use one snapshot.

use serde_json::{Value, json};

use crate::client::{Answer, Client, Message, get};
use crate::process::Server;
use crate::unread::Unread;

const POLICY: &str = r#"package p

import rego.v1

double := input.n * 2

role contains name if {
	some name, level in data.levels
	level <= input.level
}

clash := 1 if input.a
clash := 2 if input.b

strict := 1 / input.n

greeting := sprintf("<%s> & %v", [input.user, input.x]) if print("greets", input.user)

echo := input

fine if input.n > 1

version := data.version
"#;

const DATA: &str = r#"{"levels": {"reader": 1, "writer": 2, "owner": 3}, "version": 0}"#;

/// A policy that never ends: its clients disconnect, or its time-out expires.
const SLOW: &str = "package slow\n\nn := count([1 | some a in numbers.range(1, 5000); \
    some b in numbers.range(1, 5000); some c in numbers.range(1, 5000); a + b + c == input.n])\n";

fn start(flags: &[&str]) -> Server {
    Server::start_with(flags, &[("p.rego", POLICY), ("d.json", DATA)])
}

fn send_batch(client: &mut Client, target: &str, body: &Value) -> (u16, Value) {
    let answer = client.send(&Message::new("POST", target).body(body.to_string()));
    (answer.status, parsed(&answer))
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{}", answer.text()))
}

/// Returns inputs of every kind, some of which fail.
fn inputs() -> Vec<Value> {
    let mut inputs = vec![
        json!({"n": 0}),
        json!({"a": true, "b": true}),
        json!({"a": true}),
        json!({"user": "é<b>", "x": {"k": [1, null]}}),
        json!([1, 2]),
        json!("text"),
        json!(12.50),
        json!(false),
        json!({}),
        Value::Null,
    ];
    inputs.extend((0..60).map(|n| json!({"n": n, "level": n % 5, "user": n.to_string()})));
    inputs
}

#[test]
fn each_input_is_answered_as_if_it_were_alone() {
    let mut asked = 0;
    for flags in [&[][..], &["--compat", "opa"]] {
        let server = start(flags);
        let mut client = Client::connect(server.address());
        for document in [
            "/p/double",
            "/p/role",
            "/p/clash",
            "/p/strict",
            "/p/greeting",
            "/p/echo",
            "/p",
            "/p/none",
            "/levels",
            "/levels/owner",
            "",
        ] {
            for params in [
                "",
                "?pretty",
                "?strict-builtin-errors",
                "?provenance&explain=full",
                "?explain=fails&pretty",
            ] {
                let inputs = inputs();
                let keyed = inputs
                    .iter()
                    .enumerate()
                    .map(|(at, input)| (format!("k{at}"), input.clone()));
                let keyed: serde_json::Map<String, Value> = keyed.collect();
                let target = format!("/v1/batch/data{document}{params}");
                let (status, batch) = send_batch(&mut client, &target, &json!({ "inputs": keyed }));
                let (mut failed, mut fine) = (0, 0);
                for (at, input) in inputs.iter().enumerate() {
                    asked += 1;
                    let target = format!("/v1/data{document}{params}");
                    let (status, mut alone) =
                        send_batch(&mut client, &target, &json!({ "input": input }));
                    let mut one = batch["responses"][format!("k{at}")].clone();
                    let one = one.as_object_mut().unwrap();
                    let code = one.remove("http_status_code");
                    assert!(code.is_none() || code == Some(json!(status.to_string())));
                    let alone = alone.as_object_mut().unwrap();
                    alone.remove("warning");
                    if status == 200 {
                        fine += 1;
                    } else {
                        failed += 1;
                        assert_eq!(one["code"], alone["code"]);
                        // the message of one among several is that of its first error
                        let first = &alone["errors"][0];
                        let words = format!(
                            "{}: {}",
                            first["code"].as_str().unwrap(),
                            first["message"].as_str().unwrap()
                        );
                        assert_eq!(one.remove("message"), Some(json!(words)));
                        alone.remove("message");
                    }
                    assert_eq!(one, alone, "{target} {input}");
                }
                let want = match (fine, failed) {
                    (_, 0) => 200,
                    (0, _) => 500,
                    _ => 207,
                };
                assert_eq!(status, want, "{target}");
            }
        }
    }
    assert!(asked > 5_000);
}

#[test]
fn a_batch_uses_one_snapshot() {
    let server = start(&[]);
    let address = server.address();
    let inputs: serde_json::Map<String, Value> =
        (0..400).map(|n| (n.to_string(), json!({"n": n}))).collect();
    let body = json!({ "inputs": inputs });
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut client = Client::connect(address);
            for version in 1..200 {
                let put = Message::new("PUT", "/v1/data/version").body(version.to_string());
                assert_eq!(client.send(&put).status, 204);
            }
        });
        let mut client = Client::connect(address);
        while !writing.is_finished() {
            let (status, answer) = send_batch(&mut client, "/v1/batch/data/p/version", &body);
            assert_eq!(status, 200);
            let responses = answer["responses"].as_object().unwrap();
            assert_eq!(responses.len(), 400);
            let first = &responses["0"];
            assert!(
                responses.values().all(|one| one == first),
                "versions differ"
            );
        }
    });
}

#[test]
fn batches_are_bounded() {
    let flags = ["--max-batch", "3", "--max-held", "64KiB"];
    let server = Server::start_with(&flags, &[("p.rego", POLICY)]);
    let mut client = Client::connect(server.address());
    let four = json!({"inputs": {"a": 1, "b": 2, "c": 3, "d": 4}});
    let (status, answer) = send_batch(&mut client, "/v1/batch/data/p/echo", &four);
    assert_eq!(status, 400);
    let want = "a batch has 4 inputs; at most 3 are taken at once (--max-batch)";
    assert_eq!(answer["message"], want);
    // responses count toward the memory that all connections share
    let much = json!({"inputs": {"a": 1, "b": 2, "c": 3}, "common_input": {}});
    assert_eq!(
        send_batch(&mut client, "/v1/batch/data/p/echo", &much).0,
        200
    );
    for (place, length) in [("/v1/data/large/a", 12_000), ("/v1/data/large/b", 12_000)] {
        let text = format!("\"{}\"", "x".repeat(length));
        assert_eq!(
            client.send(&Message::new("PUT", place).body(text)).status,
            204
        );
    }
    let answer = client.send(&Message::new("POST", "/v1/batch/data/large").body(much.to_string()));
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    // the memory is released afterwards
    assert_eq!(
        send_batch(&mut client, "/v1/batch/data/p/echo", &much).0,
        200
    );
    let page = get(server.address(), "/metrics").text();
    assert!(page.contains("solon_held_bytes 0\n"), "{page}");
}

#[test]
fn time_is_up_for_all_of_a_batch_together() {
    let server = Server::start_with(&["--timeout", "300ms"], &[("slow.rego", SLOW)]);
    let mut client = Client::connect(server.address());
    let three = json!({"inputs": {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3}}});
    let (status, answer) = send_batch(&mut client, "/v1/batch/data/slow/n", &three);
    assert_eq!(status, 500);
    for key in ["a", "b", "c"] {
        let error = &answer["responses"][key];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("eval_cancel_error: "), "{message}");
    }
}

#[test]
fn a_client_that_goes_away_ends_its_batch() {
    let server = Server::start_with(&["--timeout", "1h"], &[("slow.rego", SLOW)]);
    let inputs: serde_json::Map<String, Value> =
        (0..64).map(|n| (n.to_string(), json!({"n": n}))).collect();
    let body = json!({ "inputs": inputs }).to_string();
    let head = format!(
        "POST /v1/batch/data/slow/n HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let gone = Unread::send(server.address(), head);
    server.wait_for_work();
    drop(gone);
    // the process becomes idle long before the batch would end
    server.wait_for_rest();
}
