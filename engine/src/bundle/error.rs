//! Why files were not loaded.

use std::fmt;

use solon_syntax::source::{Diagnostic, Diagnostics};

use super::FileError;

/// A file that was not loaded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read, or holds no document: what is said of it, its name first.
    File(String),
    /// It holds no module.
    Syntax(Diagnostic),
    /// It is a bundle that owns documents of another: what is said of all of them.
    Roots(String),
}

impl LoadError {
    /// A failed call of the operating system, named as its users know it.
    pub fn system(call: &str, name: &str, error: &FileError) -> Self {
        Self::File(format!("{call} {name}: {error}"))
    }

    /// A file with something wrong in it.
    pub fn within(name: &str, what: impl fmt::Display) -> Self {
        Self::File(format!("{name}: {what}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(what) | Self::Roots(what) => f.write_str(what),
            Self::Syntax(diagnostic) => diagnostic.fmt(f),
        }
    }
}

/// All files that were not loaded, in the order they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadErrors(pub Vec<LoadError>);

impl fmt::Display for LoadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => one.fmt(f),
            many => {
                write!(f, "{} errors occurred:", many.len())?;
                many.iter().try_for_each(|one| write!(f, "\n{one}"))
            }
        }
    }
}

impl std::error::Error for LoadErrors {}

impl From<LoadError> for LoadErrors {
    fn from(one: LoadError) -> Self {
        Self(vec![one])
    }
}

impl From<Diagnostics> for LoadErrors {
    fn from(diagnostics: Diagnostics) -> Self {
        Self(diagnostics.0.into_iter().map(LoadError::Syntax).collect())
    }
}
