//! Rejections on every route: if the authorization policy does not return `true`, the request is rejected and has no
//! effect.

use serde_json::Value;

use crate::client::{Client, Message};
use crate::process::Server;

/// A token that is always admitted, to inspect policies and documents.
const INSPECTOR: &str = "Bearer inspector";

const FILES: [(&str, &str); 2] = [
    (
        "p.rego",
        "package p\n\nx if print(\"evaluated\")\n\ny if input.row.n == 1\n",
    ),
    (
        "health.rego",
        "package system.health\n\nlive if print(\"evaluated\")\n",
    ),
];

/// Returns a policy with a verdict about all clients except for the inspector. `of` is further text of the condition.
fn policy(verdict: &str, of: &str) -> String {
    format!(
        "package system.authz\n\nallow := true if input.identity == \"inspector\"\n\n\
         others if {{\n\tnot input.identity == \"inspector\"\n\t{of}\n}}\n\n{verdict}\n"
    )
}

/// Returns methods and paths of a server, with parameters that name existing items.
fn operations(server: &Server) -> Vec<(String, String)> {
    let ask = Message::new("GET", "/openapi.json").header("Authorization", INSPECTOR);
    let described = Client::connect(server.address()).send(&ask).text();
    let described: Value = serde_json::from_str(&described).unwrap();
    let mut all = vec![
        ("HEAD".to_owned(), "/metrics".to_owned()),
        ("HEAD".to_owned(), "/metrics/alloc_bytes".to_owned()),
        ("GET".to_owned(), "/none".to_owned()),
        ("PUT".to_owned(), "//v1/data/a".to_owned()),
    ];
    for (path, methods) in described["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys();
        for method in methods.filter(|name| *name != "parameters") {
            let writes = ["put", "patch", "delete"].contains(&method.as_str());
            let path = match path.split_once("/{") {
                Some(("/v1/data", _)) if writes => "/v1/data/a".to_owned(),
                Some(("/v1/policies", _)) => "/v1/policies/p.rego".to_owned(),
                Some(("/health", _)) => "/health/live".to_owned(),
                Some(("/ui", _)) => "/ui/ui.js".to_owned(),
                Some((route, _)) => format!("{route}/p/x"),
                None => path.clone(),
            };
            all.push((method.to_uppercase(), path));
        }
    }
    assert!(all.len() >= 30, "{all:?}");
    all
}

/// Creates a request that would have an effect.
fn message(method: &str, path: &str) -> Message {
    let body = match (method, path) {
        ("GET" | "HEAD" | "DELETE", _) => "",
        ("PATCH", _) => "[{\"op\": \"add\", \"path\": \"/evil\", \"value\": 1}]",
        ("PUT", "/v1/policies/p.rego") => "package evil\n\nx if print(\"evaluated\")\n",
        ("PUT", _) => "{\"evil\": true}",
        (_, "/v1/query") => "{\"query\": \"x = data.p.x\"}",
        (_, "/v1/compile") => "{\"query\": \"data.p.y == true\", \"unknowns\": [\"input.row\"]}",
        (_, "/v1/batch/data/p/x") => "{\"inputs\": {\"a\": {\"row\": {\"n\": 1}}}}",
        _ => "{\"input\": {\"row\": {\"n\": 1}}}",
    };
    Message::new(method, path).body(body)
}

/// Returns base documents and policies.
fn state(server: &Server) -> String {
    let get = |path: &str| {
        let ask = Message::new("GET", path).header("Authorization", INSPECTOR);
        let answer = Client::connect(server.address()).send(&ask);
        assert_eq!(answer.status, 200, "{path}");
        answer.text()
    };
    get("/v1/data/a") + &get("/v1/data/evil") + &get("/v1/policies")
}

/// Sends requests to all routes with these credentials, and returns their number.
fn all_are_rejected(name: &str, policy: &str, credentials: Option<&str>, want: u16) -> usize {
    let flags = ["--authorization=basic", "--authentication=token", "--ui"];
    let files = [
        FILES[0],
        FILES[1],
        ("authz.rego", policy),
        ("data.json", "{\"a\": {\"kept\": 1}}"),
    ];
    let mut server = Server::start_with(&flags, &files);
    let before = state(&server);
    let operations = operations(&server);
    for (method, path) in &operations {
        let message = message(method, path);
        let message = match credentials {
            Some(credentials) => message.header("Authorization", credentials),
            None => message,
        };
        let answer = Client::connect(server.address()).send(&message);
        let text = answer.text();
        assert_eq!(answer.status, want, "{name}: {method} {path}: {text}");
        let code = if want == 401 {
            "unauthorized"
        } else {
            "internal_error"
        };
        assert!(
            method == "HEAD" || text.contains(code),
            "{name}: {method} {path}: {text}"
        );
        assert!(
            !text.contains("evaluated"),
            "{name}: {method} {path}: {text}"
        );
    }
    assert_eq!(state(&server), before, "{name}");
    let evaluated = server
        .log()
        .iter()
        .filter(|line| line["msg"] == "evaluated");
    assert_eq!(evaluated.count(), 0, "{name}");
    operations.len()
}

#[test]
fn every_route_is_rejected_before_any_effect() {
    let says = |value: &str| format!("allow := {value} if others");
    let fails = "allow := x if {\n\tothers\n\tsome x in [true, false]\n}";
    let mut rejected = 0;
    for (name, verdict, of, credentials, want) in [
        ("no credentials", says("false"), "", None, 401),
        (
            "wrong credentials",
            says("false"),
            "",
            Some("Bearer wrong"),
            401,
        ),
        (
            "another scheme",
            says("false"),
            "",
            Some("Basic aW5zcGVjdG9yOg=="),
            401,
        ),
        (
            "authz false",
            "default allow := false".to_owned(),
            "",
            Some("Bearer x"),
            401,
        ),
        ("authz undefined", String::new(), "", Some("Bearer x"), 500),
        ("authz error", fails.to_owned(), "", Some("Bearer x"), 500),
        ("authz text", says("\"true\""), "", Some("Bearer x"), 401),
        ("authz number", says("1"), "", Some("Bearer x"), 401),
        ("authz null", says("null"), "", Some("Bearer x"), 401),
        ("authz array", says("[true]"), "", Some("Bearer x"), 401),
        (
            "authz allowed false",
            says("{\"allowed\": false}"),
            "",
            Some("Bearer x"),
            401,
        ),
        (
            "authz allowed text",
            says("{\"allowed\": \"true\"}"),
            "",
            Some("Bearer x"),
            401,
        ),
        (
            "authz without allowed",
            says("{\"allow\": true}"),
            "",
            Some("Bearer x"),
            500,
        ),
        // policies that depend on the body
        (
            "false by the body",
            says("false"),
            "is_object(input)",
            None,
            401,
        ),
        (
            "undefined by the body",
            String::new(),
            "is_object(input)",
            None,
            500,
        ),
        (
            "error by the body",
            fails.to_owned(),
            "is_object(input)",
            None,
            500,
        ),
    ] {
        rejected += all_are_rejected(name, &policy(&verdict, of), credentials, want);
    }
    assert!(rejected >= 16 * 30, "{rejected}");
}
