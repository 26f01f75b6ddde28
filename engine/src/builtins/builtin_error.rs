//! Errors of built-ins. Messages are formatted only when they are displayed.

use std::borrow::Cow;
use std::fmt;

use crate::value::{Kind, ValueRef};

/// Outcome of a call without a value.
///
/// ```
/// use solon::{BuiltinError, Engine, HostFunction, Request, ValueRef};
///
/// let half = HostFunction::new("half", "n: number => h: number", |_, operands| match operands {
///     [ValueRef::Int(n)] if n % 2 == 0 => Ok(ValueRef::Int(n / 2)),
///     _ => Err(BuiltinError::error("an even number was expected")),
/// })?;
/// let engine = Engine::builder().function(half).build();
/// let query = engine.prepare_query("half(input, h)")?;
/// assert_eq!(query.solutions(&Request::new().input(&4.into()))?.len(), 1);
/// // elsewhere than in strict requests, what fails is undefined
/// assert_eq!(query.solutions(&Request::new().input(&3.into()))?.len(), 0);
/// assert!(query.solutions(&Request::new().input(&3.into()).strict_builtin_errors(true)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum BuiltinError {
    /// The result is undefined, without an error (`max([])`).
    Undefined,
    /// An error. The result is undefined, or with strict built-in errors the evaluation ends.
    Error(Box<BuiltinErrorDetail>),
    /// Ends the evaluation, with or without strict built-in errors.
    Halt(Box<BuiltinErrorDetail>),
}

/// OPA's code of an evaluation error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EvalErrorCode {
    /// `eval_builtin_error`
    Builtin,
    /// `eval_type_error`
    Type,
    /// `eval_conflict_error`
    Conflict,
    /// `eval_cancel_error`: a limit or the caller stopped the evaluation.
    Cancel(StopReason),
    /// `eval_with_merge_error`
    WithMerge,
    /// `eval_internal_error`
    Internal,
}

/// Reason why an evaluation was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// Time limit reached.
    Timeout,
    /// Memory limit reached.
    MemoryLimit,
    /// Step limit reached.
    StepLimit,
    /// The caller cancelled the evaluation.
    Cancelled,
}

impl StopReason {
    /// Returns the message of the error that ends the evaluation.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Timeout => "evaluation exceeds its time limit",
            Self::MemoryLimit => "evaluation exceeds its memory limit",
            Self::StepLimit => "evaluation exceeds its step limit",
            Self::Cancelled => "caller cancelled query execution",
        }
    }
}

impl EvalErrorCode {
    /// Returns the code as OPA spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "eval_builtin_error",
            Self::Type => "eval_type_error",
            Self::Conflict => "eval_conflict_error",
            Self::Cancel(_) => "eval_cancel_error",
            Self::WithMerge => "eval_with_merge_error",
            Self::Internal => "eval_internal_error",
        }
    }

    /// Returns `true` for errors of the evaluation itself, and `false` if it was stopped by a limit, by the caller or
    /// by an internal error.
    pub fn is_evaluation_failure(self) -> bool {
        !matches!(self, Self::Cancel(_) | Self::Internal)
    }
}

/// Content of an error, without the built-in's name. The evaluator prepends the name.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuiltinErrorDetail {
    /// `operand N must be … but got …`
    Operand {
        /// Operand number, from 1.
        position: u8,
        /// Accepted kinds, as messages spell them (`number`, `set`, `integer number`).
        want: &'static [&'static str],
        /// Actual kind.
        got: Cow<'static, str>,
    },
    /// `operand N must be array of numbers but got array containing string`
    Element {
        /// Operand number, from 1.
        position: u8,
        /// Kind of the collection.
        collection: Kind,
        /// Accepted kinds of elements, singular.
        want: &'static [&'static str],
        /// Kind of the offending element.
        got: Kind,
    },
    /// Any other message, with its code.
    Message(EvalErrorCode, Cow<'static, str>),
}

impl BuiltinErrorDetail {
    /// Returns OPA's code.
    pub fn code(&self) -> EvalErrorCode {
        match self {
            Self::Operand { .. } | Self::Element { .. } => EvalErrorCode::Type,
            Self::Message(code, _) => *code,
        }
    }
}

impl fmt::Display for BuiltinErrorDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand {
                position,
                want: [one],
                got,
            } => {
                write!(f, "operand {position} must be {one} but got {got}")
            }
            Self::Operand {
                position,
                want,
                got,
            } => {
                write!(
                    f,
                    "operand {position} must be one of {{{}}} but got {got}",
                    want.join(", ")
                )
            }
            Self::Element {
                position,
                collection,
                want: [one],
                got,
            } => {
                write!(
                    f,
                    "operand {position} must be {collection} of {one}s but got {collection} containing {got}"
                )
            }
            Self::Element {
                position,
                collection,
                want,
                got,
            } => write!(
                f,
                "operand {position} must be {collection} of (any of) {{{}}} but got {collection} containing {got}",
                want.join(", ")
            ),
            Self::Message(_, text) => f.write_str(text),
        }
    }
}

impl BuiltinError {
    /// Returns an `eval_builtin_error`.
    pub fn error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Builtin,
            message.into(),
        )))
    }

    /// Returns an error with the given code.
    pub fn error_of(code: EvalErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(code, message.into())))
    }

    /// Returns an `eval_type_error` with the given message.
    pub fn type_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Type,
            message.into(),
        )))
    }

    /// Returns the error for an operand of the wrong kind.
    pub fn operand(position: u8, want: &'static [&'static str], got: ValueRef<'_>) -> Self {
        let got = Cow::Borrowed(got.kind().as_str());
        Self::Error(Box::new(BuiltinErrorDetail::Operand {
            position,
            want,
            got,
        }))
    }

    /// Returns the error for an element of the wrong kind in an operand.
    pub fn element(
        position: u8,
        collection: Kind,
        want: &'static [&'static str],
        got: ValueRef<'_>,
    ) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Element {
            position,
            collection,
            want,
            got: got.kind(),
        }))
    }

    /// Returns the error that ends an evaluation at its memory limit.
    pub fn memory() -> Self {
        Self::stopped(StopReason::MemoryLimit)
    }

    /// Returns the error that ends an evaluation at a limit, or when the caller cancels it.
    #[cold]
    pub(crate) fn stopped(reason: StopReason) -> Self {
        Self::halt(EvalErrorCode::Cancel(reason), reason.message())
    }

    /// Returns the error that ends an evaluation when it calls a void function for its value, or a function that is
    /// declared but not implemented.
    #[cold]
    pub(crate) fn unsupported(name: &str) -> Self {
        Self::halt(
            EvalErrorCode::Internal,
            format!("unsupported built-in: {name}"),
        )
    }

    /// Returns an error that ends the evaluation.
    pub fn halt(code: EvalErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Halt(Box::new(BuiltinErrorDetail::Message(code, message.into())))
    }
}
