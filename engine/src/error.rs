//! What the engine answers when it cannot do what was asked.

mod kind;

use std::fmt;
use std::sync::Arc;

pub use kind::ErrorKind;

use solon_syntax::source::{Code, Diagnostic, Diagnostics, Span};

use crate::bug;
use crate::bundle::{LoadError, LoadErrors};
use crate::compile::BLANK_QUERY;
use crate::runtime::{EvalError, StackFrame};
use crate::store::StoreError;
use crate::value::json::JsonError;

/// An error of the engine.
///
/// ```
/// use solon::Engine;
///
/// let error = Engine::new().set_module("p.rego", "package p\n\nallow if x").unwrap_err();
/// let entry = &error.entries()[0];
/// assert_eq!(entry.code, "rego_unsafe_var_error");
/// assert_eq!(entry.message, "var x is unsafe");
/// assert_eq!(entry.location, Some(("p.rego".to_owned(), 3, 10)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// Text that does not parse, or modules and queries that do not compile. Nothing has changed.
    Compile(Diagnostics),
    /// An evaluation that ended early.
    Eval(Box<EvalError>),
    /// A refused read or write of base documents. Nothing has changed.
    Store(StoreError),
    /// An input, or data, that cannot be read.
    Input(InputError),
    /// A value that does not fit the type it was asked as.
    Output(String),
    /// An option that means nothing, like an unknown that is no reference.
    Options(String),
    /// Files that cannot be loaded. Nothing has changed.
    Load(LoadErrors),
    /// A path below which there is neither a rule nor a base document, where one was asked for.
    UnknownPath(String),
    /// A module that is not there.
    UnknownModule(String),
    /// A query without text.
    EmptyQuery,
    /// What no filter of the wanted kind can say, and hints for filters that mean nothing: each with its place.
    Filter(Vec<ErrorEntry>),
    /// A fault of the engine itself: it met a state that cannot be. There is no answer, and nothing has changed. Please
    /// report it.
    Internal(String),
}

/// Why an input, or data, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    message: String,
    json: Option<JsonError>,
}

impl InputError {
    /// By what a conversion says.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            json: None,
        }
    }

    /// The row and the column in JSON text, both from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let json = self.json.as_ref()?;
        Some((json.line(), json.column()))
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

impl From<JsonError> for InputError {
    fn from(error: JsonError) -> Self {
        Self {
            message: error.to_string(),
            json: Some(error),
        }
    }
}

/// One entry of an error in the form that the published APIs list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorEntry {
    /// Published code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// File, row and column, when there is a place.
    pub location: Option<(String, u32, u32)>,
    /// Lines below the message.
    pub details: Vec<String>,
    /// The queries that were running, innermost first, if they were asked for.
    pub stack: Vec<StackFrame>,
}

impl ErrorEntry {
    /// Without a place.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            location: None,
            details: Vec::new(),
            stack: Vec::new(),
        }
    }
}

impl ErrorEntry {
    /// Place, code and message in a line.
    fn line(&self) -> String {
        match &self.location {
            Some((file, row, col)) => {
                format!("{file}:{row}:{col}: {}: {}", self.code, self.message)
            }
            None => format!("{}: {}", self.code, self.message),
        }
    }
}

impl Error {
    /// The entries, in the order they were found.
    pub fn entries(&self) -> Vec<ErrorEntry> {
        match self {
            Self::Compile(diagnostics) => diagnostics.0.iter().map(of_diagnostic).collect(),
            Self::Load(LoadErrors(errors)) => {
                let entries = errors.iter().map(|error| match error {
                    LoadError::Syntax(one) => of_diagnostic(one),
                    LoadError::File(what) | LoadError::Policy(what, _) | LoadError::Roots(what) => {
                        ErrorEntry::new("load_error", what)
                    }
                });
                entries.collect()
            }
            Self::Eval(error) => vec![ErrorEntry {
                code: error.code.as_str().to_owned(),
                message: error.message.clone(),
                location: (error.row > 0).then(|| (error.file.to_string(), error.row, error.col)),
                details: Vec::new(),
                stack: error.stack.clone(),
            }],
            Self::Store(error) => vec![ErrorEntry::new(error.code(), error.to_string())],
            Self::Input(_) | Self::Output(_) | Self::Options(_) => {
                vec![ErrorEntry::new("invalid_parameter", self.to_string())]
            }
            Self::UnknownPath(_) => vec![ErrorEntry::new("resource_not_found", self.to_string())],
            Self::EmptyQuery => vec![ErrorEntry::new("invalid_parameter", EMPTY_QUERY)],
            Self::UnknownModule(name) => vec![ErrorEntry::new(
                "resource_not_found",
                format!("policy id `{name}` not found"),
            )],
            Self::Filter(entries) => entries.clone(),
            Self::Internal(what) => vec![ErrorEntry::new("internal_error", what.clone())],
        }
    }

    /// Runs an operation of the public API; a [`bug!`](crate::bug) or another panic within it becomes
    /// [`Self::Internal`].
    pub(crate) fn caught<R>(run: impl FnOnce() -> Result<R, Self>) -> Result<R, Self> {
        bug::catch(run).unwrap_or_else(|what| Err(Self::Internal(what)))
    }

    /// A query that has no text, or blanks and comments only.
    pub(crate) fn empty_query(text: &str) -> Self {
        if text.is_empty() {
            return Self::EmptyQuery;
        }
        let error = Diagnostic::new(Code::Compile, Arc::from(""), Span::default(), BLANK_QUERY);
        Self::Compile(Diagnostics(vec![error]))
    }

    /// Whether a query was refused for having no expression: no text at all, or blanks and comments only.
    pub fn is_empty_query(&self) -> bool {
        match self {
            Self::EmptyQuery => true,
            Self::Compile(Diagnostics(all)) => {
                matches!(all.as_slice(), [one] if one.message == BLANK_QUERY)
            }
            _ => false,
        }
    }
}

const EMPTY_QUERY: &str = "cannot evaluate empty query";

fn of_diagnostic(one: &Diagnostic) -> ErrorEntry {
    ErrorEntry {
        code: one.code.as_str().to_owned(),
        message: one.message.clone(),
        location: one
            .has_place()
            .then(|| (one.file.to_string(), one.span.row, one.span.col)),
        details: one.details.clone(),
        stack: Vec::new(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(diagnostics) => diagnostics.fmt(f),
            Self::Eval(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Input(error) => error.fmt(f),
            Self::Load(errors) => errors.fmt(f),
            Self::Output(message) | Self::Options(message) => f.write_str(message),
            Self::UnknownPath(path) => write!(f, "no rule and no document at `{path}`"),
            Self::EmptyQuery => f.write_str(EMPTY_QUERY),
            Self::UnknownModule(name) => write!(f, "policy id `{name}` not found"),
            Self::Filter(entries) => {
                let words: Vec<String> = entries.iter().map(ErrorEntry::line).collect();
                f.write_str(&words.join("\n"))
            }
            Self::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {
    /// The error of the part that refused, which has details of its own.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Compile(error) => Some(error),
            Self::Eval(error) => Some(&**error),
            Self::Store(error) => Some(error),
            Self::Input(error) => Some(error),
            Self::Load(errors) => Some(errors),
            _ => None,
        }
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        Self::Input(error.into())
    }
}

impl From<LoadErrors> for Error {
    fn from(errors: LoadErrors) -> Self {
        Self::Load(errors)
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Compile(diagnostics)
    }
}

impl From<Box<EvalError>> for Error {
    fn from(error: Box<EvalError>) -> Self {
        Self::Eval(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
