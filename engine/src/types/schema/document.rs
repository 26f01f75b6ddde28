//! A schema's document, read as JSON.

use crate::value::{Number, Object, Value};

/// What a part of a document is.
pub trait Document {
    /// A string.
    fn as_str(&self) -> Option<&str>;
    /// An array.
    fn as_array(&self) -> Option<&[Value]>;
    /// An object.
    fn as_members(&self) -> Option<&Object>;
    /// A number.
    fn as_number(&self) -> Option<Number<'_>>;
    /// A boolean.
    fn as_bool(&self) -> Option<bool>;
}

impl Document for Value {
    fn as_str(&self) -> Option<&str> {
        let bytes = match self {
            Self::Short(short) => short.as_bytes(),
            Self::Text(text) => text.as_bytes(),
            _ => return None,
        };
        std::str::from_utf8(bytes).ok()
    }

    fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    fn as_members(&self) -> Option<&Object> {
        self.as_object()
    }

    fn as_number(&self) -> Option<Number<'_>> {
        self.borrow().as_number()
    }

    fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

/// The members of an object by their names.
pub fn named(object: &Object) -> impl Iterator<Item = (&str, &Value)> {
    object
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
}
