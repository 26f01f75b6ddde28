//! Why files were not loaded.

use std::fmt;
use std::io;

use solon_syntax::source::Diagnostic;

/// A file that was not loaded.
#[derive(Clone, Debug)]
pub enum LoadError {
    /// It cannot be read, or holds no document.
    File(String),
    /// It holds no module.
    Syntax(Diagnostic),
}

impl LoadError {
    /// A failed call of the operating system, named as its users know it.
    pub fn system(call: &str, name: &str, error: &io::Error) -> Self {
        let words = solon_host::error_text(error);
        Self::File(format!("{call} {name}: {words}"))
    }

    /// A file with something wrong in it.
    pub fn within(name: &str, what: impl fmt::Display) -> Self {
        Self::File(format!("{name}: {what}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(what) => f.write_str(what),
            Self::Syntax(diagnostic) => diagnostic.fmt(f),
        }
    }
}

/// All files that were not loaded.
#[derive(Clone, Debug)]
pub struct LoadErrors(pub Vec<LoadError>);
