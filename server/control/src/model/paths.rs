//! Paths: of local files, of documents in `data`, and of documents of sources.

use solon_syntax::ast::TermKind;
use solon_syntax::source::{Source as Text, SourceId};
use solon_syntax::{ParseOptions, parse_ref};

use super::{FieldPath, Origin, Reader};
use crate::limits;

/// Returns the problem of a path that leaves its base folder, or `None` if it stays inside.
///
/// The path is parsed by the rules of every operating system: `\` separates like `/`, and `C:` is absolute.
pub fn leaves(path: &str) -> Option<&'static str> {
    let mut letters = path.chars();
    let drive =
        letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
    if path.contains('\0') {
        Some("has a NUL character")
    } else if path.starts_with(['/', '\\']) || drive {
        Some("must be a relative path")
    } else if path.split(['/', '\\']).any(is_up) {
        Some("must not go up with `..`")
    } else {
        None
    }
}

/// Returns `true` if a segment goes up, also after it is decoded once or twice more.
fn is_up(step: &str) -> bool {
    let mut step = step.trim().to_owned();
    for _ in 0..3 {
        // Windows strips blanks and dots from the end of a name.
        if step.starts_with("..") && step.chars().all(|c| c == '.' || c == ' ') {
            return true;
        }
        if step.contains("../") || step.contains("..\\") || step.ends_with("/..") {
            return true;
        }
        let lower = step.to_ascii_lowercase();
        let decoded = lower
            .replace("%25", "%")
            .replace("%2e", ".")
            .replace("%2f", "/")
            .replace("%5c", "\\");
        if decoded == step {
            return false;
        }
        step = decoded;
    }
    step.contains("..")
}

impl Reader {
    /// Reports problems of a path inside a tree that the service fetched or received.
    pub(super) fn check_inside(&mut self, field_path: &FieldPath<'_>, path: &str) {
        if let Some(message) = leaves(path) {
            self.report(field_path, message);
        }
    }

    /// Reports problems of a local path. Configuration files of the operator may contain any path.
    pub(super) fn check_local(&mut self, field_path: &FieldPath<'_>, path: &str) {
        match (self.origin(), leaves(path)) {
            (Origin::Api, Some(message)) => self.report(
                field_path,
                format_args!(
                    "{message}: what is written through the API stays inside the service's folder"
                ),
            ),
            (Origin::File, Some(message)) if path.contains('\0') => {
                self.report(field_path, message);
            }
            _ => {}
        }
    }

    /// Reports problems of a path or prefix in `data`: a reference such as `data.lib` or `lib["a b"]`, or names separated
    /// by slashes.
    pub(super) fn check_data_reference(&mut self, field_path: &FieldPath<'_>, text: &str) {
        if text.is_empty() || is_reference(text) {
            return;
        }
        if let Some(message) = leaves(text) {
            self.report(field_path, message);
            return;
        }
        let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let is_plain_step = |step: &str| !step.is_empty() && step.chars().all(plain) && step != ".";
        if !text.trim_end_matches('/').split('/').all(is_plain_step) || text.ends_with('.') {
            self.report(
                field_path,
                "must be a reference within data such as `lib.authz`, or names with `/` between",
            );
        }
    }
}

fn is_reference(text: &str) -> bool {
    let parse = |text: &str| {
        let source = Text::new(SourceId(0), "path", text);
        parse_ref(&source, &ParseOptions::default())
    };
    let full = match text {
        "data" => return true,
        _ if text.starts_with("data.") || text.starts_with("data[") => text.to_owned(),
        _ if text.starts_with('[') => format!("data{text}"),
        _ => format!("data.{text}"),
    };
    parse(&full).is_ok_and(|terms| {
        let mut steps = terms.iter().skip(1);
        steps.all(|term| matches!(term.kind, TermKind::String(_)))
    })
}

/// The normalized path of a document of source data: no empty segments, no `.` and `..`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataPath(Vec<String>);

