//! The recipe of the documentation for nginx, with a real nginx: `nginx` of the system, or the program of `SOLON_NGINX`.

use serde_json::json;

use crate::checks::Authorization;
use crate::client::Message;
use crate::front_proxy::{FrontProxy, Ports, installed, recipe, replace};

const POLICY: &str = r#"package envoy.authz

http := input.attributes.request.http

allow := {"allowed": true, "headers": {"x-user": "alice"}} if {
	input.parsed_path[0] == "allowed"
}

# the original method, target and host
allow := {"allowed": true, "headers": {"x-user": concat(" ", [http.method, http.path, http.host])}} if {
	input.parsed_path[0] == "seen"
}

allow := {"allowed": false, "http_status": 401, "headers": {"www-authenticate": "Bearer"}} if {
	input.parsed_path[0] == "unknown"
}

allow := {"allowed": false} if input.parsed_path[0] == "denied"

allow := {"allowed": false, "http_status": 302, "headers": {"location": "/login"}} if {
	input.parsed_path[0] == "redirected"
}

allow := {"allowed": input.parsed_body.amount < 100} if input.parsed_path[0] == "pay"
"#;

/// Starts nginx, if it is installed.
fn nginx(decider: &str) -> Option<FrontProxy> {
    let program = installed("SOLON_NGINX", "/usr/sbin/nginx")?;
    let config = |ports: &Ports| {
        let recipe = replace(
            recipe("nginx"),
            &[
                ("localhost:9192", decider.to_owned()),
                ("listen 8080", format!("listen 127.0.0.1:{}", ports.proxy)),
                (
                    "http://application",
                    format!("http://127.0.0.1:{}", ports.application),
                ),
            ],
        );
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let paths = paths.map(|name| format!("{name}_temp_path {name};\n"));
        let paths = paths.concat();
        format!(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{recipe}}}\n"
        )
    };
    let arguments = ["-p", ".", "-c", "nginx.conf", "-e", "stderr"];
    Some(FrontProxy::start(
        &program,
        "nginx.conf",
        config,
        &arguments,
    ))
}

fn start() -> Authorization {
    Authorization::start(&json!({"http-addr": "127.0.0.1:0"}), &[], POLICY)
}

#[test]
fn nginx_forwards_allowed_requests() {
    let server = start();
    let Some(nginx) = nginx(&server.http_address) else {
        return;
    };
    for _ in 0..10 {
        let message = Message::new("GET", "/allowed").header("x-user", "mallory");
        let answer = nginx.send(&message);
        assert_eq!((answer.status, answer.text().as_str()), (200, "upstream"));
        let forwarded = nginx.forwarded();
        assert!(forwarded.contains("x-user: alice"), "{forwarded}");
        assert!(!forwarded.contains("mallory"), "{forwarded}");
    }
    let message = Message::new("DELETE", "/seen/%2e%2e//a?b=c%20d");
    assert_eq!(nginx.send(&message).status, 200);
    let forwarded = nginx.forwarded();
    let seen = "x-user: delete /seen/%2e%2e//a?b=c%20d localhost\r\n";
    assert!(forwarded.contains(seen), "{forwarded}");
}

#[test]
fn nginx_denies_what_is_not_allowed() {
    let server = start();
    let Some(nginx) = nginx(&server.http_address) else {
        return;
    };
    let answer = nginx.get("/unknown");
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    for (path, status) in [
        ("/denied", 403),
        ("/undefined", 403),
        // nginx knows 401 and 403 only; each other status is an error, which is denied too
        ("/redirected", 500),
        ("/a?b;c", 500),
    ] {
        let answer = nginx.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.text().contains("upstream"), "{path}");
    }
    assert!(nginx.forwarded_nothing());
}

#[test]
fn nginx_sends_bodies_to_the_application_only() {
    let server = start();
    let Some(nginx) = nginx(&server.http_address) else {
        return;
    };
    let body = "{\"amount\": 5}";
    let post = |path: &str| {
        Message::new("POST", path)
            .header("Content-Type", "application/json")
            .body(body)
    };
    assert_eq!(nginx.send(&post("/allowed")).status, 200);
    assert!(nginx.forwarded().ends_with(body));
    assert_eq!(nginx.send(&post("/allowed").chunked()).status, 200);
    assert!(nginx.forwarded().ends_with(body));
    // a decision about the body has none, so that it is undefined
    assert_eq!(nginx.send(&post("/pay")).status, 403);
    assert!(nginx.forwarded_nothing());
}

#[test]
fn nginx_denies_while_the_service_is_down() {
    let mut server = start();
    let Some(nginx) = nginx(&server.http_address) else {
        return;
    };
    assert_eq!(nginx.get("/allowed").status, 200);
    nginx.forwarded();
    server.server.terminate();
    assert_eq!(nginx.get("/allowed").status, 500);
    assert!(nginx.forwarded_nothing());
}
