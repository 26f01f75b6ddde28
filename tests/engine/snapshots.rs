//! A decision reads one snapshot of its engine, and prepared handles compile again after changes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "snapshots/loading.rs"]
mod loading;
#[path = "snapshots/origins.rs"]
mod origins;
#[path = "snapshots/stores.rs"]
mod stores;
#[path = "../time/waiting.rs"]
mod waiting;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use solon::store::Path;
use solon::trace::{Detail, Timer};
use solon::{Change, Engine, Error, PartialOptions, Request, TraceLines, Value};

/// Returns a policy and a document that both contain the same number.
fn matching(number: u64) -> Change {
    let mut change = Change::default();
    let module = format!(
        "package p\n\nrule := {number}\n\nanswer := [rule, data.number]\n\nleft if input.x == [rule, data.number]\n"
    );
    change.set_module("p.rego", &module);
    change.put(
        Path::from_slashes("number"),
        Value::from(number.cast_signed()),
    );
    change
}

fn started() -> Engine {
    let engine = Engine::new();
    engine.apply(matching(0)).unwrap();
    engine
}

fn pair(value: &Value) -> u64 {
    let text = value.rego_text().to_string();
    let mut numbers = text
        .trim_matches(['[', ']'])
        .split(", ")
        .map(|one| one.parse::<u64>().unwrap());
    let (rule, data) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert_eq!(
        rule, data,
        "a new policy with an old document, or the other way round"
    );
    rule
}

/// Returns a closure for each way to evaluate the document.
fn askers(engine: &Engine) -> Vec<Box<dyn Fn() -> u64 + Send + Sync>> {
    let document = engine.prepare_document("data.p.answer").unwrap();
    let query = engine.prepare_query("x := data.p.answer").unwrap();
    let partial = engine
        .prepare_partial("data.p.left", &PartialOptions::default())
        .unwrap();
    let explained = query.clone();
    let pinned = (engine.clone(), document.clone());
    vec![
        Box::new(move || pair(&document.evaluate(&Request::new()).unwrap().unwrap())),
        Box::new(move || pair(&query.solutions(&Request::new()).unwrap()[0].bindings[0].1)),
        Box::new(move || {
            let text = partial
                .evaluate(&Request::new())
                .unwrap()
                .query_texts()
                .remove(0);
            let numbers = text.split_once('[').unwrap().1.split_once(']').unwrap().0;
            let (rule, data) = numbers.split_once(", ").unwrap();
            assert_eq!(rule, data);
            rule.parse().unwrap()
        }),
        Box::new(move || {
            let explanation = explained.explain(&Request::new(), Detail::Full);
            pair(&explanation.result.unwrap()[0].bindings[0].1)
        }),
        Box::new(move || {
            let (engine, document) = &pinned;
            let snapshot = engine.snapshot();
            let request = Request::new().snapshot(&snapshot);
            let first = pair(&document.evaluate(&request).unwrap().unwrap());
            assert_eq!(
                snapshot
                    .read("data.number")
                    .unwrap()
                    .rego_text()
                    .to_string(),
                first.to_string()
            );
            assert_eq!(
                pair(
                    &document
                        .pin_to(&snapshot)
                        .evaluate(&request)
                        .unwrap()
                        .unwrap()
                ),
                first
            );
            first
        }),
    ]
}

#[test]
fn results_belong_to_one_change() {
    const CHANGES: u64 = 2_000;
    let engine = started();
    let latest = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (latest, done) = (&latest, &done);
        for ask in askers(&engine) {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let before = latest.load(Ordering::SeqCst);
                    assert!(ask() >= before, "a change that was applied is not seen");
                }
                assert_eq!(ask(), CHANGES);
            });
        }
        for number in 1..=CHANGES {
            engine.apply(matching(number)).unwrap();
            latest.store(number, Ordering::SeqCst);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(engine.generation(), CHANGES + 1);
}