/// A problem of the path of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPathError(pub String);

/// The file name that is appended to a path.
const FILE: &str = "data.json";

impl DataPath {
    /// Creates a path from decoded segments.
    ///
    /// # Errors
    /// A segment is not a valid name of a folder.
    pub fn new(steps: Vec<String>) -> Result<Self, DataPathError> {
        let invalid_step = |step: &str| {
            let message = if step.contains('\0') {
                "has a NUL character"
            } else if step.contains(['/', '\\']) {
                "has a backslash"
            } else if step == "." || is_up(step) {
                "must not go up or stay with `.` or `..`"
            } else if leaves(step).is_some() {
                "must not name a drive"
            } else {
                return None;
            };
            Some(DataPathError(format!("the path of the data {message}")))
        };
        // Duplicate slashes are ignored.
        let steps: Vec<String> = steps.into_iter().filter(|step| !step.is_empty()).collect();
        if let Some(error) = steps.iter().find_map(|step| invalid_step(step)) {
            return Err(error);
        }
        let path = Self(steps);
        if path.file().len() > limits::DATA_PATH {
            let limit = limits::DATA_PATH;
            return Err(DataPathError(format!(
                "the path of the data is longer than {limit} bytes"
            )));
        }
        Ok(path)
    }

    /// Returns the segments. The root has none.
    pub fn steps(&self) -> &[String] {
        &self.0
    }

    /// Returns the file that contains the document: `users/data.json`.
    pub fn file(&self) -> String {
        self.folder() + FILE
    }

    /// Returns the common prefix of all files below the path: `users/`, or an empty text for the root.
    pub fn folder(&self) -> String {
        self.0.iter().map(|step| format!("{step}/")).collect()
    }

    /// Returns the path of the document in a file: its folders. Returns `None` if the file does not have the name of
    /// documents.
    pub fn of_file(file: &str) -> Option<Self> {
        let folder = file.strip_suffix(FILE)?;
        let steps = folder.split('/').filter(|step| !step.is_empty());
        Some(Self(steps.map(str::to_owned).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::{DataPath, is_reference, leaves};

    #[test]
    fn paths_that_leave_their_folder() {
        for path in [
            "..",
            "../x",
            "a/../b",
            "a/..",
            "/etc/passwd",
            "\\x",
            "C:\\x",
            "c:x",
            "a\\..\\b",
            "a/%2e%2e/b",
            "%2E%2E",
            "a/%252e%252e/b",
            "..%2fx",
            "..%5cx",
            "x\0y",
            "... ",
            ".. /x",
        ] {
            assert!(leaves(path).is_some(), "{path}");
        }
        for path in [
            "a", "a/b", "", ".", ".hidden", "a..b", "a/b..", "%41", "..a",
        ] {
            assert!(leaves(path).is_none(), "{path}");
        }
    }

    #[test]
    fn references_within_data() {
        for text in ["data", "data.x", "lib.authz", "data[\"a b\"].c", "[\"a\"]"] {
            assert!(is_reference(text), "{text}");
        }
        for text in ["a b", "x[y]", "data.", "1", "x[0]", "f(x)"] {
            assert!(!is_reference(text), "{text}");
        }
    }

    #[test]
    fn documents_are_in_files() {
        let path = |text: &str| DataPath::new(text.split('/').map(str::to_owned).collect());
        assert_eq!(path("users").unwrap().file(), "users/data.json");
        assert_eq!(path("").unwrap().file(), "data.json");
        assert_eq!(path("a//b/").unwrap().file(), "a/b/data.json");
        assert_eq!(
            DataPath::of_file("a/b/data.json"),
            Some(path("a/b").unwrap())
        );
        for text in ["..", "a/../b", ".", "%2e%2e", "C:", "a\\b", "x\0"] {
            assert!(path(text).is_err(), "{text}");
        }
        assert!(path(&"a".repeat(1014)).is_ok());
        assert!(path(&"a".repeat(1015)).is_err());
    }
}
