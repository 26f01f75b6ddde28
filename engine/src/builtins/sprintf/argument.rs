//! Arguments of verbs, in the types that Go gives them.

use std::borrow::Cow;

use num_bigint::BigInt;

use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::{Number, TextView, ValueRef};

pub enum GoArgument<'e> {
    /// `int64`
    Int(i64),
    /// `*big.Int`
    Big(BigInt),
    /// `float64`
    Float(f64),
    /// `string`
    Text(TextView<'e>),
    /// `string`, formatted from any other value.
    Formatted(String),
    /// `int`. Only templates have this and the following types.
    PlainInt(i64),
    /// `uint8`
    Byte(u8),
    /// `json.Number`
    JsonNumber(String),
    /// `bool`
    Bool(bool),
    /// `nil`
    Nil,
}

impl<'e> GoArgument<'e> {
    /// Converts a value. Numbers with a decimal point or an exponent are floats.
    pub fn from_value(
        call: &BuiltinContext<'_>,
        value: ValueRef<'e>,
    ) -> Result<Self, BuiltinError> {
        if let Some(text) = value.as_text() {
            return Ok(Self::Text(text));
        }
        let Some(number) = value.as_number() else {
            return call.display_text(value).map(Self::Formatted);
        };
        Ok(match number {
            Number::Int(i) => Self::Int(i),
            Number::Text(text) if !text.contains(['.', 'e', 'E']) => match number.to_bigint() {
                Some(big) => i64::try_from(&big).map_or_else(|_| Self::Big(big), Self::Int),
                None => Self::Formatted(text.to_owned()),
            },
            _ => {
                let float = number.to_f64();
                if float.is_finite() {
                    Self::Float(float)
                } else {
                    Self::Formatted(number.to_string())
                }
            }
        })
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Int(_) => "int64",
            Self::Big(_) => "*big.Int",
            Self::Float(_) => "float64",
            Self::Text(_) | Self::Formatted(_) => "string",
            Self::PlainInt(_) => "int",
            Self::Byte(_) => "uint8",
            Self::JsonNumber(_) => "json.Number",
            Self::Bool(_) => "bool",
            Self::Nil => "<nil>",
        }
    }

    /// Returns the bytes of a `string` or `json.Number`, or `None` for arguments of other types.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text.as_bytes())),
            Self::Formatted(text) | Self::JsonNumber(text) => Some(Cow::Borrowed(text.as_bytes())),
            _ => None,
        }
    }
}
