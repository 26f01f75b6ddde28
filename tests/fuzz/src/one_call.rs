//! One call of a built-in with operands made from bytes, known to the compiler and hidden from it.

use std::time::{Duration, Instant};

use solon::Request;

use crate::{Choices, bounded, call};

/// What one call may take above its time limit; runs are unoptimised in part and beside others.
const SOON: Duration = Duration::from_secs(3);

/// Functions whose answers change from call to call.
const CHANGING: [&str; 6] = ["rand.", "time.now", "uuid.", "opa.", "trace", "rego."];

/// Calls a function both ways: the answers must be equal, and come soon.
///
/// # Panics
/// When they do not.
pub fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (name, operands) = call(&mut choices);
    let constant = format!("x := {name}({})", operands.join(", "));
    let names: Vec<_> = (0..operands.len()).map(|at| format!("a{at}")).collect();
    // members of an array that is walked are no constants
    let hidden = format!(
        "some [{}] in [[{}]]; x := {name}({})",
        names.join(", "),
        operands.join(", "),
        names.join(", ")
    );
    if std::env::var_os("SOLON_SHOW").is_some() {
        eprintln!("{constant}");
    }
    let engine = bounded(Duration::from_millis(200));
    let mut answers = [constant, hidden].map(|query| {
        let start = Instant::now();
        let prepared = engine.prepare_query(&query).ok()?;
        let solutions =
            prepared.solutions(&Request::new().input_json(br#"{"a": {"c": [3]}, "b": [[1]]}"#));
        assert!(start.elapsed() < SOON, "{query}");
        let first = solutions.ok()?.into_iter().next()?;
        first
            .bindings
            .into_iter()
            .find(|(name, _)| &**name == "x")
            .map(|(_, value)| value)
    });
    if let [Some(one), Some(other)] = &mut answers
        && !CHANGING.iter().any(|prefix| name.starts_with(prefix))
    {
        assert_eq!(one, other);
    }
}
