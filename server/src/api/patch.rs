//! JSON Patch (RFC 6902) on base documents.

use solon::store::{Operation, Path, StoreError, Transaction};
use solon::{Value, json};

use super::ApiError;
use super::body::{self, Members};
use crate::http::segments;

/// An operation as it was sent.
pub struct Sent<'a> {
    op: String,
    path: String,
    from: Option<String>,
    value: Option<&'a str>,
}

/// An operation on full paths.
pub enum PatchStep {
    /// `add`, `replace`, `remove`
    Write(Operation, Path, Value),
    /// `test`
    Test(Path, Value),
    /// `copy`
    Copy {
        /// Where it is.
        from: Path,
        /// Where it goes.
        to: Path,
    },
    /// `move`
    Move {
        /// Where it is.
        from: Path,
        /// Where it goes.
        to: Path,
    },
}

/// Reads the operations of a body.
pub fn read(text: &str) -> Result<Vec<Sent<'_>>, ApiError> {
    let items = body::items(text).map_err(ApiError::invalid)?;
    let read = |(at, item)| {
        Sent::read(item).map_err(|words| ApiError::invalid(format!("operation {at}: {words}")))
    };
    items.into_iter().enumerate().map(read).collect()
}

impl<'a> Sent<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let members = Members::of(text)?;
        Ok(Self {
            op: members.string("op")?.unwrap_or_default(),
            path: members.string("path")?.unwrap_or_default(),
            from: members.string("from")?,
            value: members.get("value"),
        })
    }

    /// The step that this operation is when its paths are taken below `parent`.
    pub fn below(self, parent: &Path) -> Result<PatchStep, ApiError> {
        let to = parent.join(&pointer(&self.path)?);
        let from = || match &self.from {
            Some(from) => Ok(parent.join(&pointer(from)?)),
            None => Err(ApiError::invalid(format!(
                "missing `from` of patch operation: {}",
                self.op
            ))),
        };
        let value = || match self.value {
            Some(text) => {
                json::read(text.as_bytes()).map_err(|error| ApiError::invalid(error.to_string()))
            }
            None => Ok(Value::Null),
        };
        Ok(match self.op.as_str() {
            "add" => PatchStep::Write(Operation::Add, to, value()?),
            "replace" => PatchStep::Write(Operation::Replace, to, value()?),
            "remove" => PatchStep::Write(Operation::Remove, to, Value::Null),
            "test" => PatchStep::Test(to, value()?),
            "copy" => PatchStep::Copy { from: from()?, to },
            "move" => PatchStep::Move { from: from()?, to },
            other => return Err(ApiError::invalid(format!("bad patch operation: {other}"))),
        })
    }
}

impl PatchStep {
    /// Makes the change, seeing those before it.
    pub fn apply(self, transaction: &mut Transaction) -> Result<(), ApiError> {
        match self {
            Self::Write(operation, path, value) => transaction.write(operation, &path, value)?,
            Self::Test(path, value) => {
                if *transaction.read(&path)? != value {
                    let message = format!("{path}: test failed");
                    return Err(StoreError::InvalidPatch { message }.into());
                }
            }
            Self::Copy { from, to } => {
                let value = transaction.read(&from)?.clone();
                transaction.write(Operation::Add, &to, value)?;
            }
            Self::Move { from, to } if from == to => drop(transaction.read(&from)?),
            Self::Move { from, to } => {
                if to.segments().starts_with(from.segments()) {
                    let message = format!("{from}: cannot be moved into itself");
                    return Err(StoreError::InvalidPatch { message }.into());
                }
                let value = transaction.read(&from)?.clone();
                transaction.write(Operation::Remove, &from, Value::Null)?;
                transaction.write(Operation::Add, &to, value)?;
            }
        }
        Ok(())
    }
}

/// Reads a JSON pointer, whose first slash may be missing. Percent escapes are decoded like those of the target.
fn pointer(text: &str) -> Result<Path, ApiError> {
    let inner = text.trim_matches('/');
    let decoded =
        segments(inner).ok_or_else(|| ApiError::invalid(format!("bad patch path: {text}")))?;
    Ok(Path::new(decoded.iter().map(|segment| {
        segment.replace("~1", "/").replace("~0", "~")
    })))
}
