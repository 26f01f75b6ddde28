//! Untyped values of a block, and how messages display them.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::scalar::Scalar;

/// A decoded value. Mappings whose keys are all strings have a variant of their own, because only those are valid in
/// the end.
#[derive(Clone, Debug)]
pub(super) enum Any {
    Scalar(Scalar),
    Sequence(Vec<Any>),
    Mapping(Vec<(Scalar, Any)>),
}

/// Location of a key that is not a string: the steps to its mapping, joined by slashes.
pub(super) struct BadKey(pub String);

impl Any {
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Scalar(Scalar::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns a member of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Any> {
        let Self::Mapping(members) = self else {
            return None;
        };
        members.iter().find_map(|(member, value)| {
            (matches!(member, Scalar::String(member) if member == key)).then_some(value)
        })
    }

    /// Converts the value to JSON. Timestamps become strings. NaN and infinities have no JSON form and fail with `None`
    /// inside [`Unsupported::Number`].
    pub(super) fn into_json(self) -> Result<Value, Unsupported> {
        Ok(match self {
            Self::Scalar(scalar) => scalar_json(scalar)?,
            Self::Sequence(elements) => {
                let mut out = Vec::with_capacity(elements.len());
                for (index, element) in elements.into_iter().enumerate() {
                    out.push(
                        element
                            .into_json()
                            .map_err(|error| error.prefix_path(&index.to_string()))?,
                    );
                }
                Value::Array(out)
            }
            Self::Mapping(members) => {
                let mut out = Map::new();
                for (key, value) in members {
                    let Scalar::String(key) = key else {
                        return Err(Unsupported::Key(BadKey(String::new())));
                    };
                    let value = value.into_json().map_err(|error| error.prefix_path(&key))?;
                    out.insert(key, value);
                }
                Value::Object(out)
            }
        })
    }
}

/// Value that JSON cannot represent.
pub(super) enum Unsupported {
    Key(BadKey),
    Number(f64),
}

impl Unsupported {
    fn prefix_path(self, step: &str) -> Self {
        match self {
            Self::Key(BadKey(path)) if path.is_empty() => Self::Key(BadKey(step.to_owned())),
            Self::Key(BadKey(path)) => Self::Key(BadKey(format!("{step}/{path}"))),
            number @ Self::Number(_) => number,
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(BadKey(path)) => write!(f, "invalid map key type(s): {path}"),
            Self::Number(value) => write!(f, "json: unsupported value: {}", float_text(*value)),
        }
    }
}

fn scalar_json(scalar: Scalar) -> Result<Value, Unsupported> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(value),
        Scalar::Integer(value) => value.into(),
        Scalar::Unsigned(value) => value.into(),
        Scalar::Float(value) => Value::Number(number(value).ok_or(Unsupported::Number(value))?),
        Scalar::Time(text) | Scalar::String(text) => Value::String(text),
        Scalar::Merge => Value::String("<<".to_owned()),
    })
}

/// Converts a float. One without a fraction becomes an integer.
fn number(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

fn float_text(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 {
            "+Inf".to_owned()
        } else {
            "-Inf".to_owned()
        }
    } else {
        value.to_string()
    }
}

/// Displays a value as Go's `%s` does, including Go's notation for values that are not strings.
pub(super) struct GoDisplay<'a>(pub &'a Any);

impl fmt::Display for GoDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Any::Scalar(Scalar::Null) => f.write_str("%!s(<nil>)"),
            other => write_inner(f, other),
        }
    }
}

fn write_inner(f: &mut fmt::Formatter<'_>, value: &Any) -> fmt::Result {
    match value {
        Any::Scalar(scalar) => write_scalar(f, scalar),
        Any::Sequence(elements) => {
            f.write_str("[")?;
            for (index, element) in elements.iter().enumerate() {
                f.write_str(if index > 0 { " " } else { "" })?;
                write_inner(f, element)?;
            }
            f.write_str("]")
        }
        Any::Mapping(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_cached_key(|(key, _)| match key {
                Scalar::String(text) => text.clone(),
                _ => String::new(),
            });
            f.write_str("map[")?;
            for (index, (key, value)) in members.into_iter().enumerate() {
                f.write_str(if index > 0 { " " } else { "" })?;
                write_scalar(f, key)?;
                f.write_str(":")?;
                write_inner(f, value)?;
            }
            f.write_str("]")
        }
    }
}

fn write_scalar(f: &mut fmt::Formatter<'_>, scalar: &Scalar) -> fmt::Result {
    match scalar {
        Scalar::Null => f.write_str("<nil>"),
        Scalar::Boolean(value) => write!(f, "%!s(bool={value})"),
        Scalar::Integer(value) => write!(f, "%!s(int={value})"),
        Scalar::Unsigned(value) => write!(f, "%!s(uint64={value})"),
        Scalar::Float(value) => write!(f, "%!s(float64={})", float_text(*value)),
        Scalar::Time(text) | Scalar::String(text) => f.write_str(text),
        Scalar::Merge => f.write_str("<<"),
    }
}
