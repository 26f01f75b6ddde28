//! Errors that carry a place.

use std::fmt;
use std::sync::Arc;

use super::{Source, Span};

/// The published code of a diagnostic.
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
    /// The code as Rego's users know it.
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

/// One error of the front end.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Published code.
    pub code: Code,
    /// What is wrong, in Rego's words.
    pub message: String,
    /// File name; empty for queries and for errors without a place.
    pub file: Arc<str>,
    /// The place; nowhere with a file name stands for the file as a whole.
    pub span: Span,
    /// Further lines, each printed behind a tab (a source line with a caret, `have:` and `want:`).
    pub details: Vec<String>,
    /// The same details as published JSON (`{"line", "idx"}`, `{"have", "want"}`, …), when there are any.
    pub details_json: Option<serde_json::Value>,
}

impl Diagnostic {
    /// A diagnostic without details.
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

    /// A diagnostic in a source text.
    pub fn at_span(code: Code, source: &Source, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, source.name.clone(), span, message)
    }

    /// Whether it points at a file, or into a text.
    pub fn has_place(&self) -> bool {
        self.span.is_somewhere() || !self.file.is_empty()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_place() {
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

/// All errors of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Orders by file, row, column, then text; what has no place comes last.
    pub fn sort(&mut self) {
        let place = |one: &Diagnostic| (!one.has_place(), one.span.row, one.span.col);
        self.0.sort_by(|a, b| {
            let (a_nowhere, a_row, a_col) = place(a);
            let (b_nowhere, b_row, b_col) = place(b);
            (a_nowhere, &a.file, a_row, a_col)
                .cmp(&(b_nowhere, &b.file, b_row, b_col))
                .then_with(|| a.to_string().cmp(&b.to_string()))
        });
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("no error(s)"),
            [one] => write!(f, "1 error occurred: {one}"),
            many => {
                write!(f, "{} errors occurred:", many.len())?;
                for one in many {
                    write!(f, "\n{one}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Diagnostics {}
