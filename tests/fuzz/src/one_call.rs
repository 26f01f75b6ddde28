//! One call of a built-in with operands made from bytes, as constants and as values unknown to the compiler.

use std::time::Duration;

use solon::Request;

use crate::processor::timed;
use crate::{Choices, bounded, call};

/// Maximum processor time of one call; functions that poll the clock end at the time limit.
const SOON: Duration = Duration::from_secs(3);

/// Functions whose results vary from call to call.
const CHANGING: [&str; 6] = ["rand.", "time.now", "uuid.", "opa.", "trace", "rego."];

/// Calls a function both ways: the results must be equal, and take little processor time.
///
/// # Panics
///
/// If they are not.
pub fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (name, operands) = call(&mut choices);
    let constant = format!("x := {name}({})", operands.join(", "));
    let names: Vec<_> = (0..operands.len()).map(|at| format!("a{at}")).collect();
    // members of an array that is iterated are not constants
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
        let input = br#"{"a": {"c": [3]}, "b": [[1]]}"#;
        let (solutions, took) = timed(|| {
            let prepared = engine.prepare_query(&query).ok()?;
            prepared.solutions(&Request::new().input_json(input)).ok()
        });
        assert!(took < SOON, "{query}: {took:?}");
        let first = solutions?.into_iter().next()?;
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
