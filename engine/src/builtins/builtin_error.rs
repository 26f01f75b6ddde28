//! Why a built-in call has no result. Nothing is worded before somebody reads it.

use std::borrow::Cow;
use std::fmt;

use crate::value::{Kind, ValueRef};

/// The outcome of a call without a value.
///
/// ```
/// use solon::{BuiltinError, Engine, HostFunction, Request, V};
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
    /// Undefined, without an error (`max([])`).
    Undefined,
    /// An error: undefined for ordinary requests, the end of strict ones.
    Error(Box<BuiltinErrorDetail>),
    /// The end of the evaluation, strict or not.
    Halt(Box<BuiltinErrorDetail>),
}

/// The published code of an evaluation error.
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

/// Why an evaluation was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The time limit.
    Timeout,
    /// The memory limit.
    MemoryLimit,
    /// The step limit.
    StepLimit,
    /// The caller cancelled the evaluation.
    Cancelled,
}

impl StopReason {
    /// The message of the error that ends the evaluation.
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
    /// The code as Rego's users know it.
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

    /// Whether the evaluation itself went wrong, and was not stopped from without or at a bound.
    pub fn is_evaluation_failure(self) -> bool {
        !matches!(self, Self::Cancel(_) | Self::Internal)
    }
}

/// The content of an error, without the built-in's name, which the evaluator puts in front.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuiltinErrorDetail {
    /// `operand N must be … but got …`
    Operand {
        /// Position, from 1.
        position: u8,
        /// Accepted kinds, as messages spell them (`number`, `set`, `integer number`).
        want: &'static [&'static str],
        /// What was given.
        got: Cow<'static, str>,
    },
    /// `operand N must be array of numbers but got array containing string`
    Element {
        /// Position, from 1.
        position: u8,
        /// Kind of the collection.
        collection: Kind,
        /// Accepted kinds of elements, singular.
        want: &'static [&'static str],
        /// Kind of the offending element.
        got: Kind,
    },
    /// Any other text, with its code.
    Message(EvalErrorCode, Cow<'static, str>),
}

impl BuiltinErrorDetail {
    /// The published code.
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
    /// An `eval_builtin_error`.
    pub fn error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Builtin,
            message.into(),
        )))
    }

    /// An error of any code.
    pub fn error_of(code: EvalErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(code, message.into())))
    }

    /// An `eval_type_error` with a text of its own.
    pub fn type_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(Box::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Type,
            message.into(),
        )))
    }

    /// An operand of the wrong kind.
    pub fn operand(position: u8, want: &'static [&'static str], got: ValueRef<'_>) -> Self {
        let got = Cow::Borrowed(got.kind().as_str());
        Self::Error(Box::new(BuiltinErrorDetail::Operand {
            position,
            want,
            got,
        }))
    }

    /// An element of the wrong kind in an operand.
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

    /// The end of an evaluation that takes more memory than it may.
    pub fn memory() -> Self {
        Self::stopped(StopReason::MemoryLimit)
    }

    /// The end of an evaluation at a limit, or by its caller.
    #[cold]
    pub(crate) fn stopped(reason: StopReason) -> Self {
        Self::halt(EvalErrorCode::Cancel(reason), reason.message())
    }

    /// The end of an evaluation that calls what has no value, or what is only declared.
    #[cold]
    pub(crate) fn unsupported(name: &str) -> Self {
        Self::halt(
            EvalErrorCode::Internal,
            format!("unsupported built-in: {name}"),
        )
    }

    /// The end of the evaluation.
    pub fn halt(code: EvalErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Halt(Box::new(BuiltinErrorDetail::Message(code, message.into())))
    }
}
