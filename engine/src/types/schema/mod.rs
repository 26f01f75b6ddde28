//! JSON Schema for type checking: validity of schemas, and the types of the documents that they describe.

mod convert;
pub mod document;
pub mod reference;
mod type_keywords;
mod uri;
pub mod validity;

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Type;
use crate::value::{Repr, Value};
use reference::SchemaReferences;

/// A schema document that was checked once.
#[derive(Clone, Debug)]
pub struct ValidSchema {
    root: Arc<Value>,
}

/// Reason why a document is not a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// No document.
    Missing,
    /// The document is not valid: OPA's message.
    Invalid(String),
    /// Contradictory schemas in `allOf`.
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

impl ValidSchema {
    /// Validates a document. Patterns of any regular expression dialect are accepted, because types do not depend on them.
    ///
    /// # Errors
    ///
    /// Fails if the document is null, or is not a valid schema.
    pub fn new(document: &Value) -> Result<Self, SchemaError> {
        if matches!(document, Value(Repr::Null)) {
            return Err(SchemaError::Missing);
        }
        let references = SchemaReferences::new(document).map_err(SchemaError::Invalid)?;
        validity::check(document, &references, &|_| true).map_err(SchemaError::Invalid)?;
        Ok(Self {
            root: Arc::new(document.clone()),
        })
    }

    /// Returns the type of the documents that the schema describes.
    ///
    /// # Errors
    ///
    /// Fails if a reference has no target, or if the schemas of an `allOf` contradict each other.
    pub fn to_type(&self) -> Result<Type, SchemaError> {
        convert::convert(&self.root)
    }
}

/// A recursive definition, expanded on demand.
pub struct RecursiveType {
    reference: Arc<str>,
    /// Reference, resolved against its base.
    absolute: Arc<str>,
    root: Arc<Value>,
    unfolded: OnceLock<Type>,
}

impl RecursiveType {
    /// Returns the reference as the schema spells it, not resolved.
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Returns the type that the referenced definition describes. It may be recursive: contain this type again.
    pub fn unfold(&self) -> &Type {
        self.unfolded
            .get_or_init(|| convert::definition(&self.root, &self.absolute).unwrap_or(Type::Any))
    }

    /// Returns `true` if both refer to the same definition.
    pub fn is_same(&self, other: &Self) -> bool {
        self.absolute == other.absolute && Arc::ptr_eq(&self.root, &other.root)
    }
}

impl fmt::Debug for RecursiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recursive({})", self.reference)
    }
}
