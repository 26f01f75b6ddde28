//! Authorization: for every route, the authorization policy is evaluated first and exactly once.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, Message, raw};
use crate::process::Server;

/// Rejects everything, and prints a line for each evaluation.
const COUNTING: &str = "package system.authz

default allow := false

allow := false if print(\"asked\", input.method, concat(\"/\", input.path))
";

const METHODS: [&str; 10] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "TRACE", "FOO",
];

const TARGETS: [&str; 30] = [
    "/",
    "/v0/data",
    "/v0/data/a",
    "/v1/data",
    "/v1/data/",
    "/v1/data/a",
    "/v1/data/a/",
    "/v1/data/a%2Fb",
    "/v1/data/a%2F",
    "//v1/data/a",
    "/v1//data/a",
    "/v1/./data/a",
    "/v1/x/../data/a",
    "/v1/data/%2e%2e/policies",
    "/V1/data/a",
    "/%76%31/data/a",
    "/v1/policies",
    "/v1/policies/p",
    "/v1/policies/p/",
    "/v1/query?q=1",
    "/v1/query/x",
    "/v1/compile",
    "/v1/compile/x",
    "/v1/config",
    "/v1/status/",
    "/health",
    "/health/",
    "/health/live",
    "/metrics",
    "/v1/nothing",
];

/// Stops the server after `count` evaluations of the policy and returns their number.
fn count_evaluations(server: &mut Server, count: usize) -> usize {
    let is = |line: &Value| {
        let text = line["msg"].as_str();
        text.is_some_and(|text| text.starts_with("asked"))
    };
    server.logged("the policy is evaluated", count, is);
    server.log().iter().filter(|line| is(line)).count()
}

/// S-362, S-364, S-365
#[test]
fn no_way_to_a_route_leads_past_the_policy() {
    let flags = [
        "--authorization=basic",
        // the host check is off: each request must reach the policy
        "--authentication=token",
        "--h2c",
        "--diagnostic-addr",
        "127.0.0.1:0",
    ];
    let mut server = Server::start_with(&flags, &[("authz.rego", COUNTING)]);
    let address = server.address().to_owned();
    let diagnostic = server.diagnostic_address().to_owned();
    let mut ways = 0;
    let mut refused = |status: u16, way: &str| {
        assert_eq!(status, 401, "{way}");
        ways += 1;
    };
    let mut client = Client::connect(&address);
    for method in METHODS {
        for target in TARGETS {
            let body = if method == "POST" { "{}" } else { "" };
            let answer = client.send(&Message::new(method, target).body(body));
            // the body was not read, so no other request can follow it
            if answer.header("connection") == Some("close") {
                client = Client::connect(&address);
            }
            refused(answer.status, &format!("{method} {target}"));
        }
    }
    let status = |answer: &str| {
        answer
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0)
    };
    for head in [
        "GET http://elsewhere/v1/data/a HTTP/1.1\r\nHost: x\r\n",
        "GET HTTP://ELSEWHERE/v1/policies HTTP/1.1\r\nHost: x\r\n",
        "POST https://user@elsewhere:99/v1/query HTTP/1.1\r\nHost: x\r\n",
        "GET http://elsewhere HTTP/1.1\r\nHost: x\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n",
        "CONNECT elsewhere:80 HTTP/1.1\r\nHost: x\r\n",
        "GET /v1/data/a HTTP/1.0\r\n",
        "GET /v1/data/a HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: DELETE\r\n",
        "GET /v1/data/a HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n",
        "GET /v1/data/a?input=%7B%22user%22:%22%3Calice%3E%22%7D HTTP/1.1\r\nHost: x\r\n",
        "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n",
        "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n",
    ] {
        let end = if head.contains("chunked") {
            "0\r\n\r\n"
        } else {
            ""
        };
        let text = format!("{head}Connection: close\r\n\r\n{end}");
        let answer = raw(&address, text.as_bytes());
        let answer = answer.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
        refused(status(answer), head);
    }
    let mut client = Client::connect(&diagnostic);
    for target in [
        "/health",
        "/health/live",
        "/metrics",
        "/v1/data",
        "/",
        "//health",
    ] {
        refused(client.send(&Message::new("GET", target)).status, target);
    }
    let mut by_http2 = 0;
    for (method, target) in [
        ("GET", "/v1/data/a"),
        ("PUT", "/v1/data/a"),
        ("HEAD", "/v1/data"),
        ("GET", "//health"),
    ] {
        let url = format!("http://{address}{target}");
        let curl = Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code} %{http_version}",
            ])
            .args([
                "--http2-prior-knowledge",
                "--path-as-is",
                "--max-time",
                "20",
            ])
            .args(if method == "HEAD" {
                vec!["-I"]
            } else {
                vec!["-X", method]
            })
            .arg(&url)
            .output();
        // only curl can send HTTP/2 in this test
        let Ok(curl) = curl else { continue };
        assert_eq!(
            String::from_utf8_lossy(&curl.stdout),
            "401 2",
            "{method} {target}"
        );
        by_http2 += 1;
    }
    let ways = ways + by_http2;
    assert!(ways >= 300, "{ways}");
    assert_eq!(count_evaluations(&mut server, ways), ways, "once for each");
}

