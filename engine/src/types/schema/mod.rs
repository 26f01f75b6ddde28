//! JSON Schema as far as types go: whether a schema is one, and the type of the documents it describes.

mod convert;
pub mod document;
pub mod reference;
mod type_keywords;
mod uri;
pub mod validity;

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Type;
use crate::value::Value;
use reference::References;

/// A valid schema document.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Arc<Value>,
}

/// Why a document is no schema, or has no type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// There is no document.
    Missing,
    /// The document is not valid.
    Invalid(String),
    /// Parts that must all hold contradict one another.
    Merge(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no schema as input to compile"),
            Self::Invalid(reason) => write!(f, "unable to compile the schema: {reason}"),
            Self::Merge(reason) => write!(f, "type checking: {reason}"),
        }
    }
}

impl std::error::Error for SchemaError {}

impl Schema {
    /// Checks a document. Its patterns are those of any engine of regular expressions: types do not depend on them.
    pub fn new(document: &Value) -> Result<Self, SchemaError> {
        if matches!(document, Value::Null) {
            return Err(SchemaError::Missing);
        }
        let references = References::new(document).map_err(SchemaError::Invalid)?;
        validity::check(document, &references, &|_| true).map_err(SchemaError::Invalid)?;
        Ok(Self {
            root: Arc::new(document.clone()),
        })
    }

    /// The type of the documents that the schema describes.
    pub fn to_type(&self) -> Result<Type, SchemaError> {
        convert::convert(&self.root)
    }
}

/// A definition within itself. What it stands for is found out when something looks into it.
pub struct RecursiveType {
    reference: Arc<str>,
    /// The reference with the base that it is relative to.
    absolute: Arc<str>,
    root: Arc<Value>,
    unfolded: OnceLock<Type>,
}

impl RecursiveType {
    /// The reference as the schema has it.
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// The type of the definition, with itself inside.
    pub fn unfold(&self) -> &Type {
        self.unfolded
            .get_or_init(|| convert::definition(&self.root, &self.absolute).unwrap_or(Type::Any))
    }

    /// Whether both stand for the same definition.
    pub fn is_same(&self, other: &Self) -> bool {
        self.absolute == other.absolute && Arc::ptr_eq(&self.root, &other.root)
    }
}

impl fmt::Debug for RecursiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recursive({})", self.reference)
    }
}
