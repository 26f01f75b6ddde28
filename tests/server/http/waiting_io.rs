//! Decisions that wait for a backend.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::bounds::peak;
use crate::client::{Client, Message, get};
use crate::load::metric;
use crate::process::Server;
use crate::unread::Unread;
use crate::waiting::wait_until;

/// An HTTP server that accepts requests and responds only after it is released.
struct Backend {
    url: String,
    accepted: Arc<AtomicUsize>,
    respond: mpsc::Sender<()>,
}

impl Backend {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let accepted = Arc::<AtomicUsize>::default();
        let (respond, responds) = mpsc::channel();
        let count = accepted.clone();
        std::thread::spawn(move || {
            listener.set_nonblocking(true).unwrap();
            let mut open = Vec::new();
            let mut is_responding = false;
            loop {
                match responds.try_recv() {
                    Ok(()) => is_responding = true,
                    Err(mpsc::TryRecvError::Empty) => {}
                    Err(mpsc::TryRecvError::Disconnected) => return,
                }
                while let Ok((stream, _)) = listener.accept() {
                    count.fetch_add(1, Ordering::SeqCst);
                    open.push(stream);
                }
                if is_responding {
                    for mut stream in open.drain(..) {
                        // a disconnected client has closed its connection
                        let _ = stream
                            .write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
                    }
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self {
            url,
            accepted,
            respond,
        }
    }

    /// Responds to all pending and later requests.
    fn respond(&self) {
        self.respond.send(()).unwrap();
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Returns a policy whose decision `p/remote` waits for the backend, and `p/cheap` does not.
    fn policy(&self) -> String {
        let mut policy = String::from("package p\n\n");
        let send = format!(
            "http.send({{\"method\": \"get\", \"url\": \"{}\", \"timeout\": \"1h\", \"raise_error\": false}}).status_code",
            self.url
        );
        writeln!(policy, "remote := {send}\n").unwrap();
        writeln!(policy, "each := {send} + (input * 0)\n").unwrap();
        writeln!(policy, "unless if not {send} == 200\n").unwrap();
        policy.push_str("cheap := input.n + 1\n");
        policy
    }
}

const REMOTE: &str = "/v1/data/p/remote";

/// Starts a server whose decisions may wait for the whole test.
fn server(backend: &Backend, flags: &[&str]) -> Server {
    let all = [&["--timeout", "1h"], flags].concat();
    Server::start_with(&all, &[("p.rego", &backend.policy())])
}

/// Sends requests without reading the responses, and waits until the decisions wait.
fn wait_in(server: &Server, count: usize) -> Vec<Unread> {
    let asked: Vec<_> = (0..count)
        .map(|_| Unread::get(server.address(), REMOTE))
        .collect();
    wait_until("the decisions wait", || waiting(server) == count);
    asked
}

/// Returns the number of waiting decisions.
fn waiting(server: &Server) -> usize {
    usize::try_from(metric(server.address(), "solon_waiting_decisions")).unwrap()
}

fn cheap(client: &mut Client, n: usize) {
    let ask = Message::new("POST", "/v1/data/p/cheap").body(format!("{{\"input\":{{\"n\":{n}}}}}"));
    let text = client.send(&ask).text();
    assert_eq!(text, format!("{{\"result\":{}}}\n", n + 1));
}

/// Returns the number of decisions for which each process can have a connection to its client and one to the backend.
fn most_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    soft.unwrap().parse::<usize>().unwrap_or(usize::MAX) / 2 - 200
}

#[test]
fn decisions_that_wait_hold_a_little_memory_and_no_permit() {
    let backend = Backend::start();
    let server = server(&backend, &[]);
    let mut client = Client::connect(server.address());
    cheap(&mut client, 0);
    let count = if cfg!(debug_assertions) { 300 } else { 2_000 };
    let count = count.min(most_connections());
    let before = peak(&server);
    let asked = wait_in(&server, count);
    wait_until("the requests come", || backend.accepted() == count);
    for n in 0..100 {
        cheap(&mut client, n);
    }
    assert_eq!(waiting(&server), count);
    assert!(asked.iter().all(Unread::is_unanswered));
    backend.respond();
    wait_until("the decisions end", || {
        asked
            .iter()
            .all(|one| one.response().ends_with("{\"result\":204}\n"))
    });
    let each = (peak(&server) - before) / count;
    // 2,000 within 300 MB; frames of a debug build are several times as large
    let most = if cfg!(debug_assertions) { 600 } else { 150 } << 10;
    assert!(each < most, "{each} bytes for each of {count}");
    assert_eq!(waiting(&server), 0);
    assert_eq!(metric(server.address(), "solon_refused_total"), 0);
}

#[test]
fn waiting_decisions_are_bounded() {
    for bound in [0, 1, 7] {
        let backend = Backend::start();
        let flag = format!("--max-waiting-io={bound}");
        let server = server(&backend, &[&flag]);
        let asked = wait_in(&server, bound);
        for target in [
            REMOTE,
            "/v1/data/p/unless",
            "/v1/data/p",
            "/v1/query?q=data.p.remote=x",
        ] {
            let rejected = get(server.address(), target);
            assert_eq!(rejected.status, 503, "{target}: {}", rejected.text());
            assert_eq!(rejected.header("retry-after"), Some("1"));
            let message = format!(
                "too many decisions wait for `http.send` or other host calls: at most {bound} may (--max-waiting-io)"
            );
            assert!(rejected.text().contains(&message), "{}", rejected.text());
        }
        let batch = Message::new("POST", "/v1/batch/data/p/each")
            .body("{\"inputs\": {\"a\": 1, \"b\": 2}}");
        let rejected = Client::connect(server.address()).send(&batch);
        assert_eq!(rejected.status, 503, "{}", rejected.text());
        // no requests were sent for them; the backend may not have accepted all connections yet
        wait_until("the requests come", || backend.accepted() >= bound);
        assert_eq!(backend.accepted(), bound);
        assert_eq!(metric(server.address(), "solon_refused_total"), 5);
        cheap(&mut Client::connect(server.address()), 1);
        assert!(asked.iter().all(Unread::is_unanswered));
        backend.respond();
        wait_until("the decisions end", || {
            asked
                .iter()
                .all(|one| one.response().contains("{\"result\":204}"))
        });
        if bound > 0 {
            wait_until("there is room for another one", || {
                get(server.address(), REMOTE).status == 200
            });
        }
    }
}

/// A request is not admitted if its authorization could not be decided.
#[test]
fn authorization_that_cannot_wait_rejects_the_request() {
    let backend = Backend::start();
    let policy = format!(
        "package system.authz\n\ndefault allow := true\n\nallow := false if {{\n\tinput.path[0] == \"v1\"\n\t\
         http.send({{\"method\": \"get\", \"url\": \"{}\", \"raise_error\": false}}).status_code == 403\n}}\n",
        backend.url
    );
    let flags = ["--authorization=basic", "--max-waiting-io=0"];
    let server = Server::start_with(&flags, &[("authz.rego", &policy)]);
    let ask = |message: &Message| Client::connect(server.address()).send(message).status;
    for (method, body) in [("GET", ""), ("POST", "{}"), ("PUT", "1"), ("DELETE", "")] {
        let message = Message::new(method, "/v1/data/x").body(body);
        assert_eq!(ask(&message), 503, "{method}");
    }
    assert_eq!(ask(&Message::new("GET", "/health")), 200);
    assert_eq!(backend.accepted(), 0);
}

#[test]
fn changes_do_not_wait_for_the_authorization_of_others() {
    let backend = Backend::start();
    let policy = format!(
        "package system.authz\n\ndefault allow := false\n\nallow if input.path[2] == \"free\"\n\nallow if input.path[0] == \"metrics\"\n\nallow if {{\n\t\
         input.path[2] == \"slow\"\n\thttp.send({{\"method\": \"get\", \"url\": \"{}\", \"timeout\": \"1h\"}}).status_code == 204\n}}\n",
        backend.url
    );
    let flags = [
        "--authorization=basic",
        "--timeout=1h",
        "--max-waiting-io=4",
    ];
    let server = Server::start_with(&flags, &[("authz.rego", &policy)]);
    let free = |method: &str, body: &str| {
        let message = Message::new(method, "/v1/data/free").body(body);
        Client::connect(server.address()).send(&message).status
    };
    assert_eq!(free("PUT", "1"), 204);
    // changes with and without a body
    let slow = [
        ("DELETE", ""),
        ("PUT", "1"),
        ("DELETE", ""),
        ("PATCH", "[]"),
    ];
    let waiting_changes = slow.map(|(method, body)| {
        let length = body.len();
        let head = format!(
            "{method} /v1/data/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}"
        );
        Unread::send(server.address(), format!("{head}\r\n\r\n{body}"))
    });
    wait_until("the authorizations wait", || waiting(&server) == 4);
    let more = Message::new("DELETE", "/v1/data/slow");
    let rejected = Client::connect(server.address()).send(&more);
    assert_eq!(rejected.status, 503, "{}", rejected.text());
    for _ in 0..3 {
        assert_eq!(free("PUT", "2"), 204);
        assert_eq!(free("DELETE", ""), 204);
    }
    assert!(waiting_changes.iter().all(Unread::is_unanswered));
    backend.respond();
    wait_until("the changes end", || {
        waiting_changes
            .iter()
            .all(|one| one.response().starts_with("HTTP/1.1 "))
    });
}

#[test]
fn decisions_stop_waiting_when_their_clients_go() {
    let backend = Backend::start();
    let server = server(&backend, &["--max-waiting-io=20"]);
    let asked = wait_in(&server, 20);
    drop(asked);
    wait_until("no decision waits", || waiting(&server) == 0);
    let asked = wait_in(&server, 20);
    drop(asked);
}

#[test]
fn decisions_stop_waiting_when_their_time_is_up() {
    let backend = Backend::start();
    let server = Server::start_with(&["--timeout=200ms"], &[("p.rego", &backend.policy())]);
    let late = get(server.address(), REMOTE);
    assert_eq!(late.status, 500, "{}", late.text());
    assert!(late.text().contains("eval_cancel_error"), "{}", late.text());
    wait_until("no decision waits", || waiting(&server) == 0);
}

/// Between two attempts nothing is sent, and a decision waits as well.
#[test]
fn pauses_before_a_request_is_sent_again_hold_no_permit() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let policy = format!(
        "package p\n\nremote := http.send({{\"method\": \"get\", \"url\": \"{url}\", \"max_retry_attempts\": 1000}})\n\ncheap := input.n + 1\n"
    );
    let server = Server::start_with(&["--timeout=1h"], &[("p.rego", &policy)]);
    let asked: Vec<_> = (0..50)
        .map(|_| Unread::get(server.address(), REMOTE))
        .collect();
    // each pause is longer than the one before
    wait_until("all decisions wait", || waiting(&server) == 50);
    cheap(&mut Client::connect(server.address()), 1);
    assert!(asked.iter().all(Unread::is_unanswered));
}

#[test]
fn an_admission_review_is_decided_by_the_rules_that_it_began_with() {
    let backend = Backend::start();
    let send = format!(
        "http.send({{\"method\": \"get\", \"url\": \"{}\", \"timeout\": \"1h\"}}).status_code",
        backend.url
    );
    let deny = "package admission\n\ndeny contains \"never\" if false\n";
    let policy = format!("{deny}\nallow if {send} == 200\n");
    let server = Server::start_with(&[], &[("admission.rego", &policy)]);
    let review = "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \
                  \"request\": {\"uid\": \"1\", \"operation\": \"CREATE\"}}";
    let ask = Message::new("POST", "/v0/admission/admission").body(review);
    let address = server.address().to_owned();
    let waiting = std::thread::spawn(move || Client::connect(&address).send(&ask).text());
    wait_until("the review waits", || backend.accepted() == 1);
    // the rule `allow` of the review's snapshot is undefined, and the current snapshot has none
    let put = Message::new("PUT", "/v1/policies/admission.rego").body(deny);
    assert_eq!(Client::connect(server.address()).send(&put).status, 200);
    backend.respond();
    let denied = waiting.join().unwrap();
    assert!(denied.contains("\"allowed\":false"), "{denied}");
    assert!(denied.contains("the object is not allowed"), "{denied}");
    // a review that begins later is decided by the current rules
    let ask = Message::new("POST", "/v0/admission/admission").body(review);
    let admitted = Client::connect(server.address()).send(&ask).text();
    assert!(admitted.contains("\"allowed\":true"), "{admitted}");
}
