//! Limits of an evaluation, and cancellation from another thread.
//!
//! `cargo run -p solon --example limits`

#![allow(clippy::print_stdout, reason = "an example")]

use std::thread;
use std::time::Duration;

use solon::{Cancel, Engine, Limits, Request};

const POLICY: &str = "package work

endless := count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i == j])

large := [x | some i in numbers.range(1, 100000); x := sprintf(\"%0100d\", [i])]";

fn main() -> Result<(), solon::Error> {
    // limits of all evaluations of an engine
    let limits = Limits::default().memory(Some(64 << 20));
    let engine = Engine::builder().limits(limits).build();
    engine.set_module("work.rego", POLICY)?;
    let endless = engine.prepare_document("data.work.endless")?;
    let large = engine.prepare_document("data.work.large")?;

    // limits of one request; the error kind says which one ended it
    let in_time = Limits::default().time(Some(Duration::from_millis(20)));
    let few_steps = Limits::default().steps(Some(10_000));
    let little = Limits::default().memory(Some(1 << 20));
    for (document, limits) in [
        (&endless, &in_time),
        (&endless, &few_steps),
        (&large, &little),
    ] {
        if let Err(error) = document.evaluate(&Request::new().limits(limits)) {
            println!("{:?}: {error}", error.kind());
        }
    }

    let cancel = Cancel::default();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            cancel.cancel();
        });
        endless.evaluate(&Request::new().cancel(&cancel))
    });
    if let Err(error) = result {
        println!("{:?}: {error}", error.kind());
    }
    Ok(())
}
