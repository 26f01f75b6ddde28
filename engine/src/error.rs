//! Errors of the engine, and their entries: code, message and location.

mod kind;
mod payloads;

use std::fmt;
use std::sync::Arc;

pub use kind::ErrorKind;
pub use payloads::{InputError, OptionError};

use solon_syntax::source::{Code, Diagnostic, Diagnostics, Span};

use crate::bug::{self, InternalError};
use crate::builtins::DeclarationError;
use crate::bundle::LoadErrors;
use crate::compile::BLANK_QUERY;
use crate::runtime::{EvalError, StackFrame};
use crate::store::{Path, PathError, StoreError};
use crate::value::json::JsonError;
use crate::value::serde::ConvertError;

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
    /// Text that does not parse, or modules and queries that do not compile. The engine is unchanged.
    Compile(Diagnostics),
    /// An evaluation that failed, was cancelled or exceeded a limit.
    Eval(Box<EvalError>),
    /// A rejected read or write of base documents. The engine is unchanged.
    Store(StoreError),
    /// An input, or data, that is not valid.
    Input(InputError),
    /// A value that cannot be converted to the requested type.
    Output(ConvertError),
    /// An invalid option or path, for example an unknown that is not a reference.
    Options(OptionError),
    /// Files that cannot be loaded. The engine is unchanged.
    Load(LoadErrors),
    /// A path at which there is neither a rule nor a base document, where one is required.
    UnknownPath(Path),
    /// A module that does not exist.
    UnknownModule {
        /// The name of the module that does not exist.
        name: String,
    },
    /// A query without an expression.
    EmptyQuery,
    /// Conditions that a filter of the requested kind cannot express, and hints for filters with suspicious names, each
    /// with its location.
    Filter(Vec<ErrorEntry>),
    /// A bug of the engine: an invariant was violated. The result is lost, and the engine is unchanged. Please report
    /// it.
    Internal(InternalError),
}

/// One entry of an error in the format of OPA's APIs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorEntry {
    /// OPA's code, such as `rego_parse_error`.
    pub code: String,
    /// Description of the error and of the expected value.
    pub message: String,
    /// File, row and column, if there is a location.
    pub location: Option<(String, u32, u32)>,
    /// Lines below the message.
    pub details: Vec<String>,
    /// The queries that were running, innermost first, if they were requested.
    pub stack: Vec<StackFrame>,
}

impl ErrorEntry {
    /// Creates an entry without a location.
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
    /// Returns location, code and message in one line.
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
    /// Returns the entries in the order they were found.
    pub fn entries(&self) -> Vec<ErrorEntry> {
        match self {
            Self::Compile(diagnostics) => diagnostics.0.iter().map(of_diagnostic).collect(),
            Self::Load(LoadErrors(errors)) => {
                let entries = errors.iter().map(|error| match error.diagnostic() {
                    Some(diagnostic) => of_diagnostic(diagnostic),
                    None => ErrorEntry::new("load_error", error.to_string()),
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
            Self::UnknownModule { name } => vec![ErrorEntry::new(
                "resource_not_found",
                format!("policy id `{name}` not found"),
            )],
            Self::Filter(entries) => entries.clone(),
            Self::Internal(error) => vec![ErrorEntry::new("internal_error", error.message())],
        }
    }

    /// Runs an operation of the public API; a [`bug!`](crate::bug) or another panic within it becomes
    /// [`Self::Internal`].
    pub(crate) fn caught<R>(run: impl FnOnce() -> Result<R, Self>) -> Result<R, Self> {
        bug::catch(run).unwrap_or_else(|panic| Err(Self::Internal(panic)))
    }

    /// Returns the error of a query without text, or with blanks and comments only.
    pub(crate) fn empty_query(text: &str) -> Self {
        if text.is_empty() {
            return Self::EmptyQuery;
        }
        let error = Diagnostic::new(Code::Compile, Arc::from(""), Span::default(), BLANK_QUERY);
        Self::Compile(Diagnostics(vec![error]))
    }

    /// Returns `true` if a query was rejected because it has no expression: no text at all, or blanks and comments
    /// only.
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

fn of_diagnostic(diagnostic: &Diagnostic) -> ErrorEntry {
    ErrorEntry {
        code: diagnostic.code.as_str().to_owned(),
        message: diagnostic.message.clone(),
        location: diagnostic.has_location().then(|| {
            (
                diagnostic.file.to_string(),
                diagnostic.span.row,
                diagnostic.span.col,
            )
        }),
        details: diagnostic.details.clone(),
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
            Self::Output(error) => error.fmt(f),
            Self::Options(error) => error.fmt(f),
            Self::UnknownPath(path) => {
                write!(f, "no rule and no document at `{}`", path.reference())
            }
            Self::EmptyQuery => f.write_str(EMPTY_QUERY),
            Self::UnknownModule { name } => write!(f, "policy id `{name}` not found"),
            Self::Filter(entries) => {
                let lines: Vec<String> = entries.iter().map(ErrorEntry::line).collect();
                f.write_str(&lines.join("\n"))
            }
            Self::Internal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    /// Returns the error of the component that failed, which has more details.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Compile(error) => Some(error),
            Self::Eval(error) => Some(&**error),
            Self::Store(error) => Some(error),
            Self::Input(error) => Some(error),
            Self::Load(errors) => Some(errors),
            Self::Output(error) => Some(error),
            Self::Options(error) => Some(error),
            Self::Internal(error) => Some(error),
            Self::UnknownPath(_)
            | Self::UnknownModule { .. }
            | Self::EmptyQuery
            | Self::Filter(_) => None,
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

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Self {
        Self::Options(error)
    }
}

impl From<DeclarationError> for Error {
    fn from(error: DeclarationError) -> Self {
        Self::Options(OptionError::new(error.to_string()))
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        Self::Options(OptionError::new(error.to_string()))
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
