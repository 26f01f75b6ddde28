//! Engines and prepared handles shared by threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use solon::internal::engine::Change;
use solon::{
    Cancel, DataSnapshot, Engine, Error, Path, PreparedDocument, PreparedQuery, Request, Value,
};

const fn shared<T: Send + Sync>() {}

const _: () = {
    shared::<Engine>();
    shared::<PreparedQuery>();
    shared::<PreparedDocument>();
    shared::<DataSnapshot>();
    shared::<Value>();
    shared::<Cancel>();
    shared::<Error>();
};

const SWAPS: i64 = 1_000;

/// Returns modules and data of one snapshot, in which every value is `snapshot`.
fn change(snapshot: i64) -> Change {
    let mut change = Change::default();
    change.set_module(
        "a.rego",
        &format!("package a\np := [{snapshot}, data.snapshot, data.other.snapshot, data.b.q]"),
    );
    change.set_module(
        "b.rego",
        &format!("package b\nq := {snapshot} + 0 * data.snapshot"),
    );
    change.put(Path::from_slashes("/snapshot"), snapshot.into());
    change.put(Path::from_slashes("/other/snapshot"), snapshot.into());
    change
}

/// Pinned handles keep their rules and documents; others use those of the current snapshot.
#[test]
fn readers_see_one_snapshot() {
    let engine = Engine::new();
    engine.apply(change(0)).unwrap();
    let done = AtomicBool::new(false);
    let read = || {
        let mut last = 0;
        let mut answers = 0_u32;
        while !done.load(Ordering::Relaxed) || answers == 0 {
            let document = engine.prepare_document("data.a.p").unwrap();
            let found = document.evaluate(&Request::new()).unwrap().unwrap();
            let moments: Vec<i64> = serde_json::from_str(&found.rego_text().to_string()).unwrap();
            let [rule, data, same_data, same_rule] = moments[..] else {
                panic!("{found}", found = found.rego_text())
            };
            assert_eq!(rule, same_rule, "rules of two moments");
            assert_eq!(data, same_data, "documents of two moments");
            assert!(rule >= last, "rules went back");
            assert!((0..=SWAPS).contains(&data));
            last = rule;
            answers += 1;
        }
        (last, answers)
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        for snapshot in 1..=SWAPS {
            engine.apply(change(snapshot)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            let (last, answers) = reader.join().unwrap();
            assert!(last <= SWAPS && answers > 0);
        }
    });
    let found = engine
        .prepare_document("data.a.p")
        .unwrap()
        .evaluate(&Request::new());
    assert_eq!(
        found.unwrap().unwrap().rego_text().to_string(),
        "[1000, 1000, 1000, 1000]"
    );
}
