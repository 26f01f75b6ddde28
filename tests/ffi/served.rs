//! A server in C that evaluates a policy for each request, and real requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;

use crate::hostile::driven;

/// Sends a request and returns the status and body of the response.
fn send(port: u16, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("it speaks HTTP");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.expect("there is a status"), body.to_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_in_c_evaluates_a_policy_for_each_request() {
    let Some(program) = driven("http") else {
        return;
    };
    let mut server = Command::new(program)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().expect("it is stdout"));
    stdout.read_line(&mut line).expect("it prints its port");
    let port: u16 = line.trim().parse().expect("it prints its port");

    assert_eq!(
        send(port, "POST", "/open/door", "{}"),
        (200, r#"{"allow":true}"#.to_owned())
    );
    assert_eq!(
        send(port, "POST", "/closed", r#"{"roles": ["user"]}"#),
        (403, r#"{"allow":false,"reason":"default"}"#.to_owned())
    );
    assert_eq!(
        send(port, "POST", "/closed", r#"{"roles": ["admin"]}"#).0,
        200
    );
    let (status, body) = send(port, "POST", "/closed", "{");
    assert_eq!(status, 400);
    assert!(body.contains(r#""kind":"input""#), "{body}");
    assert_eq!(send(port, "GET", "/", "").0, 405);

    // a policy that does not compile changes nothing
    let (status, body) = send(port, "PUT", "/policy", "package http.authz\ndecision := x");
    assert_eq!(status, 400);
    assert!(body.contains("rego_unsafe_var_error"), "{body}");
    assert_eq!(send(port, "POST", "/open/door", "{}").0, 200);

    // many concurrent requests, while policies are replaced
    let closed = "package http.authz\ndecision := {\"allow\": false}";
    let open = "package http.authz\ndecision := {\"allow\": true}";
    let askers: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                for _ in 0..50 {
                    let (status, body) = send(port, "POST", "/x", "{}");
                    let allowed = body.contains("true");
                    assert_eq!(status, if allowed { 200 } else { 403 }, "{body}");
                }
            })
        })
        .collect();
    for at in 0..20 {
        let policy = if at % 2 == 0 { closed } else { open };
        assert_eq!(send(port, "PUT", "/policy", policy).0, 200);
    }
    for asker in askers {
        asker.join().expect("each answer fits its policy");
    }
    assert_eq!(send(port, "POST", "/x", "{}").0, 200);
    // an evaluation that exceeds its time limit is not a permission
    let long = "package http.authz\nxs := numbers.range(1, 100000)\n\
                decision := {\"allow\": true} if { some i in xs; some j in xs; i + j < 0 }";
    assert_eq!(send(port, "PUT", "/policy", long).0, 200);
    let (status, body) = send(port, "POST", "/x", "{}");
    assert_eq!(status, 500);
    assert!(body.contains("time limit"), "{body}");

    assert_eq!(send(port, "DELETE", "/", "").0, 200);
    assert!(server.wait().expect("it ends").success());
}
