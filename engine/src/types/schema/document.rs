//! Access to the document of a schema as JSON.

use crate::value::{Number, Object, Repr, Value};

/// JSON accessors for values.
pub(crate) trait Document {
    /// Returns the text of a string, or `None` for other values.
    fn as_str(&self) -> Option<&str>;
    /// Returns the elements of an array, or `None` for other values.
    fn as_array(&self) -> Option<&[Value]>;
    /// Returns an object, or `None` for other values.
    fn as_members(&self) -> Option<&Object>;
    /// Returns a number, or `None` for other values.
    fn as_number(&self) -> Option<Number<'_>>;
    /// Returns a Boolean, or `None` for other values.
    fn as_bool(&self) -> Option<bool>;
}

impl Document for Value {
    fn as_str(&self) -> Option<&str> {
        let bytes = match self {
            Self(Repr::Short(short)) => short.as_bytes(),
            Self(Repr::Text(text)) => text.as_bytes(),
            _ => return None,
        };
        std::str::from_utf8(bytes).ok()
    }

    fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self(Repr::Array(items)) => Some(items),
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
            Self(Repr::Bool(b)) => Some(*b),
            _ => None,
        }
    }
}

/// Iterates over the members of an object whose keys are strings.
pub fn string_keyed(object: &Object) -> impl Iterator<Item = (&str, &Value)> {
    object
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
}
