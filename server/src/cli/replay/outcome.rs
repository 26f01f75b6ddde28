//! Outcomes of decisions and their differences.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::{Error, Value, json};

use super::event::ReplayEvent;

/// The outcome of a decision, as far as logs and evaluations can be compared.
#[derive(Debug)]
pub enum ReplayOutcome<'t> {
    Undefined,
    /// A value as JSON text.
    Value(Cow<'t, [u8]>),
    /// Code of the error.
    Failed(String),
}

#[derive(Deserialize)]
struct ErrorObject {
    code: String,
}

/// Code of the error of `/v0/data` for an undefined document.
const UNDEFINED: &str = "undefined_document";
const BUILTIN: &str = "eval_builtin_error";
const CANCELLED: &str = "eval_cancel_error";

/// Maximum length of a result that is shown, in characters.
const LONGEST: usize = 60;

impl ReplayOutcome<'_> {
    /// Returns the logged outcome of an event. An error takes precedence over a result.
    pub fn logged<'t>(event: &ReplayEvent<'t>) -> ReplayOutcome<'t> {
        match (event.error, event.result) {
            (Some(error), _) => {
                let code = code(error);
                if code == UNDEFINED {
                    return ReplayOutcome::Undefined;
                }
                ReplayOutcome::Failed(code)
            }
            (None, Some(result)) => ReplayOutcome::Value(Cow::Borrowed(result.get().as_bytes())),
            (None, None) => ReplayOutcome::Undefined,
        }
    }

    /// Returns the outcome of an evaluation. Of an error, only the code counts.
    pub fn evaluated(result: Result<Option<Vec<u8>>, Error>) -> ReplayOutcome<'static> {
        match result {
            Ok(Some(text)) => ReplayOutcome::Value(Cow::Owned(text)),
            Ok(None) => ReplayOutcome::Undefined,
            Err(error) => {
                let first = error.entries().into_iter().next();
                let code =
                    first.map_or_else(|| error.kind().as_str().to_owned(), |first| first.code);
                ReplayOutcome::Failed(bare(&code).to_owned())
            }
        }
    }

    /// Returns `true` if an error of a built-in function ended the decision, as with `strict-builtin-errors`.
    pub fn is_strict(&self) -> bool {
        matches!(self, Self::Failed(code) if code == BUILTIN)
    }

    /// Returns `true` if the decision did not end by itself.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Failed(code) if code == CANCELLED)
    }

    /// Compares two outcomes. Returns the parts that differ as short texts, or `None` if they are equal.
    pub fn difference(&self, new: &ReplayOutcome<'_>) -> Option<(String, String)> {
        match (self, new) {
            (Self::Undefined, ReplayOutcome::Undefined) => return None,
            (Self::Failed(old), ReplayOutcome::Failed(new)) if old == new => return None,
            (Self::Value(old), ReplayOutcome::Value(new)) => {
                if old == new {
                    return None;
                }
                if let (Ok(old), Ok(new)) = (json::read(old), json::read(new)) {
                    if old == new {
                        return None;
                    }
                    let (old, new) = differing_nodes(&old, &new);
                    return Some((value_text(&old), value_text(&new)));
                }
            }
            _ => {}
        }
        Some((self.text(), new.text()))
    }

    fn text(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Value(text) => json::read(text).map_or_else(
                |_| truncate(&String::from_utf8_lossy(text)),
                |value| value_text(&value),
            ),
            Self::Failed(code) => format!("error {code}"),
        }
    }
}

/// Returns the code of a logged error. The text of a console begins with the location or the code.
fn code(error: &RawValue) -> String {
    if let Ok(object) = serde_json::from_str::<ErrorObject>(error.get()) {
        return bare(&object.code).to_owned();
    }
    let text: String = serde_json::from_str(error.get()).unwrap_or_default();
    let is_code = |part: &&str| {
        part.contains('_')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let code = text.split(": ").find(is_code).unwrap_or("unknown");
    bare(code).to_owned()
}

/// Returns a code without the prefix that the server writes in two ways.
fn bare(code: &str) -> &str {
    let rest = code
        .strip_prefix("rego_")
        .or_else(|| code.strip_prefix("lang_"));
    rest.unwrap_or(code)
}

/// Returns the parts of two values that differ: members of objects, and elements of arrays.
fn differing_nodes(old: &Value, new: &Value) -> (Value, Value) {
    if let (Some(old), Some(new)) = (old.as_object(), new.as_object()) {
        let only_in_first = |object: &solon::Object, other: &solon::Object, first: bool| {
            let pairs = object.iter().filter_map(|(key, value)| {
                let value = match other.get(key.borrow()) {
                    None => value.clone(),
                    Some(equal_value) if equal_value == value => return None,
                    Some(other) if first => differing_nodes(value, other).0,
                    Some(other) => differing_nodes(other, value).1,
                };
                Some((key.clone(), value))
            });
            Value::object(pairs.collect())
        };
        return (
            only_in_first(old, new, true),
            only_in_first(new, old, false),
        );
    }
    if let (Some(old), Some(new)) = (old.as_array(), new.as_array()) {
        let only_in_first = |items_of_first: &[Value], other: &[Value]| {
            let items = items_of_first.iter().filter(|item| !other.contains(item));
            Value::array(items.cloned().collect())
        };
        let parts = (only_in_first(old, new), only_in_first(new, old));
        // arrays with the same elements differ in their order
        let is_order = |part: &Value| part.as_array().is_some_and(<[Value]>::is_empty);
        if !(is_order(&parts.0) && is_order(&parts.1)) {
            return parts;
        }
    }
    (old.clone(), new.clone())
}

fn value_text(value: &Value) -> String {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    truncate(&String::from_utf8_lossy(&text))
}

fn truncate(text: &str) -> String {
    if text.chars().nth(LONGEST).is_none() {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::ReplayOutcome;

    #[test]
    fn differences() {
        let value = |text: &'static str| ReplayOutcome::Value(Cow::Borrowed(text.as_bytes()));
        let parts = |old, new| value(old).difference(&value(new));
        let texts = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(parts("1", "1.0"), None);
        assert_eq!(parts(r#"{"a": 1, "b": 2}"#, r#"{"b":2,"a":1}"#), None);
        assert_eq!(
            parts(r#"{"a":1,"b":[1,2]}"#, r#"{"a":1,"b":[2,3]}"#),
            texts(r#"{"b":[1]}"#, r#"{"b":[3]}"#)
        );
        assert_eq!(
            parts(r#"{"a":1}"#, r#"{"c":1}"#),
            texts(r#"{"a":1}"#, r#"{"c":1}"#)
        );
        assert_eq!(parts("[1,2]", "[2,1]"), texts("[1,2]", "[2,1]"));
        assert_eq!(parts("[1,1]", "[1]"), texts("[1,1]", "[1]"));
        assert_eq!(
            value("null").difference(&ReplayOutcome::Undefined),
            texts("null", "undefined")
        );
        let failed = |code: &str| ReplayOutcome::Failed(code.to_owned());
        assert_eq!(failed("a").difference(&failed("a")), None);
        assert_eq!(
            failed("a").difference(&failed("b")),
            texts("error a", "error b")
        );
    }
}
