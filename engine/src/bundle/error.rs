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
    /// It is a policy of a bundle that does not parse: the message, the bundle's name first, and the errors.
    Policy(String, Diagnostics),
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
            Self::File(what) | Self::Policy(what, _) | Self::Roots(what) => f.write_str(what),
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

/// Errors of a policy's text in OPA's layout: their number, and for each its line with a caret.
pub(crate) fn syntax_errors(diagnostics: &Diagnostics, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let each: Vec<String> = diagnostics
        .0
        .iter()
        .map(|one| syntax_error(one, &text))
        .collect();
    match each.as_slice() {
        // this one is not of OPA's parser, which counts
        [one] if one.ends_with(": empty module") => one.clone(),
        [one] => format!("1 error occurred: {one}"),
        many => format!("{} errors occurred:\n{}", many.len(), many.join("\n")),
    }
}

fn syntax_error(one: &Diagnostic, text: &str) -> String {
    let mut out = String::new();
    if one.has_location() {
        out.push_str(&format!("{}:{}: ", one.file, one.span.row));
    }
    out.push_str(&format!("{}: {}", one.code.as_str(), one.message));
    let row = usize::try_from(one.span.row).unwrap_or(0);
    let line = row.checked_sub(1).and_then(|row| text.lines().nth(row));
    if !one.details.is_empty() {
        for line in &one.details {
            out.push_str(&format!("\n\t{line}"));
        }
    } else if let (Some(line), true) = (line, one.has_location()) {
        let column = usize::try_from(one.span.col).unwrap_or(0).saturating_sub(1);
        let before = line.chars().take(column);
        let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        out.push_str(&format!("\n\t{line}\n\t{blank}^"));
    }
    out
}
