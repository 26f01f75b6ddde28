//! JSON Patch (RFC 6902) on base documents.

use solon::store::{Operation, PatchStep, Path};
use solon::{Value, json};

use super::ApiError;
use super::members::{self, Members};
use crate::http::segments;

pub struct Sent<'a> {
    op: String,
    path: String,
    from: Option<String>,
    value: Option<&'a str>,
}

/// Parses the operations of a body. 400 for a malformed one, with its index.
pub fn read(text: &str) -> Result<Vec<Sent<'_>>, ApiError> {
    let items = members::items(text).map_err(ApiError::invalid)?;
    let read_operation = |(index, item)| {
        Sent::read(item)
            .map_err(|message| ApiError::invalid(format!("operation {index}: {message}")))
    };
    items.into_iter().enumerate().map(read_operation).collect()
}

impl<'a> Sent<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let members = Members::from_text(text)?;
        Ok(Self {
            op: members.string("op")?.unwrap_or_default(),
            path: members.string("path")?.unwrap_or_default(),
            from: members.string("from")?,
            value: members.get("value"),
        })
    }

    /// Returns the patch step of this operation, with its paths relative to `parent`.
    pub fn below_parent(self, parent: &Path) -> Result<PatchStep, ApiError> {
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
            None => Ok(Value::NULL),
        };
        Ok(match self.op.as_str() {
            "add" => PatchStep::Write(Operation::Add, to, value()?),
            "replace" => PatchStep::Write(Operation::Replace, to, value()?),
            "remove" => PatchStep::Write(Operation::Remove, to, Value::NULL),
            "test" => PatchStep::Test(to, value()?),
            "copy" => PatchStep::Copy { from: from()?, to },
            "move" => PatchStep::Move { from: from()?, to },
            other => return Err(ApiError::invalid(format!("bad patch operation: {other}"))),
        })
    }
}

/// Parses a JSON pointer, whose first slash may be missing. Percent escapes are decoded like those of the target.
fn pointer(text: &str) -> Result<Path, ApiError> {
    let inner = text.trim_matches('/');
    let decoded =
        segments(inner).ok_or_else(|| ApiError::invalid(format!("bad patch path: {text}")))?;
    Ok(unescaped(&Path::new(decoded)))
}

/// Decodes the JSON pointer escapes of a path. The target of a patch has them as well, because it is the prefix of the path of each
/// operation.
pub fn unescaped(path: &Path) -> Path {
    let segments = path.segments().iter();
    Path::new(segments.map(|segment| segment.replace("~1", "/").replace("~0", "~")))
}
