//! Engines for the generated modules and calls.

use std::time::Duration;

use solon::internal::value::json;
use solon::{Engine, Limits};

/// Input of modules made from bytes.
pub const INPUT: &[u8] =
    br#"{"a": {"c": [3, 1, 2], "x": "text"}, "b": [[1], {"d": 0.1}], "n": 12}"#;

/// Returns an engine with a time limit for evaluations.
pub fn bounded(time: Duration) -> Engine {
    let limits = Limits::UNBOUNDED
        .steps(Some(20_000))
        .time(Some(time))
        .memory(Some(64 << 20))
        .explanation(None);
    Engine::builder().limits(limits).build()
}

/// Returns such an engine with the base documents that modules made from bytes refer to.
///
/// # Panics
///
/// If they cannot be stored.
pub fn with_base() -> Engine {
    let engine = bounded(Duration::from_secs(1));
    let base = json::read(br#"{"list": [1, "a", null, {"b": [2]}], "c": {"d": 1.5}}"#).unwrap();
    engine.put("data.base", base).unwrap();
    engine
}
