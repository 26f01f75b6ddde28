//! Calls of policies to the host environment, with a fixed host.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "host_calls/blocking.rs"]
mod blocking;
#[path = "host_calls/defaults.rs"]
mod defaults;
#[path = "host_calls/host_calls.rs"]
mod host_calls;
#[path = "host_calls/input_reads.rs"]
mod input_reads;
#[path = "host_calls/replay.rs"]
mod replay;
#[path = "../time/waiting.rs"]
mod waiting;
#[path = "host_calls/with_memo.rs"]
mod with_memo;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, Wait};
use solon::internal::value::json;
use solon::{
    Cancel, Engine, Error, ErrorKind, FixedHost, Host, Limits, NdBuiltinCache, PartialOptions,
    Path, Request, Value,
};

fn answer(headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).into(), (*value).into()));
    let answer = HttpResponse::new(200).reason("OK");
    answer.headers(headers.collect()).body(body)
}

fn engine(host: impl Host + 'static, module: &str) -> Engine {
    engine_with(Arc::new(host), module)
}

fn engine_with(host: Arc<dyn Host>, module: &str) -> Engine {
    let engine = Engine::builder().host(host).build();
    engine.set_module("t.rego", module).unwrap();
    engine
}

/// Returns the JSON of a document, or the error.
fn decide(engine: &Engine, path: &str, request: &Request<'_>) -> Result<String, String> {
    let document = engine.document(&Path::from_slashes(path));
    match document.evaluate_json(request) {
        Ok(Some(text)) => Ok(String::from_utf8(text).unwrap()),
        Ok(None) => Err("undefined".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the kind of the error that ends an evaluation.
fn kind(engine: &Engine, path: &str, request: &Request<'_>) -> ErrorKind {
    let document = engine.document(&Path::from_slashes(path));
    document.evaluate_json(request).unwrap_err().kind()
}

const SEND: &str = r#"package t
p := http.send({"method": "get", "url": "http://a/x"})
failed := http.send({"method": "get", "url": "http://a/none", "raise_error": false}).error
"#;

#[test]
fn responses_are_values() {
    let headers = [
        ("Content-Type", "application/json"),
        ("X-A", "1"),
        ("x-a", "2"),
    ];
    let host = FixedHost::default().with_response("GET", "http://a/x", Ok(answer(&headers, "[1]")));
    let engine = engine(host, SEND);
    assert_eq!(
        decide(&engine, "t/p", &Request::new()).unwrap(),
        r#"{"body":[1],"headers":{"content-type":["application/json"],"x-a":["1","2"]},"raw_body":"[1]","status":"200 OK","status_code":200}"#
    );
    assert_eq!(
        decide(&engine, "t/failed", &Request::new()).unwrap(),
        r#"{"code":"eval_http_send_network_error","message":"Get \"http://a/none\": no response is recorded"}"#
    );
}

/// A host that counts calls.
#[derive(Default)]
struct Counting {
    requests: AtomicU32,
    cache_control: &'static str,
    now_ns: Arc<std::sync::atomic::AtomicI64>,
}

impl Host for Counting {
    fn now_ns(&self) -> i64 {
        self.now_ns.load(Ordering::SeqCst)
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(0);
        Ok(())
    }

    fn send(&self, request: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let known = request
            .headers
            .iter()
            .find(|(name, _)| name == "If-None-Match");
        let headers = [
            ("Date", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("Cache-Control", self.cache_control),
            ("Etag", "tag"),
        ];
        let mut answer = answer(&headers, &number.to_string());
        if known.is_some() {
            answer.status = 304;
        }
        Ok(answer)
    }
}

fn bodies(engine: &Engine, path: &str) -> String {
    decide(engine, path, &Request::new()).unwrap()
}

#[test]
fn equal_requests_of_an_evaluation_are_sent_once() {
    let host = Arc::new(Counting::default());
    let engine = engine_with(
        host.clone(),
        r#"package t
p := [http.send({"method": "get", "url": "http://a/x", "headers": {"n": n}, "cache_ignored_headers": i}).raw_body |
    some [n, i] in [["1", []], ["1", ["x"]], ["2", []], ["3", ["n"]], ["4", ["n"]]]
]"#,
    );
    assert_eq!(bodies(&engine, "t/p"), r#"["0","0","1","2","2"]"#);
    assert_eq!(bodies(&engine, "t/p"), r#"["3","3","4","5","5"]"#);
}

#[test]
fn responses_are_cached_while_they_are_fresh() {
    let host = Arc::new(Counting {
        cache_control: "max-age=10",
        ..Counting::default()
    });
    let engine = engine_with(
        host.clone(),
        r#"package t
p := http.send({"method": "get", "url": "http://a/x", "cache": true, "force_json_decode": true}).body
d := http.send({"method": "get", "url": "http://a/x", "cache": true, "force_json_decode": true, "caching_mode": "deserialized"}).body
f := http.send({"method": "get", "url": "http://a/x", "force_cache": true, "force_cache_duration_seconds": 100, "force_json_decode": true}).body"#,
    );
    let all = || {
        ["t/p", "t/d", "t/f"]
            .map(|path| bodies(&engine, path))
            .join(" ")
    };
    assert_eq!(all(), "0 1 2");
    assert_eq!(all(), "0 1 2");
    assert_eq!(host.requests.load(Ordering::SeqCst), 3);
    // stale: revalidated, and not modified
    host.now_ns.store(10_000_000_000, Ordering::SeqCst);
    assert_eq!(all(), "0 1 2");
    assert_eq!(host.requests.load(Ordering::SeqCst), 5);
    host.now_ns.store(100_000_000_000, Ordering::SeqCst);
    assert_eq!(bodies(&engine, "t/f"), "2");
    assert_eq!(host.requests.load(Ordering::SeqCst), 6);
    assert_eq!(bodies(&engine, "t/f"), "2");
    assert_eq!(host.requests.load(Ordering::SeqCst), 6);
}

#[test]
fn servers_may_forbid_caching() {
    let host = Arc::new(Counting {
        cache_control: "no-store",
        ..Counting::default()
    });
    let engine = engine_with(
        host,
        r#"package t
p := http.send({"method": "get", "url": "http://a/x", "cache": true}).raw_body
f := http.send({"method": "get", "url": "http://a/x", "force_cache": true, "force_cache_duration_seconds": 9}).raw_body"#,
    );
    let both = || ["t/p", "t/f"].map(|path| bodies(&engine, path)).join(" ");
    assert_eq!(both(), r#""0" "1""#);
    assert_eq!(both(), r#""2" "1""#);
}

#[test]
fn results_of_nondeterministic_builtins_are_recorded() {
    let mut host = FixedHost::at_time(5).with_response("GET", "http://a/x", Ok(answer(&[], "b")));
    host.addresses
        .insert("h".into(), vec!["10.0.0.1".parse().unwrap()]);
    let engine = engine(
        host,
        r#"package t
p := [http.send({"method": "get", "url": "http://a/x"}).raw_body, time.now_ns(), net.lookup_ip_addr("h"), net.lookup_ip_addr("none")]
q := [time.now_ns(), net.lookup_ip_addr("h")]
m := x if x := time.now_ns() with time.now_ns as 7"#,
    );
    let cache = NdBuiltinCache::default();
    let request = Request::new().nd_builtin_cache(&cache);
    assert_eq!(decide(&engine, "t/m", &request).unwrap(), "7");
    assert!(cache.is_empty());
    assert_eq!(decide(&engine, "t/p", &request), Err("undefined".into()));
    let mut text = Vec::new();
    json::write(cache.to_value().borrow(), &mut text);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        r#"{"http.send":{"[{\"method\":\"get\",\"url\":\"http://a/x\"}]":{"body":null,"headers":{},"raw_body":"b","status":"200 OK","status_code":200}},"net.lookup_ip_addr":{"[\"h\"]":["10.0.0.1"]},"time.now_ns":{"[]":5}}"#
    );
    // replayed from the cache by another evaluation
    let old = NdBuiltinCache::from_value(&cache.to_value());
    let bare = Engine::new();
    bare.set_module(
        "t.rego",
        "package t\nq := [time.now_ns(), net.lookup_ip_addr(\"h\")]",
    )
    .unwrap();
    let request = Request::new().nd_builtin_cache(&old);
    assert_eq!(
        decide(&bare, "t/q", &request).unwrap(),
        r#"[5,["10.0.0.1"]]"#
    );
}

#[test]
fn the_address_of_a_request_is_read_late() {
    let engine = Engine::new();
    for (fields, wanted) in [
        (
            r#""method": "BAD METHOD", "url": "://""#,
            r#"net/http: invalid method "BAD METHOD""#,
        ),
        (
            r#""method": "get", "url": "://", "force_json_decode": 5"#,
            r#"parse "://": missing protocol scheme"#,
        ),
        (
            r#""method": "get", "url": "http://%zz", "tls_ca_cert": "b""#,
            "could not append certificates",
        ),
        (
            r#""method": "get", "url": "http://a", "headers": {"a": 5}, "raw_body": 1"#,
            r#""raw_body" must be a string"#,
        ),
        (
            r#""method": "get", "url": "http://%zz", "headers": {"a": 5}"#,
            r#"parse "http://%zz": invalid URL escape "%zz""#,
        ),
        (
            r#""method": 5, "url": "://", "force_yaml_decode": 5"#,
            r#""method" must be a string"#,
        ),
    ] {
        let query = engine.prepare_query(&format!("http.send({{{fields}}})"));
        let request = Request::new().strict_builtin_errors(true);
        let error = query.unwrap().solutions(&request).unwrap_err();
        let message = error.entries().remove(0).message;
        assert_eq!(message, format!("http.send: {wanted}"), "{fields}");
    }
}

/// A host that never responds, and sends a message for each request.
struct Silent(mpsc::SyncSender<()>);

impl Host for Silent {
    fn now_ns(&self) -> i64 {
        0
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(0);
        Ok(())
    }

    fn send(&self, _: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let mut kept = None;
        let _ = self.0.try_send(());
        wait.reply(|reply| kept = Some(reply))
            .map_err(HttpError::from)
    }
}

/// The requests of this policy would take ten minutes if evaluations did not end before.
#[test]
fn no_wait_is_longer_than_its_evaluation() {
    let (sends, sent) = mpsc::sync_channel(1);
    let engine = engine(
        Silent(sends),
        r#"package t
p := http.send({"method": "get", "url": "http://a/x", "raise_error": false, "timeout": "10m"})
late := http.send({"method": "get", "url": "http://a/x", "timeout": "20ms"})
again := http.send({"method": "get", "url": "http://a/x", "timeout": "1ms", "max_retry_attempts": 1000})"#,
    );
    let waiting = waiting::Waiting::until("requests end with their evaluation");
    let strict = Request::new().strict_builtin_errors(true);
    assert_eq!(
        decide(&engine, "t/late", &strict).unwrap_err(),
        "t.rego:3: eval_builtin_error: http.send: Get http://a/x: request timed out"
    );
    let limits = Limits::default().time(Some(Duration::from_millis(30)));
    for path in ["t/p", "t/again"] {
        let end = decide(&engine, path, &Request::new().limits(&limits)).unwrap_err();
        assert!(
            end.ends_with("eval_cancel_error: http.send: timed out (context deadline exceeded)"),
            "{end}"
        );
        assert_eq!(
            kind(&engine, path, &Request::new().limits(&limits)),
            ErrorKind::Timeout
        );
    }
    let cancel = Cancel::default();
    let handle = cancel.clone();
    while sent.try_recv().is_ok() {}
    let stop = std::thread::spawn(move || {
        sent.recv().unwrap();
        handle.cancel();
    });
    let end = decide(&engine, "t/p", &Request::new().cancel(&cancel)).unwrap_err();
    assert!(
        end.ends_with("eval_cancel_error: http.send: timed out (context canceled)"),
        "{end}"
    );
    stop.join().unwrap();
    assert_eq!(
        kind(&engine, "t/p", &Request::new().cancel(&cancel)),
        ErrorKind::Cancelled
    );
    waiting.check();
}

#[test]
fn the_text_of_an_error_value_names_its_location() {
    let engine = engine(
        FixedHost::default(),
        "package t\n\np := http.send({\"method\": \"get\", \"url\": 1, \"raise_error\": false}).error.message",
    );
    assert_eq!(
        decide(&engine, "t/p", &Request::new()).unwrap(),
        r#""t.rego:3: eval_builtin_error: http.send: \"url\" must be a string""#
    );
}

#[test]
fn errors_have_their_code() {
    let engine = engine(
        FixedHost::default(),
        "package t\n\np := net.lookup_ip_addr(\"none\")",
    );
    let document = engine.prepare_document("data.t.p").unwrap();
    let error = document.evaluate(&Request::new().strict_builtin_errors(true));
    let Err(Error::Eval(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.code.as_str(), "eval_builtin_error");
    assert_eq!(
        error.message,
        "net.lookup_ip_addr: lookup none: no such host"
    );
    assert_eq!(document.evaluate(&Request::new()).unwrap(), None::<Value>);
}

#[test]
fn partial_evaluation_calls_the_host_only_if_configured() {
    let host =
        FixedHost::default().with_response("GET", "http://a/x", Ok(answer(&[], "{\"p\": \"x\"}")));
    let policy = r#"package t
p if input.x == http.send({"method": "get", "url": "http://a/x", "force_json_decode": true}).body.p
q if http.send({"method": "get", "url": input.url}).status_code == 200
"#;
    let engine = engine(host, policy);
    let left = |query: &str, told: bool| {
        let options = PartialOptions::default()
            .unknowns(vec!["input.x".into(), "input.url".into()])
            .nondeterministic_builtins(told);
        let left = engine.partial(query, &options, &Request::new()).unwrap();
        left.query_texts().join("\n")
    };
    assert_eq!(left("data.t.p = true", true), "\"x\" = input.x");
    let sent =
        "http.send({\"force_json_decode\": true, \"method\": \"get\", \"url\": \"http://a/x\"}, ";
    assert!(left("data.t.p = true", false).starts_with(sent));
    // unknown requests are not sent
    assert!(
        left("data.t.q = true", true)
            .starts_with("http.send({\"method\": \"get\", \"url\": input.url}, ")
    );
}

/// A server that redirects to the next address so many times.
struct Chain(usize);

impl Host for Chain {
    fn now_ns(&self) -> i64 {
        0
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(0);
        Ok(())
    }

    fn send(&self, request: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let at: usize = request.url.rsplit('/').next().unwrap().parse().unwrap();
        let next = format!("/{}", at + 1);
        let mut answer = answer(&[("Location", &next)], "");
        if at < self.0 {
            answer.status = 302;
        }
        Ok(answer)
    }
}

#[test]
fn chains_of_redirections_end() {
    let module = r#"package t
p := http.send({"method": "get", "url": "http://a/0", "enable_redirect": true}).status_code
"#;
    let status = |redirections: usize| {
        let request = Request::new().strict_builtin_errors(true);
        decide(&engine(Chain(redirections), module), "t/p", &request)
    };
    let longest = solon::internal::limits::REDIRECTIONS - 1;
    assert_eq!(status(longest).unwrap(), "200");
    let refused = status(longest + 1).unwrap_err();
    assert!(refused.contains("stopped after 100 redirects"), "{refused}");
}
