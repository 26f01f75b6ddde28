//! OPA's format of conformance cases.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, json};

/// A case.
#[derive(Deserialize)]
pub struct Case {
    /// Name of the case.
    pub note: String,
    /// Query to evaluate.
    pub query: String,
    /// Source texts of modules.
    #[serde(default)]
    pub modules: Vec<String>,
    /// All base documents.
    pub data: Option<Box<RawValue>>,
    /// Input as JSON.
    pub input: Option<Box<RawValue>>,
    /// Input as a Rego term.
    pub input_term: Option<String>,
    /// Expected solutions.
    pub want_result: Option<Box<RawValue>>,
    /// Expected part of the error message.
    pub want_error: Option<String>,
    /// Expected error code.
    pub want_error_code: Option<String>,
    /// `true` if the first error of a built-in ends the evaluation.
    #[serde(default)]
    pub strict_error: bool,
    /// `true` if the order of arrays does not matter.
    #[serde(default)]
    pub sort_bindings: bool,
    /// `true` for Rego v0.
    #[serde(default)]
    pub v0: bool,
}

/// Time of the clock, in nanoseconds since the Unix epoch: the certificates of the cases are valid in 2026.
const NOW: i64 = 1_790_000_000_000_000_000;

impl Case {
    /// Returns the request for the case. Documents are copied as text, since the texts of numbers matter.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        let modules = self.modules.iter().enumerate();
        let modules = modules.map(|(at, text)| (format!("test-{at}.rego"), text.as_str().into()));
        let modules: Map<String, serde_json::Value> = modules.collect();
        let rest = json!({
            "modules": modules,
            "query": self.query,
            "v0": self.v0,
            "strict_builtin_errors": self.strict_error,
            "input_term": self.input_term.as_ref().filter(|_| self.input.is_none()),
            "now_ns": NOW,
            "allow_base_conflicts": true,
        });
        let mut line = serde_json::to_string(&rest)?;
        line.pop();
        for (name, document) in [("data", &self.data), ("input", &self.input)] {
            if let Some(document) = document {
                // a line contains no line breaks
                let document = document.get().replace(['\n', '\r'], " ");
                line += &format!(",\"{name}\":{document}");
            }
        }
        Ok(line + "}")
    }
}

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

/// Reads the cases of all files below a directory, ordered by file name.
pub fn read_all(directory: &Path) -> Vec<Case> {
    let mut entries: Vec<_> = std::fs::read_dir(directory)
        .expect("the directory of cases can be read")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    entries.sort();
    let mut cases = Vec::new();
    for path in entries {
        if path.is_dir() {
            cases.extend(read_all(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let text = std::fs::read_to_string(&path).expect("a file of cases can be read");
            let file: File = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            cases.extend(file.cases);
        }
    }
    cases
}
