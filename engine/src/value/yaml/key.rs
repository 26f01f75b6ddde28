//! Keys of mappings, converted to JSON strings.

use std::fmt::Write as _;

use super::error::YamlError;
use super::resolve::Scalar;
use crate::value::display::quote;
use crate::value::{ArrayView, NumberBuf, ObjectView, RefRepr, Repr, Value, ValueRef};

/// A key whose value follows.
pub(super) enum PendingKey {
    Text(Value),
    Merge,
    /// A key that has no JSON form.
    Null,
}

pub(super) fn key_of(scalar: &Scalar, text: &str) -> PendingKey {
    PendingKey::Text(match scalar {
        Scalar::Null => return PendingKey::Null,
        Scalar::Str | Scalar::Merge => Value::string(text),
        Scalar::Bool(b) => Value::string(if *b { "true" } else { "false" }),
        Scalar::Int(i) => Value::string(&i.to_string()),
        Scalar::Float(f) => Value::string(&float_key(*f)),
    })
}

/// Formats a float as a key, with 32 bits.
fn float_key(f: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest of 32 bits is wanted"
    )]
    let short = f as f32;
    NumberBuf::general_f32(short).unwrap_or_else(|| {
        let text = if f.is_nan() {
            ".nan"
        } else if f > 0.0 {
            ".inf"
        } else {
            "-.inf"
        };
        text.to_owned()
    })
}

pub(super) fn key_of_value(value: &Value) -> Result<PendingKey, YamlError> {
    Ok(PendingKey::Text(match value {
        Value(Repr::Null) => return Ok(PendingKey::Null),
        Value(Repr::Bool(_)) => Value::string(&value.rego_text().to_string()),
        Value(Repr::Int(_)) => Value::string(&value.rego_text().to_string()),
        Value(Repr::Decimal(..) | Repr::Number(_)) => match value.borrow().as_number() {
            Some(number) => Value::string(&float_key(number.to_f64())),
            None => Value(Repr::Null),
        },
        Value(Repr::Short(_) | Repr::Text(_) | Repr::Bytes(_)) => value.clone(),
        Value(Repr::Array(_) | Repr::Object(_) | Repr::Set(_)) => {
            return Err(invalid_key(value));
        }
    }))
}

pub(super) fn invalid_key(value: &Value) -> YamlError {
    YamlError::yaml(format_args!(
        "invalid map key: {}",
        go_syntax(value.borrow(), "<nil>")
    ))
}

/// Returns the error of a key that has no JSON form.
pub(super) fn null_key(value: ValueRef<'_>) -> YamlError {
    YamlError::other(format!(
        "unsupported map key of type: %!s(<nil>), key: <nil>, value: {}",
        go_syntax(value, "<nil>")
    ))
}

/// Formats a value in Go's syntax, in which messages show keys.
fn go_syntax(value: ValueRef<'_>, null: &str) -> String {
    let mut out = String::new();
    // writing to a string cannot fail
    let _ = match value {
        ValueRef(RefRepr::Null) => out.write_str(null),
        ValueRef(
            RefRepr::Short(_) | RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_),
        ) => quote(value.text_or_empty().as_bytes(), &mut out),
        ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
            let items = value.as_array().into_iter().flat_map(ArrayView::iter);
            let items: Vec<String> = items
                .map(|item| go_syntax(item, "interface {}(nil)"))
                .collect();
            write!(out, "[]interface {{}}{{{}}}", items.join(", "))
        }
        ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
            let pairs = value.as_object().into_iter().flat_map(ObjectView::iter);
            let pairs = pairs.map(|(key, value)| {
                let key = go_syntax(key, null);
                format!("{key}:{}", go_syntax(value, "interface {}(nil)"))
            });
            write!(
                out,
                "map[string]interface {{}}{{{}}}",
                pairs.collect::<Vec<_>>().join(", ")
            )
        }
        _ => write!(out, "{value}", value = value.rego_text()),
    };
    out
}
