//! No module, query, data or input makes the engine panic, overflow a small stack, hang, or exhaust memory: each
//! evaluation ends soon with a result or an error.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

#[path = "robustness/calls.rs"]
mod calls;
#[path = "robustness/depth.rs"]
mod depth;
#[path = "robustness/edges.rs"]
mod edges;
#[path = "robustness/explanations.rs"]
mod explanations;
#[path = "robustness/graphql.rs"]
mod graphql;
#[path = "robustness/graphql_mutations.rs"]
mod graphql_mutations;
#[path = "robustness/growth.rs"]
mod growth;
#[path = "robustness/joins.rs"]
mod joins;
#[path = "robustness/knowledge.rs"]
mod knowledge;
#[path = "robustness/limits.rs"]
mod limits;
#[path = "robustness/memo.rs"]
mod memo;
#[path = "robustness/memory.rs"]
mod memory;
#[cfg(feature = "crypto")]
#[path = "robustness/mutants.rs"]
mod mutants;
#[path = "robustness/nesting.rs"]
mod nesting;
#[path = "robustness/partial.rs"]
mod partial;
#[path = "robustness/sharing.rs"]
mod sharing;
#[path = "robustness/sizes.rs"]
mod sizes;
#[path = "robustness/stop_reasons.rs"]
mod stop_reasons;
#[path = "robustness/store.rs"]
mod store;
#[path = "robustness/walks.rs"]
mod walks;

#[path = "../time/processor.rs"]
mod processor;
#[path = "../time/waiting.rs"]
mod waiting;

use std::thread;
use std::time::Duration;

use solon::{Engine, Error, Request, Value};

/// Stack size of callers, in bytes.
const SMALL: usize = 256 << 10;

/// Maximum processor time of an operation. It is generous because machines may be slow and tests unoptimised. It
/// detects time that grows faster than the text.
const SOON: Duration = Duration::from_secs(if cfg!(debug_assertions) { 40 } else { 20 });

/// Parses a value that is nested `levels` deep.
fn nested_value(open: &str, close: &str, levels: usize) -> Value {
    let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
    solon::json::read(text.as_bytes()).unwrap()
}

/// Calls a function on a small stack, within [`SOON`].
fn on_small_stack<T: Send>(what: &str, run: impl FnOnce() -> T + Send) -> T {
    on_small_stack_within(SOON, what, run)
}

/// Calls a function on a small stack, and fails if it takes more processor time than `most`.
fn on_small_stack_within<T: Send>(most: Duration, what: &str, run: impl FnOnce() -> T + Send) -> T {
    let (result, taken) = thread::scope(|scope| {
        let small = thread::Builder::new()
            .name(what.to_owned())
            .stack_size(SMALL);
        let timed = || processor::timed(run);
        small.spawn_scoped(scope, timed).unwrap().join().unwrap()
    });
    #[allow(clippy::print_stdout, reason = "a test reports its duration")]
    {
        println!("{what}: {taken:?}");
    }
    assert!(taken < most, "{what} took {taken:?}");
    result
}

/// Compiles a module and evaluates `data.t.p`.
fn answer(what: &str, module: &str) -> Result<Option<Value>, Error> {
    on_small_stack(what, || {
        let engine = Engine::new();
        engine.set_module("t.rego", module)?;
        engine
            .prepare_document("data.t.p")?
            .evaluate(&Request::new())
    })
}

/// Returns the values of a query's first solution.
fn evaluate(what: &str, query: &str) -> Result<Option<Vec<Value>>, Error> {
    on_small_stack(what, || {
        let solutions = Engine::new()
            .prepare_query(query)?
            .solutions(&Request::new())?;
        Ok(solutions.into_iter().next().map(|first| first.values))
    })
}

/// Returns the first message of an error.
fn message<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("an error");
    error.entries()[0].message.clone()
}
