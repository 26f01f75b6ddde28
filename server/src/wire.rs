//! Parts of errors that are equal in the API and on the command line.

use serde::{Serialize, Serializer};
use serde_json::Value;
use solon::{ErrorEntry, StackFrame};
use solon_syntax::source::Diagnostic;

#[derive(Debug, Serialize)]
pub struct ErrorLocation {
    /// File; empty for a query.
    pub file: String,
    pub row: u32,
    /// Column, from 1, in code points.
    pub col: u32,
}

impl From<(String, u32, u32)> for ErrorLocation {
    fn from((file, row, col): (String, u32, u32)) -> Self {
        Self { file, row, col }
    }
}

#[derive(Debug, Serialize)]
pub struct ErrorItem {
    /// Code, for example `eval_conflict_error`.
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<ErrorLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack_trace: Vec<RunningQuery>,
}

impl ErrorItem {
    /// Converts an error of the parser or the compiler.
    pub fn from_diagnostic(diagnostic: &Diagnostic) -> Self {
        let location = diagnostic.has_location().then(|| ErrorLocation {
            file: diagnostic.file.to_string(),
            row: diagnostic.span.row,
            col: diagnostic.span.col,
        });
        Self {
            code: diagnostic.code.as_str().to_owned(),
            message: diagnostic.message.clone(),
            location,
            details: Details::from_diagnostic(diagnostic),
            stack_trace: Vec::new(),
        }
    }
}

/// A query that was running when an error occurred.
#[derive(Debug, Serialize)]
pub struct RunningQuery {
    query_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<ErrorLocation>,
}

impl From<&StackFrame> for RunningQuery {
    fn from(frame: &StackFrame) -> Self {
        let location = frame.location.as_ref();
        Self {
            query_id: frame.query_id,
            location: location.map(|(file, row, col)| ErrorLocation {
                file: file.to_string(),
                row: *row,
                col: *col,
            }),
        }
    }
}

/// Details of an error, by name.
#[derive(Debug)]
pub struct Details(Value);

/// Names in output order. Other names follow.
const DETAILS: [&str; 7] = ["line", "idx", "ref", "pos", "have", "want", "oneOf"];

impl Details {
    pub fn from_diagnostic(diagnostic: &Diagnostic) -> Option<Self> {
        diagnostic.details_json.clone().map(Self)
    }

    /// Returns the lines after the message of an entry.
    pub fn of_entry(entry: &ErrorEntry) -> Option<Self> {
        let lines = (!entry.details.is_empty()).then(|| entry.details.join("\n"))?;
        Some(Self(serde_json::json!({"details": lines})))
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(fields) = &self.0 else {
            return self.0.serialize(serializer);
        };
        let known_fields = DETAILS
            .iter()
            .filter_map(|name| fields.get_key_value(*name));
        let other_fields = fields
            .iter()
            .filter(|(name, _)| !DETAILS.contains(&name.as_str()));
        serializer.collect_map(known_fields.chain(other_fields))
    }
}
