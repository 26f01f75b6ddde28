//! Calls that may block the evaluating thread, wrapped by a hook of the host.

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use solon::host::{
    HostError, HttpError, HttpErrorKind, HttpRequest, HttpResponse, LookupError, OfflineHost, Wait,
};
use solon::{
    BuiltinContext, BuiltinError, Engine, ErrorKind, Host, HostFunction, Limits, Request, ValueRef,
};

use crate::{decide, kind};

thread_local! {
    /// Number of calls of `org.waits` in this test.
    static CALLED: Cell<u32> = const { Cell::new(0) };
}

/// A server that fails the first requests, and a resolver.
#[derive(Default)]
struct Network {
    sent: AtomicU32,
    looked_up: AtomicU32,
    failures: AtomicU32,
}

impl Host for Network {
    fn now_ns(&self) -> i64 {
        0
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        OfflineHost.fill_random(buffer)
    }

    fn addresses(&self, _: &str, _: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        Ok(vec![IpAddr::from([10, 0, 0, 1])])
    }

    fn send(&self, request: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let failures = self.failures.load(Ordering::SeqCst);
        if failures > 0 {
            self.failures.store(failures - 1, Ordering::SeqCst);
            return Err(HttpError::new(HttpErrorKind::Network, "refused"));
        }
        if request.url.ends_with("/moved") {
            let location = vec![("location".to_owned(), b"http://a/x".to_vec())];
            return Ok(HttpResponse::new(302).headers(location));
        }
        Ok(HttpResponse::new(204))
    }
}

const POLICY: &str = r#"package t
once := http.send({"method": "get", "url": "http://a/x"}).status_code
twice := http.send({"method": "get", "url": "http://a/moved", "enable_redirect": true}).status_code
again := http.send({"method": "get", "url": "http://a/x", "max_retry_attempts": 3}).status_code
caught := http.send({"method": "get", "url": "http://a/x", "raise_error": false}).error
cached := [http.send({"method": "get", "url": "http://a/x", "force_cache": true, "force_cache_duration_seconds": 600}).status_code |
	some _ in [1, 2]
]
either if http.send({"method": "get", "url": "http://a/x"}).status_code == 204
either if true
negated if not http.send({"method": "get", "url": "http://a/x"}).status_code == 204
name := net.lookup_ip_addr("a.example")
address := net.lookup_ip_addr("10.0.0.2")
waits := org.waits("a")
returns := org.returns("a")
offline := count(numbers.range(1, 5000))
"#;

#[expect(clippy::unnecessary_wraps, reason = "functions may fail")]
fn waits<'e>(_: &mut BuiltinContext<'e>, _: &[ValueRef<'e>]) -> Result<ValueRef<'e>, BuiltinError> {
    CALLED.set(CALLED.get() + 1);
    Ok(ValueRef::from(1_i64))
}

#[expect(clippy::unnecessary_wraps, reason = "functions may fail")]
fn returns<'e>(
    _: &mut BuiltinContext<'e>,
    _: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef::from(2_i64))
}

fn network() -> (Arc<Network>, Engine) {
    let network = Arc::new(Network::default());
    let declaration = "name: string => x: number";
    let engine = Engine::builder()
        .host(network.clone())
        .function(
            HostFunction::new("org.waits", declaration, waits)
                .unwrap()
                .waiting(),
        )
        .unwrap()
        .function(HostFunction::new("org.returns", declaration, returns).unwrap())
        .unwrap()
        .build();
    engine.set_module("t.rego", POLICY).unwrap();
    (network, engine)
}

