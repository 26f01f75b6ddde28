//! Errors of built-ins. Messages are formatted only when they are displayed.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::value::json::JsonError;
use crate::value::serde::ConvertError;
use crate::value::{Kind, ValueRef};

/// Outcome of a call without a value.
///
/// The errors of common conversions become errors of the call with `?`: I/O, UTF-8, numbers, JSON, [`ConvertError`], texts
/// and boxed errors.
///
/// ```
/// use solon::{BuiltinError, Engine, HostFunction, Request, ValueRef};
///
/// let half = HostFunction::new("half", "n: number => h: number", |_, operands| match operands.first().and_then(|n| n.as_i64()) {
///     Some(n) if n % 2 == 0 => Ok(ValueRef::from(n / 2)),
///     _ => Err(BuiltinError::error("an even number was expected")),
/// })?;
/// let engine = Engine::builder().function(half)?.build();
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
        /// Kind of the operand that was passed.
        got: Cow<'static, str>,
    },
    /// `operand N must be array of numbers but got array containing string`
    Element {
        /// Operand number, from 1.
        position: u8,
        /// Kind of the collection, array or set.
        collection: Kind,
        /// Accepted kinds of elements, singular.
        want: &'static [&'static str],
        /// Kind of the offending element.
        got: Kind,
    },
    /// Any other message, with its code.
    Message(EvalErrorCode, Cow<'static, str>),
}

impl std::error::Error for BuiltinErrorDetail {}

impl fmt::Display for BuiltinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("undefined"),
            Self::Error(detail) | Self::Halt(detail) => detail.fmt(f),
        }
    }
}

impl std::error::Error for BuiltinError {}

/// Converts the errors of common operations of host functions. A conversion of each `E: Error` is impossible, because
/// [`BuiltinError`] implements `Error`, too.
macro_rules! from_errors {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for BuiltinError {
            fn from(error: $error) -> Self {
                Self::error(error.to_string())
            }
        }
    )+};
}

from_errors! {
    fmt::Error,
    io::Error,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::net::AddrParseError,
    std::time::SystemTimeError,
    serde_json::Error,
    ConvertError,
    JsonError,
    Box<dyn std::error::Error>,
    Box<dyn std::error::Error + Send + Sync>,
}

impl From<String> for BuiltinError {
    fn from(message: String) -> Self {
        Self::error(message)
    }
}

impl From<&'static str> for BuiltinError {
    fn from(message: &'static str) -> Self {
        Self::error(message)
    }
}

impl BuiltinErrorDetail {
    /// Returns OPA's code. Wrong types of operands and elements are type errors.
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
                want: [kind],
                got,
            } => {
                write!(f, "operand {position} must be {kind} but got {got}")
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
                want: [kind],
                got,
            } => {
                write!(
                    f,
                    "operand {position} must be {collection} of {kind}s but got {collection} containing {got}"
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

    /// Returns an error with the given code. It ends the evaluation only if errors of built-ins are strict.
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

    /// Returns an error that ends the evaluation, also if errors of built-ins are lenient.
    pub fn halt(code: EvalErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Halt(Box::new(BuiltinErrorDetail::Message(code, message.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::{BuiltinError, EvalErrorCode};
    use crate::value::{RefRepr, Repr, Value, ValueRef};
    use crate::{Engine, HostFunction, Request};

    /// Fails as the function of a host does that uses `?`.
    fn fail(cause: &str) -> Result<i64, BuiltinError> {
        let invalid = vec![0xff];
        match cause {
            "int" => Ok("x".parse::<i64>()?),
            "float" => Ok("x".parse::<f64>().map(|_| 0)?),
            "narrow" => Ok(i64::from(u8::try_from(300_i64)?)),
            "bool" => Ok(i64::from("maybe".parse::<bool>()?)),
            "utf8" => Ok(std::str::from_utf8(&invalid).map(|_| 0)?),
            "string" => Ok(String::from_utf8(invalid).map(|_| 0)?),
            "address" => Ok("::x".parse::<std::net::IpAddr>().map(|_| 0)?),
            "time" => Ok(std::time::UNIX_EPOCH
                .duration_since(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1))
                .map(|_| 0)?),
            "io" => Err(std::io::Error::other("disk full"))?,
            "fmt" => Err(std::fmt::Error)?,
            "serde_json" => Ok(serde_json::from_str::<Vec<i64>>("[").map(|_| 0)?),
            "json" => Ok(crate::json::read(b"[").map(|_| 0)?),
            "convert" => Ok(crate::from_value::<i64>(Value::from("x").borrow())?),
            "boxed" => Err(Box::<dyn std::error::Error>::from("boxed"))?,
            "shared" => Err(Box::<dyn std::error::Error + Send + Sync>::from("shared"))?,
            "owned" => Err("owned".to_owned())?,
            "text" => Err("text")?,
            _ => Err(BuiltinError::Undefined),
        }
    }

    #[test]
    fn errors_of_common_operations_become_errors_of_the_call() {
        let function =
            HostFunction::new("fails", "what: string => never: number", |_, operands| {
                let cause = operands.first().and_then(|cause| cause.utf8());
                Ok(ValueRef(RefRepr::Int(fail(cause.unwrap_or_default())?)))
            });
        let engine = Engine::builder()
            .function(function.unwrap())
            .unwrap()
            .build();
        let query = engine.prepare_query("fails(input, x)").unwrap();
        for (cause, message) in [
            ("int", "invalid digit found in string"),
            ("float", "invalid float literal"),
            ("narrow", "out of range integral type conversion attempted"),
            ("bool", "provided string was not `true` or `false`"),
            ("utf8", "invalid utf-8 sequence of 1 bytes from index 0"),
            ("string", "invalid utf-8 sequence of 1 bytes from index 0"),
            ("address", "invalid IP address syntax"),
            ("time", "second time provided was later than self"),
            ("io", "disk full"),
            ("fmt", "an error occurred when formatting an argument"),
            ("serde_json", "EOF while parsing a list at line 1 column 1"),
            ("json", "unexpected end of JSON input"),
            ("convert", "invalid type: string \"x\", expected i64"),
            ("boxed", "boxed"),
            ("shared", "shared"),
            ("owned", "owned"),
            ("text", "text"),
        ] {
            let input = Value::from(cause);
            let request = Request::new().input(&input);
            assert_eq!(query.solutions(&request).unwrap().len(), 0, "{cause}");
            let error = query
                .solutions(&request.strict_builtin_errors(true))
                .unwrap_err();
            let entry = &error.entries()[0];
            assert_eq!(entry.code, EvalErrorCode::Builtin.as_str(), "{cause}");
            assert_eq!(entry.message, format!("fails: {message}"));
        }
    }

    #[test]
    fn errors_are_displayed_without_the_name_of_the_function() {
        let errors: [Box<dyn std::error::Error>; 4] = [
            Box::new(BuiltinError::Undefined),
            Box::new(BuiltinError::error("disk full")),
            Box::new(BuiltinError::memory()),
            Box::new(BuiltinError::operand(
                2,
                &["number", "string"],
                Value(Repr::Null).borrow(),
            )),
        ];
        let messages = errors.map(|error| error.to_string());
        assert_eq!(
            messages,
            [
                "undefined",
                "disk full",
                "evaluation exceeds its memory limit",
                "operand 2 must be one of {number, string} but got null",
            ]
        );
    }
}
