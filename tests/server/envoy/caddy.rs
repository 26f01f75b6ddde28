//! The recipe of the documentation for Caddy, with a real Caddy: `caddy` of the system, or the program of `SOLON_CADDY`.

use serde_json::json;

use crate::checks::Authorization;
use crate::client::Message;
use crate::front_proxy::{FrontProxy, Ports, installed, recipe, replace};

/// The method and the target are those of headers that Caddy sets.
const POLICY: &str = r#"package envoy.authz

headers := input.attributes.request.http.headers

method := headers["x-forwarded-method"]

path := split(trim_prefix(split(headers["x-forwarded-uri"], "?")[0], "/"), "/")

allow := {"allowed": true, "headers": {"x-user": concat(" ", [method, headers["x-forwarded-uri"]])}} if {
	path[0] == "allowed"
}

allow := {"allowed": false, "http_status": 401, "body": "log in", "headers": {"www-authenticate": "Bearer"}} if {
	path[0] == "unknown"
}

allow := {"allowed": false, "http_status": 302, "headers": {"location": "/login"}} if {
	path[0] == "redirected"
}
"#;

/// Starts Caddy, if it is installed.
fn caddy(decider: &str) -> Option<FrontProxy> {
    let program = installed("SOLON_CADDY", "/usr/bin/caddy")?;
    let config = |ports: &Ports| {
        let recipe = replace(
            recipe("caddyfile"),
            &[
                ("localhost:9192", decider.to_owned()),
                (":8080 {", format!(":{} {{\n\tbind 127.0.0.1", ports.proxy)),
                ("localhost:3000", format!("127.0.0.1:{}", ports.application)),
            ],
        );
        format!("{{\n\tadmin off\n}}\n{recipe}")
    };
    let arguments = ["run", "--config", "Caddyfile", "--adapter", "caddyfile"];
    Some(FrontProxy::start(&program, "Caddyfile", config, &arguments))
}

fn start() -> Authorization {
    Authorization::start(&json!({"http-addr": "127.0.0.1:0"}), &[], POLICY)
}

#[test]
fn caddy_sends_a_check_for_each_request() {
    let mut server = start();
    let Some(caddy) = caddy(&server.http_address) else {
        return;
    };
    // headers of a client do not replace those of the proxy
    let message = Message::new("POST", "/allowed/%2e%2e//a?b=c%20d")
        .header("x-user", "mallory")
        .header("x-forwarded-uri", "/unknown")
        .header("x-forwarded-method", "PUT")
        .body("body");
    let answer = caddy.send(&message);
    assert_eq!((answer.status, answer.text().as_str()), (200, "upstream"));
    let forwarded = caddy.forwarded();
    let seen = "x-user: post /allowed/%2e%2e//a?b=c%20d\r\n";
    assert!(forwarded.contains(seen), "{forwarded}");
    assert!(!forwarded.contains("mallory"), "{forwarded}");
    assert!(forwarded.ends_with("body"), "{forwarded}");

    let answer = caddy.get("/unknown");
    assert_eq!((answer.status, answer.text().as_str()), (401, "log in"));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    let answer = caddy.get("/redirected");
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("location"), Some("/login"));
    assert_eq!(caddy.get("/undefined").status, 403);
    assert_eq!(caddy.get("/allowed?b;c").status, 400);
    let message = Message::new("GET", "/undefined").header("x-forwarded-uri", "/allowed");
    assert_eq!(caddy.send(&message).status, 403);
    assert!(caddy.forwarded_nothing());

    server.server.terminate();
    assert_eq!(caddy.get("/allowed").status, 502);
    assert!(caddy.forwarded_nothing());
}
