//! Delta bundles: changes of documents instead of all of them, in the file `patch.json`.

use std::fmt;

use super::go_json::{GoFields, read_first, type_error};
use crate::store::{Operation, Path, StoreError, Transaction};
use crate::value::{Repr, Value};

/// A change of one document by a delta bundle.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatchOperation {
    /// `upsert`, `replace` or `remove`.
    pub op: String,
    /// Slash-separated path of the document below `data`, escaped as in JSON Patch.
    pub path: String,
    /// The new document. Not used by `remove`.
    pub value: Value,
}

/// Parses `patch.json` and returns its operations in order. Bytes after the first JSON value are ignored, as OPA ignores them.
///
/// # Errors
/// The message of Go's JSON decoder.
pub fn read(text: &[u8]) -> Result<Vec<PatchOperation>, String> {
    let value = read_first(text)?;
    let Some(fields) = GoFields::of_object(&value, "bundle.Patch")? else {
        return Ok(Vec::new());
    };
    let fields = fields.named("Patch");
    let operations = fields.array("data", "[]bundle.PatchOperation")?;
    let operations_read = operations.unwrap_or_default().iter().map(|operation| {
        let Value(Repr::Object(object)) = operation else {
            return Err(type_error(operation, "Patch.data", "bundle.PatchOperation"));
        };
        let fields = GoFields::of_nested(object, "PatchOperation.data");
        Ok(PatchOperation {
            op: fields.string("op")?.unwrap_or_default(),
            path: fields.string("path")?.unwrap_or_default(),
            value: fields.get("value").cloned().unwrap_or_default(),
        })
    });
    operations_read.collect()
}

impl PatchOperation {
    /// Returns the path of the document, with the escapes of JSON Patch decoded.
    pub fn document(&self) -> Path {
        let path = self.path.trim_matches('/');
        if path.is_empty() {
            return Path::default();
        }
        let steps = path.split('/');
        Path::new(steps.map(|step| step.replace("~1", "/").replace("~0", "~")))
    }

    /// Returns the operation, or `None` if its name is not known.
    pub(super) fn operation(&self) -> Option<Operation> {
        match &*self.op {
            "upsert" => Some(Operation::Add),
            "replace" => Some(Operation::Replace),
            "remove" => Some(Operation::Remove),
            _ => None,
        }
    }

    /// Applies the operation to a transaction.
    ///
    /// # Errors
    /// The operation is unknown, or the documents do not permit it. Parents of the document may have been created then.
    pub(crate) fn apply(&self, transaction: &mut Transaction) -> Result<(), PatchError> {
        let path = self.document();
        let Some(operation) = self.operation() else {
            return Err(PatchError::Unknown(self.op.clone()));
        };
        let parent_length = path.segments().len().saturating_sub(1);
        let parent = Path::new(path.segments().iter().take(parent_length).cloned());
        if operation == Operation::Add && parent.find(transaction.root()).is_none() {
            transaction.make_parents(&path)?;
        }
        Ok(transaction.write(operation, &path, self.value.clone())?)
    }
}

/// The reason why an operation of a delta bundle was not applied.
#[derive(Debug)]
pub(crate) enum PatchError {
    /// The name of the operation is not known.
    Unknown(String),
    /// The documents do not permit the operation.
    Store(StoreError),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(operation) => write!(f, "bad patch operation: {operation}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl From<StoreError> for PatchError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
