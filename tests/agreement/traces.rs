//! Traces of a program must equal those of the oracle.

use serde_json::{Value, json};

use solon_lines::Process;

/// Returns the difference between the most detailed traces of a request; `None` if they agree, or there is an error.
pub fn difference(oracle: &mut Process, request: &str) -> Option<&'static str> {
    let mut request: Value = serde_json::from_str(request).ok()?;
    request["explain"] = json!("debug");
    let request = request.to_string();
    let expected = lines(&oracle.request(&request).ok()?)?;
    let actual = lines(&solon_lines::answer(&request))?;
    let same = expected.len() == actual.len()
        && expected.iter().zip(&actual).all(|(expected, actual)| {
            expected == actual || (is_shared(expected) && is_shared(actual))
        });
    (!same).then_some("traces")
}

fn lines(answer: &str) -> Option<Vec<String>> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    serde_json::from_value(answer["trace"].clone()).ok()
}

/// Returns `true` if a line shows something that the oracle shares between events: the name of a rule of a package that
/// is read as a whole, or the pair that `walk` yields.
fn is_shared(line: &str) -> bool {
    let text = line.trim_start_matches("| ");
    (text.starts_with("Unify data.") && text.ends_with(" = _"))
        || (text.starts_with("Unify [_, ") || text.contains(" = [["))
}
