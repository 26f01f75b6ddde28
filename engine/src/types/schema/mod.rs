//! JSON Schema as far as types go: whether a schema is one, and the type of the documents it describes.

mod convert;
mod reference;
mod shape;
mod validity;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use super::Type;

/// A valid schema document.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Arc<Json>,
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
    /// Checks a document. `is_pattern` tells valid regular expressions.
    pub fn new(document: &Json, is_pattern: &dyn Fn(&str) -> bool) -> Result<Self, SchemaError> {
        if document.is_null() {
            return Err(SchemaError::Missing);
        }
        validity::check(document, is_pattern).map_err(SchemaError::Invalid)?;
        Ok(Self {
            root: Arc::new(document.clone()),
        })
    }

    /// The type of the documents that the schema describes.
    pub fn to_type(&self) -> Result<Type, SchemaError> {
        convert::convert(&self.root, &self.root)
    }
}

/// A definition within itself. What it stands for is found out when something looks into it.
pub struct RecursiveType {
    reference: Arc<str>,
    root: Arc<Json>,
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
            .get_or_init(|| convert::definition(&self.root, &self.reference).unwrap_or(Type::Any))
    }

    /// Whether both stand for the same definition.
    pub fn is_same(&self, other: &Self) -> bool {
        self.reference == other.reference && Arc::ptr_eq(&self.root, &other.root)
    }
}

impl fmt::Debug for RecursiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recursive({})", self.reference)
    }
}