#[test]
fn handles_recover() {
    let engine = Engine::new();
    engine
        .set_module("p.rego", "package p\n\nf(x) := x + 1\n")
        .unwrap();
    let query = engine.prepare_query("x := data.p.f(1)").unwrap();
    let options = PartialOptions::default();
    let partial = engine
        .prepare_partial("data.p.f(input) == 1", &options)
        .unwrap();
    let x = || {
        query
            .solutions(&Request::new())
            .map(|found| found[0].bindings[0].1.rego_text().to_string())
    };
    assert_eq!(x().unwrap(), "2");
    engine
        .set_module("p.rego", "package p\n\nf(x) := x + 2\n")
        .unwrap();
    assert_eq!(x().unwrap(), "3");
    engine
        .set_module("p.rego", "package p\n\ng(x) := x\n")
        .unwrap();
    for _ in 0..2 {
        assert!(matches!(x(), Err(Error::Compile(_))));
        assert!(matches!(
            partial.evaluate(&Request::new()),
            Err(Error::Compile(_))
        ));
        assert!(matches!(query.pin(), Err(Error::Compile(_))));
        let explanation = query.explain(&Request::new(), Detail::Full);
        assert!(matches!(explanation.result, Err(Error::Compile(_))));
        assert!(
            explanation
                .lines(TraceLines::default().locations(true).variables(true))
                .unwrap()
                .is_empty()
        );
    }
    engine
        .set_module("p.rego", "package p\n\nf(x) := x + 3\n")
        .unwrap();
    assert_eq!(x().unwrap(), "4");
    assert_eq!(
        partial
            .evaluate(&Request::new())
            .unwrap()
            .query_texts()
            .len(),
        1
    );
}

#[test]
fn prepared_documents_are_compiled_again() {
    let engine = Engine::new();
    let document = engine.prepare_document("data.a.b.c").unwrap();
    let now = || {
        document
            .evaluate(&Request::new())
            .unwrap()
            .map(|value| value.rego_text().to_string())
    };
    assert_eq!((now(), document.has_rules()), (None, false));
    engine
        .put(
            "data.a",
            Value::object(vec![(
                "b".into(),
                Value::object(vec![("c".into(), 1.into())]),
            )]),
        )
        .unwrap();
    assert_eq!((now().as_deref(), document.has_rules()), (Some("1"), false));
    engine.remove("data.a").unwrap();
    let earlier = engine.snapshot();
    for (module, want) in [
        ("package a.b\n\nc := 2\n", Some("2")),
        ("package a\n\nb := {\"c\": 3}\n", Some("3")),
        ("package a\n\nb[x] := 4 if some x in [\"c\"]\n", Some("4")),
        ("package a.b.c\n\nd := 5\n", Some("{\"d\": 5}")),
        ("package a.b\n\nd := 6\n", None),
    ] {
        engine.set_module("a.rego", module).unwrap();
        assert_eq!(now().as_deref(), want, "{module}");
        assert_eq!(document.has_rules(), want.is_some(), "{module}");
        let before = document
            .evaluate(&Request::new().snapshot(&earlier))
            .unwrap();
        assert_eq!(before, None, "an earlier snapshot has no rules");
        assert_eq!(now().as_deref(), want, "{module}");
    }
}

#[test]
fn metadata_and_results_of_one_snapshot() {
    let engine = Engine::new();
    engine
        .set_module("p.rego", "package p\n\nx := 1\n")
        .unwrap();
    let document = engine.prepare_document("data.p.x").unwrap();
    let query = engine.prepare_query("y := data.p.x").unwrap();
    let (bound, asked) = (document.pin(), query.pin().unwrap());
    let blocking =
        "package p\n\nx := http.send({\"url\": \"http://localhost\", \"method\": \"get\"})\n";
    engine.set_module("p.rego", blocking).unwrap();
    assert!(document.may_block() && query.may_block());
    assert!(!bound.may_block() && !asked.may_block());
    assert_eq!(bound.evaluate(&Request::new()).unwrap(), Some(1.into()));
    assert_eq!(
        asked.solutions(&Request::new()).unwrap()[0].bindings[0].1,
        1
    );
    assert!(bound.snapshot().generation() < engine.generation());
}

/// Readers do not wait for a compilation.
#[test]
fn readers_do_not_wait_for_writers() {
    let engine = started();
    let document = engine.prepare_document("data.p.answer").unwrap();
    let called = Cell::new(0);
    let listener = |_: &str, _: std::time::Duration| {
        called.set(called.get() + 1);
        assert_eq!(engine.module_names(), ["p.rego"]);
        assert_eq!(engine.modules().len(), 1);
        assert_eq!(
            pair(&document.evaluate(&Request::new()).unwrap().unwrap()),
            0
        );
    };
    engine
        .apply_with::<Error>(|_| Ok(matching(1)), Timer::new(&listener))
        .unwrap();
    assert!(called.get() > 5);
    assert_eq!(
        pair(&document.evaluate(&Request::new()).unwrap().unwrap()),
        1
    );
}

