//! Errors with a source location.

use std::fmt;
use std::sync::Arc;

use super::{Source, Span};

/// OPA's code of a diagnostic, which decides how editors and tools classify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// `rego_parse_error`
    Parse,
    /// `rego_compile_error`
    Compile,
    /// `rego_type_error`
    Type,
    /// `rego_unsafe_var_error`
    UnsafeVar,
    /// `rego_recursion_error`
    Recursion,
}

impl Code {
    /// Returns the code as OPA spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "rego_parse_error",
            Self::Compile => "rego_compile_error",
            Self::Type => "rego_type_error",
            Self::UnsafeVar => "rego_unsafe_var_error",
            Self::Recursion => "rego_recursion_error",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of the parser or compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// OPA's code.
    pub code: Code,
    /// Message, in OPA's words.
    pub message: String,
    /// File name. Empty for queries and for errors without a location.
    pub file: Arc<str>,
    /// Location. A span outside of any text together with a file name refers to the file as a whole.
    pub span: Span,
    /// Further lines, each printed after a tab (a source line with a caret, `have:` and `want:`).
    pub details: Vec<String>,
    /// The details as OPA's JSON (`{"line", "idx"}`, `{"have", "want"}`, …), if there are any.
    pub details_json: Option<serde_json::Value>,
}

impl Diagnostic {
    /// Returns a diagnostic without details.
    pub fn new(code: Code, file: Arc<str>, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            file,
            span,
            details: Vec::new(),
            details_json: None,
        }
    }

    /// Returns a diagnostic at a span of a source text, whose name becomes the file.
    pub fn at_span(code: Code, source: &Source, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, source.name.clone(), span, message)
    }

    /// Returns `true` if it refers to a file or to a text.
    pub fn has_location(&self) -> bool {
        self.span.is_somewhere() || !self.file.is_empty()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_location() {
            if self.file.is_empty() {
                write!(f, "{}:{}: ", self.span.row, self.span.col)?;
            } else {
                write!(f, "{}:{}: ", self.file, self.span.row)?;
            }
        }
        write!(f, "{}: {}", self.code, self.message)?;
        for line in &self.details {
            write!(f, "\n\t{line}")?;
        }
        Ok(())
    }
}

/// All errors of a compiler phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Sorts by file, row, column, then message. Diagnostics without a location come last.
    pub fn sort(&mut self) {
        let sort_key = |diagnostic: &Diagnostic| {
            (
                !diagnostic.has_location(),
                diagnostic.span.row,
                diagnostic.span.col,
            )
        };
        self.0.sort_by(|a, b| {
            let (a_nowhere, a_row, a_col) = sort_key(a);
            let (b_nowhere, b_row, b_col) = sort_key(b);
            (a_nowhere, &a.file, a_row, a_col)
                .cmp(&(b_nowhere, &b.file, b_row, b_col))
                .then_with(|| a.to_string().cmp(&b.to_string()))
        });
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("no error(s)"),
            [diagnostic] => write!(f, "1 error occurred: {diagnostic}"),
            diagnostics => {
                write!(f, "{} errors occurred:", diagnostics.len())?;
                for diagnostic in diagnostics {
                    write!(f, "\n{diagnostic}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Diagnostics {}
