//! The kind of an error, for callers that handle kinds differently.

use super::Error;
use crate::builtins::{EvalErrorCode, StopReason};

/// The kind of an [`Error`]. Limits and cancellation have kinds of their own, so that a caller can retry, raise a limit
/// or give up.
///
/// ```
/// use solon::{Engine, ErrorKind, Limits, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\n\nn := count([1 | some i in numbers.range(1, 5000)])")?;
/// let limits = Limits::default().steps(Some(10));
/// let document = engine.prepare_document("p/n")?;
/// let error = document.evaluate(&Request::new().limits(&limits)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::StepLimit);
/// assert_eq!(error.entries()[0].code, "eval_cancel_error");
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A bug of the engine.
    Internal,
    /// A module, a query or a filter that does not compile.
    Compile,
    /// An evaluation that failed: a conflict, a strict error of a built-in function, or nesting that is too deep.
    Eval,
    /// An evaluation that exceeded its time limit.
    Timeout,
    /// An evaluation or an explanation that exceeded its memory limit.
    MemoryLimit,
    /// An evaluation that exceeded its step limit.
    StepLimit,
    /// An evaluation that the caller cancelled.
    Cancelled,
    /// A read or a write of base documents that was rejected.
    Store,
    /// An input, or data, that is not valid.
    Input,
    /// A value that does not fit the requested type.
    Output,
    /// An invalid option.
    Options,
    /// Files that could not be loaded.
    Load,
    /// A path without a rule or a base document.
    UnknownPath,
    /// A module that does not exist.
    UnknownModule,
}

impl ErrorKind {
    /// Returns the name of the kind in lower case, as in `kind` of the JSON form of an error.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Compile => "compile",
            Self::Eval => "eval",
            Self::Timeout => "timeout",
            Self::MemoryLimit => "memory",
            Self::StepLimit => "steps",
            Self::Cancelled => "cancelled",
            Self::Store => "store",
            Self::Input => "input",
            Self::Output => "output",
            Self::Options => "options",
            Self::Load => "load",
            Self::UnknownPath => "unknown_path",
            Self::UnknownModule => "unknown_module",
        }
    }
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Compile(_) | Self::Filter(_) => ErrorKind::Compile,
            Self::Eval(error) => match error.code {
                EvalErrorCode::Cancel(StopReason::Timeout) => ErrorKind::Timeout,
                EvalErrorCode::Cancel(StopReason::MemoryLimit) => ErrorKind::MemoryLimit,
                EvalErrorCode::Cancel(StopReason::StepLimit) => ErrorKind::StepLimit,
                EvalErrorCode::Cancel(StopReason::Cancelled) => ErrorKind::Cancelled,
                _ => ErrorKind::Eval,
            },
            Self::Store(_) => ErrorKind::Store,
            Self::Input(_) => ErrorKind::Input,
            Self::Output(_) => ErrorKind::Output,
            Self::Options(_) | Self::EmptyQuery => ErrorKind::Options,
            Self::Load(_) => ErrorKind::Load,
            Self::UnknownPath(_) => ErrorKind::UnknownPath,
            Self::UnknownModule(_) => ErrorKind::UnknownModule,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }
}
