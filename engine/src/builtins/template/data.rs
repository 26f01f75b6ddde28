//! Values in templates, with the types that Go has for them.

use crate::value::{Kind, ValueRef};

/// A value.
#[derive(Clone, Copy)]
pub enum Data<'e> {
    /// None at all: a field of nothing, an index of a range over a number.
    Missing,
    /// A string, a document, a number of a document.
    Document(ValueRef<'e>),
    /// An element of a document, as `interface {}`.
    Element(ValueRef<'e>),
    Int(i64),
    Byte(u8),
    Float(f64),
    Complex(f64, f64),
}

/// What of a value operators look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    Bool,
    Complex,
    Float,
    Int,
    Uint,
    Text,
    /// Collections and nothing.
    Other,
}

impl<'e> Data<'e> {
    /// The value behind the `interface {}`.
    pub fn concrete(self) -> Self {
        match self {
            Self::Element(ValueRef::Null) => Self::Missing,
            Self::Element(value) => Self::Document(value),
            _ => self,
        }
    }

    /// The value of a document, when it has one.
    pub fn document(self) -> Option<ValueRef<'e>> {
        match self {
            Self::Document(value) | Self::Element(value) => Some(value),
            _ => None,
        }
    }

    pub fn is_missing(self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The name of its type; empty for no value.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Missing => "",
            Self::Element(_) => "interface {}",
            Self::Document(value) => match value.kind() {
                Kind::Null => "<nil>",
                Kind::Boolean => "bool",
                Kind::Number => "json.Number",
                Kind::String => "string",
                Kind::Object => "map[string]interface {}",
                Kind::Array | Kind::Set => "[]interface {}",
            },
            Self::Int(_) => "int",
            Self::Byte(_) => "uint8",
            Self::Float(_) => "float64",
            Self::Complex(..) => "complex128",
        }
    }

    pub fn basic(self) -> Basic {
        match self.concrete() {
            Self::Missing | Self::Element(_) => Basic::Other,
            Self::Document(value) => match value.kind() {
                Kind::Boolean => Basic::Bool,
                Kind::Number | Kind::String => Basic::Text,
                _ => Basic::Other,
            },
            Self::Int(_) => Basic::Int,
            Self::Byte(_) => Basic::Uint,
            Self::Float(_) => Basic::Float,
            Self::Complex(..) => Basic::Complex,
        }
    }

    /// Whether `if` takes it for true: neither nothing nor empty nor zero. Numbers of documents are texts.
    pub fn is_truthy(self) -> bool {
        match self.concrete() {
            Self::Missing | Self::Element(_) => false,
            Self::Document(value) => match value {
                ValueRef::Bool(value) => value,
                _ => match value.kind() {
                    Kind::Null => false,
                    Kind::String => !value.text_or_empty().as_bytes().is_empty(),
                    Kind::Array => value.as_array().is_some_and(|items| !items.is_empty()),
                    Kind::Object => value.as_object().is_some_and(|members| !members.is_empty()),
                    _ => true,
                },
            },
            Self::Int(value) => value != 0,
            Self::Byte(value) => value != 0,
            Self::Float(value) => value != 0.0,
            Self::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// The bytes of a string or of a number of a document.
    pub fn text(self) -> Option<Vec<u8>> {
        let value = self.document()?;
        match value.as_text() {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => Some(value.as_number()?.to_string().into_bytes()),
        }
    }
}
