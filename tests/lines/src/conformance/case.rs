//! The published form of a case.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A case.
#[derive(Deserialize)]
pub struct Case {
    pub note: String,
    pub query: String,
    #[serde(default)]
    pub modules: Vec<String>,
    pub data: Option<Box<RawValue>>,
    pub input: Option<Box<RawValue>>,
    /// An input as a Rego term.
    pub input_term: Option<String>,
    pub want_result: Option<Box<RawValue>>,
    pub want_error: Option<String>,
    pub want_error_code: Option<String>,
    #[serde(default)]
    pub strict_error: bool,
    #[serde(default)]
    pub sort_bindings: bool,
    #[serde(default)]
    pub v0: bool,
}

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

/// The cases of all files below a directory, in the order of their names.
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
