//! Errors that end an evaluation.

use std::fmt;
use std::sync::Arc;

use solon_syntax::source::Span;

use super::StackFrame;
use crate::builtins::{BuiltinError, BuiltinErrorDetail, EvalErrorCode, StopReason};
use crate::limits;
use crate::program::Program;
use crate::value::{Ended, ValueRef};

/// An error that ends an evaluation: code, message and location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvalError {
    /// OPA's code, which decides the kind of the error.
    pub code: EvalErrorCode,
    /// Message, as OPA words it.
    pub message: String,
    /// File name. Empty for queries and errors without a location.
    pub file: Arc<str>,
    /// Row from 1, or 0 without a location.
    pub row: u32,
    /// Column from 1, or 0 without a location.
    pub col: u32,
    /// The queries that were running, innermost first. Empty if they are not known.
    pub stack: Vec<StackFrame>,
}

impl EvalError {
    /// Returns the error of a value or an evaluation that is nested too deeply.
    pub(crate) fn too_deep() -> Self {
        Self::nowhere(EvalErrorCode::Internal, "evaluation is nested too deeply")
    }

    /// Returns the error of an evaluation that exceeds its memory limit.
    pub(crate) fn too_large() -> Self {
        Self::stopped(StopReason::MemoryLimit)
    }

    /// Returns the error of a long step that was interrupted.
    pub(crate) fn ended(why: Ended) -> Self {
        Self::stopped(match why {
            Ended::Late => StopReason::Timeout,
            Ended::Cancelled => StopReason::Cancelled,
        })
    }

    /// Returns the error of an evaluation that a limit or the caller stops.
    pub(crate) fn stopped(reason: StopReason) -> Self {
        Self::nowhere(EvalErrorCode::Cancel(reason), reason.message())
    }

    /// Returns the error of an explanation that exceeds its memory limit.
    pub(crate) fn explanation_too_large() -> Self {
        Self::nowhere(
            EvalErrorCode::Cancel(StopReason::MemoryLimit),
            limits::EXPLANATION_EXCEEDED,
        )
    }

    /// Returns an error without a location.
    pub(crate) fn nowhere(code: EvalErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            file: Arc::from(""),
            row: 0,
            col: 0,
            stack: Vec::new(),
        }
    }

    /// Returns the error of a residual that is larger than allowed.
    pub(crate) fn too_open(limit: usize, unit: &str) -> Self {
        let message = format!("partial evaluation exceeds the limit of {limit} {unit}");
        Self::nowhere(EvalErrorCode::Internal, message)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.row > 0 {
            if self.file.is_empty() {
                write!(f, "{}:{}: ", self.row, self.col)?;
            } else {
                write!(f, "{}:{}: ", self.file, self.row)?;
            }
        }
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for EvalError {}

/// The reason why an evaluation stops early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// An error of the evaluation, boxed because it is rare.
    Error(Box<EvalError>),
    /// A rule produced a value that conflicts with an earlier one. The evaluator of the rule writes the message.
    Conflict,
}

impl Halt {
    /// Returns the error. Invariant: [`Self::Conflict`] never leaves the evaluation of its rule.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "errors stay in the box that they are made in"
    )]
    pub fn into_error(self) -> Box<EvalError> {
        match self {
            Self::Error(error) => error,
            Self::Conflict => Box::new(EvalError::nowhere(
                EvalErrorCode::Internal,
                "conflict outside a rule",
            )),
        }
    }

    pub fn new(error: EvalError) -> Self {
        Self::Error(Box::new(error))
    }

    /// Returns an error at a location of the program or the query.
    #[cold]
    pub fn error(program: &Program, code: EvalErrorCode, span: Span, message: String) -> Self {
        let (file, row, col) = program.location(span);
        Self::new(EvalError {
            code,
            message,
            file,
            row,
            col,
            stack: Vec::new(),
        })
    }

    /// Returns the error of an evaluation that reached a limit.
    #[cold]
    pub fn exhausted(program: &Program, fault: &BuiltinError, span: Span) -> Self {
        let (code, message) = match fault {
            BuiltinError::Undefined => (EvalErrorCode::Internal, "undefined result".into()),
            BuiltinError::Error(error) | BuiltinError::Halt(error) => {
                (error.code(), error.to_string())
            }
        };
        Self::error(program, code, span, message)
    }

    /// Returns the error of two values for the same key of an object.
    #[cold]
    pub fn duplicate_key(program: &Program, span: Span) -> Self {
        let message = "object keys must be unique".into();
        Self::error(program, EvalErrorCode::Conflict, span, message)
    }

    #[cold]
    fn failed(program: &Program, error: &BuiltinErrorDetail, name: &str, span: Span) -> Self {
        Self::error(program, error.code(), span, format!("{name}: {error}"))
    }
}

/// Returns the value of a call. Errors of built-ins make it undefined, unless they end the evaluation.
#[inline]
pub(crate) fn outcome<'e>(
    program: &Program,
    strict: bool,
    result: Result<ValueRef<'e>, BuiltinError>,
    name: &str,
    span: Span,
) -> Result<Option<ValueRef<'e>>, Halt> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(BuiltinError::Undefined) => Ok(None),
        Err(BuiltinError::Error(error)) if !strict => {
            drop(error);
            Ok(None)
        }
        Err(BuiltinError::Error(error)) => Err(Halt::failed(program, &error, name, span)),
        // exceeded limits and cancellation are not errors of the function
        Err(fault) => Err(Halt::exhausted(program, &fault, span)),
    }
}
