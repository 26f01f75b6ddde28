//! Why a text is not YAML, or not JSON behind it.

use std::fmt;

use saphyr_parser::ScanError;

/// A text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError(Box<str>);

impl YamlError {
    /// What it is as YAML.
    pub(super) fn yaml(what: impl fmt::Display) -> Self {
        Self(format!("yaml: {what}").into())
    }

    /// What keeps it from being JSON.
    pub(super) fn json(what: impl fmt::Display) -> Self {
        Self(what.to_string().into())
    }

    pub(super) fn syntax(error: &ScanError) -> Self {
        Self::yaml(format_args!(
            "line {}: {}",
            error.marker().line(),
            error.info()
        ))
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for YamlError {}
