//! Globs of files and labels.

use std::sync::OnceLock;

use solon::{Engine, PreparedDocument, Request, Value};

use super::{FieldPath, Reader};
use crate::limits;

/// A glob without delimiters: `*` also matches `/`, as for files and labels in OPA Control Plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

/// Matching uses the engine, so that a glob has the same meaning as in a policy.
const MODULE: &str = "package control\n\nmatches if glob.match(input[0], null, input[1])\n";

fn document() -> Option<&'static PreparedDocument> {
    static DOCUMENT: OnceLock<Option<PreparedDocument>> = OnceLock::new();
    let prepare = || {
        let engine = Engine::new();
        engine.set_module("glob.rego", MODULE).ok()?;
        engine.prepare_document("data.control.matches").ok()
    };
    DOCUMENT.get_or_init(prepare).as_ref()
}

impl Glob {
    /// Parses a glob.
    ///
    /// # Errors
    /// The problem of the glob.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > limits::GLOB {
            return Err(format!("is a glob of more than {} bytes", limits::GLOB));
        }
        let glob = Self(pattern.to_owned());
        match glob.evaluate("", true) {
            Ok(_) => Ok(glob),
            Err(message) => Err(format!("is not a valid glob: {message}")),
        }
    }

    /// Returns `true` if the glob matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.evaluate(text, false).unwrap_or(false)
    }

    fn evaluate(&self, text: &str, strict: bool) -> Result<bool, String> {
        let Some(document) = document() else {
            return Err("the engine does not match globs".to_owned());
        };
        let input = Value::array(vec![Value::from(self.0.as_str()), Value::from(text)]);
        let request = Request::new().input(&input).strict_builtin_errors(strict);
        match document.evaluate(&request) {
            Ok(result) => Ok(result.is_some()),
            Err(error) => {
                let entries = error.entries();
                let message = entries.first().map_or("", |entry| entry.message.as_str());
                Err(message.trim_start_matches("glob.match: ").to_owned())
            }
        }
    }
}

impl Reader {
    /// Reports problems of globs.
    pub(super) fn check_globs(&mut self, field_path: &FieldPath<'_>, globs: &[String]) {
        for (index, glob) in globs.iter().enumerate() {
            if let Err(message) = Glob::new(glob) {
                self.report(&field_path.element(index), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn globs_have_no_delimiters() {
        let matches = |glob: &str, text: &str| Glob::new(glob).unwrap().matches(text);
        assert!(matches("*.rego", "a/b/c.rego"));
        assert!(matches("app/*", "app/x/y.rego"));
        assert!(!matches("**/*.rego", "foo.rego"));
        assert!(matches("{a,b}?", "bx"));
        assert!(!matches("", "x"));
    }

    #[test]
    fn broken_globs_are_reported() {
        assert!(
            Glob::new("[")
                .unwrap_err()
                .starts_with("is not a valid glob: ")
        );
        assert!(Glob::new(&"a".repeat(5000)).unwrap_err().contains("4096"));
    }
}
