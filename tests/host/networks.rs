//! Requests that would leave the public internet, with a host that denies them.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value as Json;
use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon::{Capabilities, CompilerOptions, Engine, Host, Request, Version};
use solon_host::{RestrictedHost, SystemHost};

use crate::engine::{decide, engine_with, module};
use crate::server::Server;

fn restricted() -> RestrictedHost {
    RestrictedHost::new().deny_private_networks()
}

fn send(url: &str, fields: &str) -> String {
    format!("http.send({{\"method\": \"get\", \"url\": \"{url}\"{fields}}})")
}

fn message(url: &str) -> String {
    let expression = format!("{}.error.message", send(url, ", \"raise_error\": false"));
    match decide(&engine_with(restricted(), &expression), &Request::new()) {
        Ok(Json::String(message)) => message,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn servers_of_this_machine_are_denied_in_every_spelling() {
    let server = Server::start();
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "[::]",
        "user:password@127.0.0.1",
    ] {
        let message = message(&format!("http://{host}:{port}/echo"));
        let is_denied = message.starts_with("Get \"http://")
            && message.contains(": dial tcp ")
            && message.contains(": private networks are denied (");
        assert!(is_denied, "{host}: {message}");
    }
    assert_eq!(server.count(), 0);
    assert_eq!(
        message(&server.url("/echo")),
        format!(
            "Get \"{}\": dial tcp {}: private networks are denied (loopback)",
            server.url("/echo"),
            server.address
        )
    );
}

#[test]
fn other_networks_that_are_not_public_are_denied() {
    for (host, want) in [
        (
            "169.254.169.254",
            "169.254.169.254:80: private networks are denied (metadata service)",
        ),
        (
            "[fd00:ec2::254]",
            "[fd00:ec2::254]:80: private networks are denied (metadata service)",
        ),
        (
            "10.0.0.1",
            "10.0.0.1:80: private networks are denied (private)",
        ),
        (
            "[fe80::1]",
            "[fe80::1]:80: private networks are denied (link-local)",
        ),
        (
            "[64:ff9b::a00:1]",
            "[64:ff9b::a00:1]:80: private networks are denied (private)",
        ),
        (
            "224.0.0.1",
            "224.0.0.1:80: private networks are denied (multicast)",
        ),
    ] {
        let message = message(&format!("http://{host}/"));
        assert!(message.ends_with(want), "{host}: {message}");
    }
    let secure = message("https://127.0.0.1:1/");
    assert!(
        secure.ends_with("dial tcp 127.0.0.1:1: private networks are denied (loopback)"),
        "{secure}"
    );
}

#[test]
fn a_denied_request_is_an_error_of_the_function() {
    let server = Server::start();
    let engine = engine_with(restricted(), &send(&server.url("/echo"), ""));
    let error = decide(&engine, &Request::new()).unwrap_err();
    let want = "private networks are denied (loopback)";
    assert!(
        error.starts_with("eval_builtin_error: http.send: ") && error.ends_with(want),
        "{error}"
    );
    let code = format!(
        "{}.error.code",
        send(&server.url("/echo"), ", \"raise_error\": false")
    );
    let code = decide(&engine_with(restricted(), &code), &Request::new());
    assert_eq!(code, Ok("eval_http_send_network_error".into()));
    assert_eq!(server.count(), 0);
}

/// A connection that an unrestricted host left open is not used.
#[test]
fn open_connections_of_other_hosts_are_not_shared() {
    let server = Server::start();
    let expression = format!("{}.raw_body", send(&server.url("/number"), ""));
    let others = RestrictedHost::new().expose_variables::<&str>([]);
    let (open, denied) = (
        engine_with(others, &expression),
        engine_with(restricted(), &expression),
    );
    for turn in 0..3 {
        let number = decide(&open, &Request::new());
        assert_eq!(number, Ok(turn.to_string().into()));
        let error = decide(&denied, &Request::new()).unwrap_err();
        assert!(error.contains("private networks are denied"), "{error}");
    }
    assert_eq!(server.count(), 3);
}

/// Answers the first request of a chain as a public server would, and leaves the others to the restricted host.
struct Redirecting {
    location: String,
}

impl Host for Redirecting {
    fn now_ns(&self) -> i64 {
        SystemHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        SystemHost.fill_random(buffer)
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        SystemHost.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        if request.host == "public.test" {
            let location = ("location".to_owned(), self.location.clone().into_bytes());
            return Ok(HttpResponse::new(302).headers(vec![location]));
        }
        restricted().send(request, wait)
    }
}

#[test]
fn redirections_are_denied_as_well() {
    let server = Server::start();
    let port = server.address.port();
    for location in [
        server.url("/echo"),
        format!("http://localhost:{port}/echo"),
        format!("//127.0.0.1:{port}/echo"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        let host = Redirecting {
            location: location.clone(),
        };
        let fields = ", \"enable_redirect\": true, \"raise_error\": false";
        let expression = format!("{}.error.message", send("http://public.test/", fields));
        let message = decide(&engine_with(host, &expression), &Request::new())
            .unwrap()
            .to_string();
        assert!(
            message.contains("private networks are denied ("),
            "{location}: {message}"
        );
    }
    assert_eq!(server.count(), 0);
}

#[cfg(unix)]
#[test]
fn unix_sockets_are_denied() {
    let path = std::env::temp_dir().join(format!("solon-networks-{}", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let shown = path.display().to_string();
    let message = message(&format!(
        "unix://localhost/x?socket={}",
        shown.replace('/', "%2F")
    ));
    let want = format!("dial unix {shown}: private networks are denied (Unix socket)");
    assert!(message.ends_with(&want), "{message}");
    let connected = listener.accept();
    assert!(connected.is_err(), "{connected:?}");
    std::fs::remove_file(path).unwrap();
}

/// The hosts that capabilities allow are checked by name, and in addition.
#[test]
fn allowed_hosts_are_denied_as_well() {
    let server = Server::start();
    let allowed =
        Capabilities::current(Version::V1).with_allow_net(Some(vec!["127.0.0.1".to_owned()]));
    let engine = Engine::builder()
        .compiler(CompilerOptions::default().capabilities(Some(Arc::new(allowed))))
        .host(Arc::new(restricted()))
        .build();
    for (url, want) in [
        (
            server.url("/echo"),
            "private networks are denied (loopback)",
        ),
        ("http://a.test/".to_owned(), "disallowed host: a.test"),
    ] {
        engine
            .set_module("t.rego", &module(&send(&url, "")))
            .unwrap();
        let error = decide(&engine, &Request::new()).unwrap_err();
        assert!(error.ends_with(want), "{error}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn names_without_addresses_stay_errors_of_the_lookup() {
    let message = message("http://no-such-name.invalid/");
    assert!(
        message.contains("dial tcp: lookup no-such-name.invalid: "),
        "{message}"
    );
}
