//! Decisions on several threads while the policy changes, and two decisions on one snapshot.
//!
//! `cargo run -p solon --example threads`

#![allow(clippy::print_stdout, reason = "an example")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use solon::{Change, Engine, Request, value};

const THREADS: usize = 4;

fn main() -> Result<(), solon::Error> {
    let engine = Engine::new();
    engine.set_module(
        "limits.rego",
        "package limits\n\nopen := input.used < data.quota",
    )?;
    engine.put("data.quota", 10.into())?;
    let open = engine.prepare_document("data.limits.open")?;

    let stopped = AtomicBool::new(false);
    let counts: Result<Vec<u64>, solon::Error> = thread::scope(|scope| {
        let evaluate = || {
            let input = value!({"used": 10});
            let request = Request::new().input(&input);
            let mut allowed = 0;
            // neither waits for the change below nor for other threads
            while !stopped.load(Ordering::Relaxed) {
                allowed += u64::from(open.allow(&request)?);
            }
            Ok(allowed)
        };
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(evaluate)).collect();
        // policy and data change as one: no decision sees only one of the two
        let mut change = Change::default();
        change
            .set_module(
                "limits.rego",
                "package limits\n\nopen := input.used < data.quotas[\"free\"]",
            )
            .put("data.quotas".parse()?, value!({"free": 100}));
        let changed = engine.apply(change);
        stopped.store(true, Ordering::Relaxed);
        changed?;
        let counts = workers.into_iter().map(|worker| match worker.join() {
            Ok(count) => count,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        counts.collect()
    });
    println!("allowed by each thread: {:?}", counts?);

    // both decisions use the policy and the data of one snapshot, whatever changes meanwhile
    let snapshot = engine.snapshot();
    engine.put("data.quotas.free", 0.into())?;
    let request = Request::new().input_json(br#"{"used": 10}"#);
    println!(
        "on the snapshot: {}",
        open.allow(&request.snapshot(&snapshot))?
    );
    println!("now: {}", open.allow(&request)?);

    // a policy that may wait for the network must not run on an asynchronous worker
    println!("may block: {}", open.may_block());
    Ok(())
}
