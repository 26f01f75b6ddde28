//! Direct conversion between Rego values and Rust types with serde.
//!
//! Numbers that fit no Rust type become the nearest `f64`; sets become sequences, and keys that are not strings their
//! JSON text.

mod from_value;
mod serialize;
mod to_value;

use std::fmt;

use ::serde::Serialize;
use ::serde::de::DeserializeOwned;

use super::{Value, ValueRef};

/// Converts a Rust value to a Rego value. Structs and maps become objects; keys that are not strings become strings with their JSON text.
///
/// # Errors
/// `Serialize` fails, a float is not finite, or the value nests too deeply.
///
/// ```
/// let value = solon::to_value(&[Some(1), None]).unwrap();
/// assert_eq!(value, solon::value!([1, null]));
/// ```
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, ConvertError> {
    value.serialize(to_value::ToValue::default())
}

/// Converts a Rego value to a Rust value. Sets convert to sequences, in order.
///
/// # Errors
/// `Deserialize` fails, because the value does not have the type, or the value nests too deeply. The message is that of serde.
///
/// ```
/// let roles = solon::value!(["admin", "dev"]);
/// let roles: Vec<String> = solon::from_value(&roles).unwrap();
/// assert_eq!(roles, ["admin", "dev"]);
/// ```
pub fn from_value<'v, T: DeserializeOwned>(
    value: impl Into<ValueRef<'v>>,
) -> Result<T, ConvertError> {
    T::deserialize(from_value::FromValue(value.into()))
}

/// The reason why a value cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError(String);

impl ConvertError {
    fn too_deep() -> Self {
        Self("nested too deeply".to_owned())
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConvertError {}

impl ::serde::ser::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl ::serde::de::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

#[cfg(test)]
mod tests;
