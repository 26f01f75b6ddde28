//! Known differences from the oracle that new programs run into; see `docs/differences.md`.

use crate::compare::{Answer, Exact};
use crate::generate::Request;

/// Returns `true` if a difference is known, given the program reduced to a minimum and both results.
pub fn is_expected(reduced: &Request, difference: &str, expected: &str, actual: &str) -> bool {
    let texts = || reduced.modules.iter().map(|(_, text)| text.as_str());
    differs_in_order_only(difference, expected, actual)
        || (difference == "errors" && rejects_more(&texts, expected, actual))
}

/// OPA traverses sets and objects with computed members in the order of their terms.
fn differs_in_order_only(difference: &str, expected: &str, actual: &str) -> bool {
    let rows = |answer: &str| {
        let Exact::Array(rows) = Answer::parse(answer).ok()?.bindings? else {
            return None;
        };
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
        rows.sort();
        Some(rows)
    };
    matches!(difference, "values" | "bindings")
        && rows(expected).is_some_and(|rows_of_oracle| {
            rows_of_oracle.len() > 1 && rows(actual).is_some_and(|rows| rows == rows_of_oracle)
        })
}

/// OPA accepts some unsafe variables within the body of `every`, and deprecated built-ins in `with` there.
fn rejects_more<'t, I: Iterator<Item = &'t str>>(
    texts: &impl Fn() -> I,
    expected: &str,
    actual: &str,
) -> bool {
    let (Ok(expected), Ok(actual)) = (Answer::parse(expected), Answer::parse(actual)) else {
        return false;
    };
    let mut more = actual.errors.difference(&expected.errors).peekable();
    texts().any(|text| text.contains("every "))
        && expected.errors.is_subset(&actual.errors)
        && more.peek().is_some()
        && more.all(|error| {
            error.code == "rego_unsafe_var_error"
                || error.message.starts_with("deprecated built-in function")
        })
}
