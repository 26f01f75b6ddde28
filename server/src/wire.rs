//! Parts of errors that the API and the command line show alike.

use serde::Serialize;
use serde_json::Value;
use solon::value::{Arena, json};
use solon_syntax::source::Diagnostic;

/// What Go's decoder says of a text that is no JSON, or of what follows the first value of one.
pub fn malformed_json(text: &[u8]) -> String {
    match json::unmarshal(&Arena::new(), text) {
        Err(words) => words,
        Ok(_) => "invalid JSON".to_owned(),
    }
}

/// Where an error is.
#[derive(Debug, Serialize)]
pub struct Location {
    /// The file; empty for a query.
    pub file: String,
    /// Row, from 1.
    pub row: u32,
    /// Column, from 1.
    pub col: u32,
}

impl From<(String, u32, u32)> for Location {
    fn from((file, row, col): (String, u32, u32)) -> Self {
        Self { file, row, col }
    }
}

/// What more is known of an error.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// The line that does not parse.
    Line {
        /// Its text.
        line: String,
        /// Bytes before the place.
        idx: u64,
    },
    /// Anything else, by name.
    Other(Value),
}

impl Details {
    /// The details of a diagnostic.
    pub fn of(diagnostic: &Diagnostic) -> Option<Self> {
        let details = diagnostic.details_json.as_ref()?;
        let line = details.get("line").and_then(Value::as_str);
        let idx = details.get("idx").and_then(Value::as_u64);
        Some(match (line, idx) {
            (Some(line), Some(idx)) => Self::Line {
                line: line.to_owned(),
                idx,
            },
            _ => Self::Other(details.clone()),
        })
    }
}
