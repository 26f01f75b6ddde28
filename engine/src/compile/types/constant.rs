//! Terms that are constant values.

use std::sync::Arc;

use solon_syntax::ast::{Term, TermKind};

use crate::value::number::NumberText;
use crate::value::{Repr, Value};

/// Returns the JSON value of a term; a set becomes the array of its members. Returns `None` for terms with variables,
/// references, calls or closures.
pub fn json_value(term: &Term) -> Option<Value> {
    let values = |terms: &[Term]| terms.iter().map(json_value).collect::<Option<Vec<_>>>();
    Some(match &term.kind {
        TermKind::Null => Value(Repr::Null),
        TermKind::Boolean(value) => Value(Repr::Bool(*value)),
        TermKind::Number(text) => number(text),
        TermKind::String(text) => Value::string(text),
        TermKind::Array(terms) => Value::array(values(terms)?),
        TermKind::Set(terms) => {
            let mut members = values(terms)?;
            members.sort();
            Value::array(members)
        }
        TermKind::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, value)| Some((json_key(key)?, json_value(value)?)));
            Value::object(pairs.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Converts a key of a JSON object: strings are kept, other values become their text.
fn json_key(term: &Term) -> Option<Value> {
    let value = json_value(term)?;
    Some(match term.as_string() {
        Some(_) => value,
        None => Value::string(&value.rego_text().to_string()),
    })
}

fn number(text: &Arc<str>) -> Value {
    match text.parse() {
        Ok(integer) => Value(Repr::Int(integer)),
        Err(_) => Value(Repr::Number(Arc::new(NumberText((**text).into())))),
    }
}
