//! Terms that are constant values.

use solon_syntax::ast::{Term, TermKind};

use crate::value::{Kind, NumberBuf, Repr, Value};

/// Returns the steps of a reference below its document, for replacements by `with`; `None` if no document can exist
/// there, as below `input.a[0]`.
pub fn document_path(target: &Term) -> Option<Vec<Value>> {
    let steps = target.as_ref().into_iter().flatten().skip(1);
    steps
        .map(|step| constant(step).filter(|key| key.kind() == Kind::String))
        .collect()
}

/// Returns the value of a term without variables, references, calls and comprehensions.
pub fn constant(term: &Term) -> Option<Value> {
    Some(match &term.kind {
        TermKind::Null => Value(Repr::Null),
        TermKind::Boolean(b) => Value(Repr::Bool(*b)),
        TermKind::Number(text) => Value::number(NumberBuf::parse(text)?),
        TermKind::String(text) => Value::string(text),
        TermKind::Array(items) => Value::array(items.iter().map(constant).collect::<Option<_>>()?),
        TermKind::Set(items) => Value::set(items.iter().map(constant).collect::<Option<_>>()?),
        TermKind::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(k, v)| Some((constant(k)?, constant(v)?)));
            Value::object(pairs.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