/// Idle handles and idle threads keep few earlier policies alive.
#[test]
fn earlier_policies_are_freed() {
    let engine = started();
    let mut seen = Vec::new();
    let mut documents = Vec::new();
    let mut queries = Vec::new();
    for number in 1..=1_000 {
        engine.apply(matching(number)).unwrap();
        seen.push(
            engine
                .module("p.rego")
                .map(|module| std::sync::Arc::downgrade(&module))
                .unwrap(),
        );
        for _ in 0..10 {
            let document = engine.prepare_document("data.p.answer").unwrap();
            assert_eq!(
                pair(&document.evaluate(&Request::new()).unwrap().unwrap()),
                number
            );
            documents.push(document);
        }
        if number % 10 == 0 {
            let query = engine.prepare_query("x := data.p.answer").unwrap();
            assert_eq!(query.solutions(&Request::new()).unwrap().len(), 1);
            queries.push(query);
        }
        let alive = seen
            .iter()
            .filter(|module| module.strong_count() > 0)
            .count();
        assert!(
            alive <= 2,
            "{alive} policies are alive after {number} changes"
        );
    }
    for document in &documents {
        assert_eq!(
            pair(&document.evaluate(&Request::new()).unwrap().unwrap()),
            1_000
        );
    }
}

#[test]
fn a_change_frees_unreferenced_snapshots() {
    let engine = started();
    let module = || std::sync::Arc::downgrade(&engine.module("p.rego").unwrap());
    let first = module();
    engine.apply(matching(1)).unwrap();
    assert_eq!(first.strong_count(), 0);
    // this thread keeps the snapshot that it used last
    let document = engine.prepare_document("data.p.answer").unwrap();
    document.evaluate(&Request::new()).unwrap();
    let second = module();
    engine.apply(matching(2)).unwrap();
    assert!(second.strong_count() > 0);
    solon::release_memory();
    engine.free_earlier();
    assert_eq!(second.strong_count(), 0);
}

#[test]
fn idle_threads_keep_few_policies_alive() {
    use std::sync::Barrier;
    let engine = started();
    let document = engine.prepare_document("data.p.answer").unwrap();
    let barrier = Barrier::new(2);
    let mut seen = Vec::new();
    let stop = Barrier::new(41);
    thread::scope(|scope| {
        for number in 1..=40 {
            let (document, barrier, stop) = (&document, &barrier, &stop);
            scope.spawn(move || {
                document.evaluate(&Request::new()).unwrap();
                barrier.wait();
                stop.wait();
            });
            barrier.wait();
            seen.push(
                engine
                    .module("p.rego")
                    .map(|module| std::sync::Arc::downgrade(&module))
                    .unwrap(),
            );
            engine.apply(matching(number)).unwrap();
        }
        let alive = seen
            .iter()
            .filter(|module| module.strong_count() > 0)
            .count();
        assert!(
            alive <= solon::internal::limits::RETIRED_SNAPSHOTS + 2,
            "{alive} policies are alive"
        );
        assert_eq!(
            pair(&document.evaluate(&Request::new()).unwrap().unwrap()),
            40
        );
        stop.wait();
    });
}

#[test]
fn lookups_return_members_of_sets_in_base_documents() {
    let engine = Engine::new();
    let users = Value::set(vec![Value::from("alice"), Value::from(7)]);
    engine.put("data.blocked", users).unwrap();
    let module = "package p\n\nallow if not data.blocked[input.user]\n\nalice if data.blocked.alice\n\nseven if data.blocked[7]\n";
    engine.set_module("p.rego", module).unwrap();
    let given = |path: &str, user: Value| {
        let input = Value::object(vec![("user".into(), user)]);
        let document = engine.document(&Path::from_slashes(path));
        let request = Request::new().input(&input);
        let value = document.evaluate(&request).unwrap();
        let explained = document.explain(&request, Detail::Full).result.unwrap();
        assert_eq!(value, explained, "{path}");
        value
    };
    let found = Some(Value::from(true));
    assert_eq!(given("p/allow", "alice".into()), None);
    assert_eq!(given("p/allow", Value::from(7)), None);
    assert_eq!(given("p/allow", "7".into()), found);
    assert_eq!(given("p/allow", "bob".into()), found);
    assert_eq!(given("p/alice", "bob".into()), found);
    assert_eq!(given("p/seven", "bob".into()), found);
}