/// Results of the policy and the responses that they lead to.
/// S-363, S-364, S-366
#[test]
fn what_the_policy_says_counts() {
    let policy = "package system.authz

allow := true if input.params.say == [\"true\"]

allow := false if input.params.say == [\"false\"]

allow := \"yes\" if input.params.say == [\"text\"]

allow := {\"allowed\": true} if input.params.say == [\"object\"]

allow := {\"allowed\": false, \"reason\": \"no <admin>\"} if input.params.say == [\"reason\"]

allow := {\"allowed\": \"true\", \"reason\": 5} if input.params.say == [\"odd\"]

allow := {\"reason\": \"x\"} if input.params.say == [\"nothing\"]

allow := 1 if input.params.say == [\"conflict\"]

allow := 2 if input.params.say == [\"conflict\"]
";
    let server = Server::start_with(&["--authorization=basic"], &[("authz.rego", policy)]);
    let mut client = Client::connect(server.address());
    for (say, status, words) in [
        ("true", 200, "{}"),
        ("object", 200, "{}"),
        ("false", 401, "request rejected by administrative policy"),
        ("text", 401, "request rejected by administrative policy"),
        ("reason", 401, "no \\u003cadmin\\u003e"),
        ("odd", 401, "request rejected by administrative policy"),
        ("nothing", 500, "document missing or undefined"),
        (
            "undefined",
            500,
            "authorization policy missing or undefined",
        ),
        ("conflict", 500, "error(s) occurred while evaluating query"),
    ] {
        // the first evaluation runs in the pool, later ones may run in a reactor
        for _ in 0..3 {
            let answer = client.send(&Message::new("GET", &format!("/v1/data/x?say={say}")));
            assert_eq!(answer.status, status, "{say}: {}", answer.text());
            assert!(answer.text().contains(words), "{say}: {}", answer.text());
        }
    }
    let refused = client.send(&Message::new("GET", "/v1/data/x?say=false"));
    let want =
        json!({"code": "unauthorized", "message": "request rejected by administrative policy"});
    assert_eq!(
        serde_json::from_str::<Value>(&refused.text()).unwrap(),
        want
    );
}

/// Returns the input of the policy, which rejects with its input as the reason.
fn input_of(flags: &[&str], message: &Message) -> Value {
    let policy =
        "package system.authz\n\nallow := {\"allowed\": false, \"reason\": json.marshal(input)}\n";
    let mut all = vec!["--authorization=basic"];
    all.extend(flags);
    let server = Server::start_with(&all, &[("authz.rego", policy)]);
    let answer = Client::connect(server.address()).send(message);
    let error: Value = serde_json::from_str(&answer.text()).unwrap();
    serde_json::from_str(
        error["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{error}")),
    )
    .unwrap()
}

/// S-360, S-361, S-362, S-363
#[test]
fn the_policy_sees_the_request() {
    let message = Message::new("POST", "/v1/data/a%2Fb/../c?x=1&x=2&y")
        .header("authorization", "Bearer secret")
        .header("x-some-thing", "a")
        .header("X-Some-Thing", "b")
        .body("{\"input\": 1.0, \"more\": [2]}");
    let want = json!({
        "method": "POST",
        "path": ["v1", "data", "a/b", "..", "c"],
        "params": {"x": ["1", "2"], "y": [""]},
        "headers": {
            "Authorization": ["Bearer secret"],
            "X-Some-Thing": ["a", "b"],
            "Content-Length": ["27"],
        },
    });
    // the path is not normalized yet, so the body is not read
    assert_eq!(input_of(&["--authentication=off"], &message), want);
    let message = Message::new("POST", "/v1/data/c")
        .header("authorization", "Bearer secret")
        .body("{\"input\": 1.0, \"more\": [2]}");
    let input = input_of(&["--authentication=token"], &message);
    assert_eq!(input["identity"], "secret");
    assert_eq!(input["body"], json!({"input": 1.0, "more": [2]}));
    let input = input_of(
        &["--authentication=token"],
        &Message::new("GET", "/v1/policies/a%2Fb"),
    );
    assert_eq!(input["path"], json!(["v1", "policies", "a", "b"]));
    assert_eq!(input.get("identity"), None);
    assert_eq!(input.get("body"), None);
}

#[test]
fn bodies_that_the_policy_sees_are_one_document() {
    let policy = "package system.authz\n\nallow if input.body.input == input.body.input\n\nallow if input.method == \"PUT\"";
    let server = Server::start_with(
        &["--authorization=basic"],
        &[
            ("authz.rego", policy),
            ("p.rego", "package p\n\nx := input\n"),
        ],
    );
    let mut client = Client::connect(server.address());
    let mut ask = |body: &str| client.send(&Message::new("POST", "/v1/data/p/x").body(body));
    assert_eq!(ask("{\"input\": 1.0}").text(), "{\"result\":1.0}\n");
    for (body, words) in [
        (
            "{\"input\": 1} x",
            "invalid character 'x' looking for beginning of value",
        ),
        ("{", "unexpected EOF"),
    ] {
        let answer = ask(body);
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.text().contains(words), "{body}: {}", answer.text());
    }
}

/// No request succeeds with a body that the policy did not see, such as keys in another case.
#[test]
fn bodies_mean_what_the_policy_sees() {
    let policy = "package system.authz

allow if {
	not input.body.query == \"x = data.secret\"
	not input.body.options
	not input.body.unknowns
	not input.body.input.user == \"bob\"
}
";
    let filter = "# METADATA
# scope: package
# compile:
#   unknowns: [input.fruits]
package f

include if input.fruits.owner == input.user
";
    let data = "{\"secret\": 7}";
    let flags = ["--authorization=basic"];
    let files = [
        ("authz.rego", policy),
        ("f.rego", filter),
        ("data.json", data),
    ];
    let server = Server::start_with(&flags, &files);
    let mut client = Client::connect(server.address());
    let sql = "application/vnd.opa.sql.postgresql+json";
    let secret = "x = data.secret";
    for (target, body, status, words) in [
        (
            "/v1/query",
            json!({"query": "x = 1", "Query": secret}),
            200,
            "{\"result\":[{\"x\":1}]}",
        ),
        ("/v1/query", json!({"QUERY": secret}), 500, "empty query"),
        (
            "/v1/query",
            json!(null),
            400,
            "expected an object, got null",
        ),
        (
            "/v1/compile",
            json!({"query": "x = 1", "queRy": secret}),
            200,
            "\"x\"",
        ),
        (
            "/v1/compile",
            json!({"Query": secret}),
            400,
            "missing required 'query' value",
        ),
        (
            "/v1/compile/f/include",
            json!({"input": {"user": "al"}, "Input": {"user": "bob"}}),
            200,
            "E'al'",
        ),
        (
            "/v1/compile/f/include",
            json!({"input": {"user": "al"}, "Options": {"maskRule": 5}}),
            200,
            "E'al'",
        ),
        (
            "/v1/compile/f/include",
            json!({"input": {"user": "al"}, "Unknowns": 5}),
            200,
            "E'al'",
        ),
    ] {
        let message = Message::new("POST", target).body(body.to_string());
        let answer = client.send(&message.header("accept", sql));
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert!(answer.text().contains(words), "{body}: {}", answer.text());
        assert!(!answer.text().contains('7'), "{body}: {}", answer.text());
    }
    let message = Message::new("POST", "/v1/query")
        .header("content-type", "application/yaml")
        .body(format!("{{\"query\": \"{secret}\"}}: 1"));
    let answer = client.send(&message);
    assert!(!answer.text().contains('7'), "{}", answer.text());
}

#[test]
fn a_server_that_is_only_read_refuses_what_writes() {
    let server = Server::start_with(&["--read-only"], &[("p.rego", "package p\n\nx := 1\n")]);
    let mut client = Client::connect(server.address());
    for (method, target, allow) in [
        ("PUT", "/v1/data/x", "GET, POST"),
        ("PATCH", "/v1/data/x", "GET, POST"),
        ("DELETE", "/v1/data/x", "GET, POST"),
        ("PUT", "/v1/policies/p", "GET"),
        ("DELETE", "/v1/policies/p.rego", "GET"),
    ] {
        let answer = client.send(&Message::new(method, target).body("1"));
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some(allow)),
            "{method} {target}"
        );
    }
    assert_eq!(
        client.send(&Message::new("GET", "/v1/data/p/x")).text(),
        "{\"result\":1}\n"
    );
}

/// S-360, S-365
#[test]
fn unsafe_settings_are_logged() {
    let warned = |flags: &[&str]| {
        let mut server = Server::start_with(flags, &[]);
        let lines: Vec<String> = server
            .log()
            .iter()
            .filter(|line| line["level"] != "info")
            .map(|line| line["msg"].to_string())
            .collect();
        lines.join("\n")
    };
    assert_eq!(warned(&[]), "");
    let as_opa = warned(&["--authentication=token", "--compat", "opa"]);
    assert!(as_opa.contains("without authorization"), "{as_opa}");
    assert!(warned(&["--addr", "0.0.0.0:0"]).contains("without authentication"));
    let both = warned(&[
        "--addr",
        "0.0.0.0:0",
        "--authentication=token",
        "--authorization=basic",
    ]);
    assert!(both.contains("without encryption"), "{both}");
}

/// S-360
#[test]
fn tokens_without_an_authorization_policy_do_not_start() {
    for flags in [
        &["--authentication=token"][..],
        &["--authentication=token", "--authorization=off"],
        &["--authentication=token", "--read-only"],
        &["--authentication=token", "--addr", "unix://@solon-tokens"],
    ] {
        let (code, text) = Server::fail(flags);
        assert_eq!(code, Some(1), "{flags:?}: {text}");
        for words in ["--authentication=token", "--authorization=basic"] {
            assert!(text.contains(words), "{flags:?}: {text}");
        }
    }
    // with OPA's names it starts, as OPA does
    let server = Server::start_with(&["--authentication=token", "--compat=opa"], &[]);
    let answer = Client::connect(server.address()).send(&Message::new("GET", "/v1/data"));
    assert_eq!(answer.status, 200);
}