#[test]
fn the_host_runs_each_call_that_may_block() {
    for (path, failures, result, calls) in [
        ("t/once", 0, "204", 1),
        ("t/twice", 0, "204", 2),
        // two tries, two pauses and the last try
        ("t/again", 2, "204", 5),
        ("t/cached", 0, "[204,204]", 1),
        ("t/name", 0, r#"["10.0.0.1"]"#, 1),
        ("t/address", 0, r#"["10.0.0.2"]"#, 0),
        ("t/waits", 0, "1", 1),
        ("t/returns", 0, "2", 0),
        ("t/offline", 0, "5000", 0),
    ] {
        let (network, engine) = network();
        network.failures.store(failures, Ordering::SeqCst);
        let (around, inside) = (Cell::new(0), Cell::new(false));
        let run = |call: &mut dyn FnMut()| {
            around.set(around.get() + 1);
            assert!(!inside.replace(true), "{path}");
            call();
            inside.set(false);
        };
        let request = Request::new().around_host_calls(&run);
        let text = decide(&engine, path, &request).unwrap();
        assert_eq!((&*text, around.get()), (result, calls), "{path}");
        // the same result without a hook
        network.failures.store(failures, Ordering::SeqCst);
        assert_eq!(decide(&engine, path, &Request::new()).unwrap(), result);
    }
}

/// A decision without the result of a call would be a different decision.
#[test]
fn a_call_that_is_not_run_ends_the_evaluation() {
    for path in [
        "t/once",
        "t/twice",
        "t/again",
        "t/caught",
        "t/cached",
        "t/either",
        "t/negated",
        "t/name",
        "t/waits",
        "t",
    ] {
        let (network, engine) = network();
        let leave_out = |_: &mut dyn FnMut()| ();
        let request = Request::new().around_host_calls(&leave_out);
        let error = decide(&engine, path, &request).unwrap_err();
        assert!(error.contains("eval_cancel_error"), "{path}: {error}");
        assert_eq!(kind(&engine, path, &request), ErrorKind::Cancelled);
        assert_eq!(CALLED.get(), 0, "{path}");
        for count in [&network.sent, &network.looked_up] {
            assert_eq!(count.load(Ordering::SeqCst), 0, "{path}");
        }
        let strict = request.strict_builtin_errors(true);
        assert_eq!(kind(&engine, path, &strict), ErrorKind::Cancelled);
    }
}

#[test]
fn only_a_new_call_can_be_skipped_after_others() {
    let (network, engine) = network();
    let left = Cell::new(2);
    let run = |call: &mut dyn FnMut()| {
        if left.replace(left.get() - 1) > 0 {
            call();
        }
    };
    network.failures.store(100, Ordering::SeqCst);
    let request = Request::new().around_host_calls(&run);
    // the first try and its pause
    let error = decide(&engine, "t/again", &request).unwrap_err();
    assert!(error.contains("eval_cancel_error"), "{error}");
    assert_eq!(network.sent.load(Ordering::SeqCst), 1);
}

/// A server that responds after the evaluation has waited.
struct Slow;

impl Host for Slow {
    fn now_ns(&self) -> i64 {
        0
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        OfflineHost.fill_random(buffer)
    }

    fn send(&self, _: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let _ = wait.pause(Duration::from_millis(100));
        Ok(HttpResponse::new(204))
    }
}

/// Thousands of waiting threads would otherwise wake up fifty times a second.
#[test]
fn polls_pause_while_the_host_runs_a_call() {
    let engine = Engine::builder().host(Arc::new(Slow)).build();
    engine
        .set_module(
            "t.rego",
            "package t\nonce := http.send({\"method\": \"get\", \"url\": \"http://a/x\"}).status_code\n",
        )
        .unwrap();
    let (inside, polls, polls_inside) = (Cell::new(false), Cell::new(0), Cell::new(0));
    let poll = || {
        polls.set(polls.get() + 1);
        polls_inside.set(polls_inside.get() + u32::from(inside.get()));
    };
    let run = |call: &mut dyn FnMut()| {
        inside.set(true);
        call();
        inside.set(false);
    };
    let limits = Limits::default().time(Some(Duration::from_mins(10)));
    let request = Request::new().limits(&limits).on_poll(&poll);
    assert_eq!(decide(&engine, "t/once", &request).unwrap(), "204");
    assert!(polls.get() > 0);
    let request = request.around_host_calls(&run);
    assert_eq!(decide(&engine, "t/once", &request).unwrap(), "204");
    assert_eq!(polls_inside.get(), 0);
}
