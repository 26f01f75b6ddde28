//! The search for the error of a failed evaluation calls the host for nothing a second time, and shares one budget with
//! it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, Wait};
use solon::internal::builtins::{BuiltinError, HostFunction};
use solon::internal::value::ValueRef;
use solon::{Engine, Host, Limits, Request};

use crate::decide;

/// A host whose clock changes with each read, and whose requests fail.
#[derive(Default)]
struct Restless {
    reads: AtomicI64,
    sent: AtomicU32,
}

impl Host for Restless {
    fn now_ns(&self) -> i64 {
        self.reads.fetch_add(1, Ordering::SeqCst)
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(0);
        Ok(())
    }

    fn send(&self, _: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        Err(HttpError::network("connection refused by the test"))
    }
}

/// Increments a counter and returns its previous value.
fn count<'e>(requests: &AtomicU32) -> ValueRef<'e> {
    ValueRef::from(i64::from(requests.fetch_add(1, Ordering::SeqCst)))
}

#[test]
fn each_host_call_runs_once() {
    let host = Arc::new(Restless::default());
    let asked = Arc::new(AtomicU32::new(0));
    let (first, second) = (asked.clone(), asked.clone());
    let refusing = asked.clone();
    let engine = Engine::builder()
        .host(host.clone())
        .function(
            HostFunction::new("next", "=> n: number", move |_, _| Ok(count(&first)))
                .unwrap()
                .without_memo(),
        )
        .unwrap()
        .function(
            HostFunction::new("waits", "x: any => n: number", move |_, _| {
                Ok(count(&second))
            })
            .unwrap()
            .waiting(),
        )
        .unwrap()
        .function(
            HostFunction::new("refuses", "x: any => n: number", move |_, _| {
                refusing.fetch_add(1, Ordering::SeqCst);
                Err(BuiltinError::error("not today"))
            })
            .unwrap()
            .waiting(),
        )
        .unwrap()
        .build();
    let policy = r#"package t
conflict := 1 if { next() == 0; next() == 1; waits("a") == 2 }
conflict := 2 if { waits("a") == 2 }
refused := refuses("x")
clock := time.now_ns()
late := 1 if clock == 0
late := 2 if clock == 0
answer := http.send({"method": "get", "url": "http://a/", "raise_error": true})
"#;
    engine.set_module("t.rego", policy).unwrap();
    let strict = Request::new().strict_builtin_errors(true);
    let failed = |path| decide(&engine, path, &strict).unwrap_err();
    let conflict = failed("t/conflict");
    assert!(conflict.contains("eval_conflict_error"), "{conflict}");
    assert!(
        conflict.contains("  1 at t.rego:2\n  2 at t.rego:3"),
        "{conflict}"
    );
    assert_eq!(asked.swap(0, Ordering::SeqCst), 3);
    assert!(failed("t/refused").contains("t.rego:4: eval_builtin_error: refuses: not today"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(failed("t/late").contains("t.rego:7: eval_conflict_error"));
    assert_eq!(host.reads.load(Ordering::SeqCst), 1);
    assert!(failed("t/answer").contains("connection refused by the test"));
    assert_eq!(host.sent.load(Ordering::SeqCst), 1);
}

#[test]
fn a_failed_evaluation_spends_one_budget() {
    let engine = Engine::new();
    let policy = "package t
slow(x) := count([y | some y in numbers.range(1, 100000); y % 7 == x])
p := 1 if slow(3) > 0
p := 2 if slow(4) > 0
";
    engine.set_module("t.rego", policy).unwrap();
    let steps_of = |steps: u64| {
        let looks = Cell::new(0_u64);
        let count = || looks.set(looks.get() + 1);
        let limits = Limits::default().steps(Some(steps));
        let request = Request::new().limits(&limits).on_poll(&count);
        (decide(&engine, "t/p", &request), looks.get())
    };
    let (free, looks) = steps_of(u64::MAX);
    assert!(free.unwrap_err().contains("eval_conflict_error"));
    // enough for the evaluation, too little for the search after it
    let enough = looks * 1024 * 6 / 10;
    let (error, looks) = steps_of(enough);
    assert!(error.unwrap_err().contains("eval_conflict_error"));
    assert!(
        looks <= enough / 1024 + 2,
        "{looks} looks for {enough} steps"
    );
}
