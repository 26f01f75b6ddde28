//! Values of templates, with their types in Go.

use crate::value::{Kind, RefRepr, ValueRef};

#[derive(Clone, Copy)]
pub enum Data<'e> {
    /// No value: a field of a missing value, or an index of a range over a number.
    Missing,
    Document(ValueRef<'e>),
    /// An element of a document, of type `interface {}`.
    Element(ValueRef<'e>),
    Int(i64),
    Byte(u8),
    Float(f64),
    Complex(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    Bool,
    Complex,
    Float,
    Int,
    Uint,
    Text,
    /// Collections and missing values.
    Other,
}

impl<'e> Data<'e> {
    /// Returns the value inside an `interface {}`.
    pub fn concrete(self) -> Self {
        match self {
            Self::Element(ValueRef(RefRepr::Null)) => Self::Missing,
            Self::Element(value) => Self::Document(value),
            _ => self,
        }
    }

    pub fn document(self) -> Option<ValueRef<'e>> {
        match self {
            Self::Document(value) | Self::Element(value) => Some(value),
            _ => None,
        }
    }

    pub fn is_missing(self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns the name of its type. Empty for a missing value.
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

    /// Returns `true` if `if` treats it as true: not missing, not empty and not zero. Numbers of documents are strings.
    pub fn is_truthy(self) -> bool {
        match self.concrete() {
            Self::Missing | Self::Element(_) => false,
            Self::Document(value) => match value {
                ValueRef(RefRepr::Bool(value)) => value,
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

    /// Returns the bytes of a string or of a number of a document, or `None` for other values.
    pub fn text(self) -> Option<Vec<u8>> {
        let value = self.document()?;
        match value.as_text() {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => Some(value.as_number()?.to_string().into_bytes()),
        }
    }
}
