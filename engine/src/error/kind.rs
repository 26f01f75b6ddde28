//! The kind of an error, for callers that handle kinds differently.

use super::Error;
use crate::builtins::{EvalErrorCode, StopReason};
use crate::bundle::{LoadError, LoadErrors};
use solon_syntax::source::{Code, Diagnostics};

/// The kind of an [`Error`]. Limits and cancellation have kinds of their own, so that a caller can retry, raise a limit
/// or give up.
///
/// ```
/// use solon::{Engine, ErrorKind, Limits, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\n\nn := count([1 | some i in numbers.range(1, 5000)])")?;
/// let limits = Limits::default().steps(Some(10));
/// let document = engine.prepare_document("data.p.n")?;
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
    /// An option that is not valid, or contradicts another one.
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
    /// Returns OPA's code of the first entry, as in [`entries`](Self::entries), without building the entries.
    ///
    /// ```
    /// use solon::Engine;
    ///
    /// let engine = Engine::new();
    /// assert_eq!(engine.set_module("p.rego", "package p\nallow if x").unwrap_err().code(), "rego_unsafe_var_error");
    /// assert_eq!(engine.read("data.absent").unwrap_err().code(), "storage_not_found_error");
    /// assert_eq!(engine.remove_module("p.rego").unwrap_err().code(), "resource_not_found");
    /// ```
    pub fn code(&self) -> &str {
        match self {
            Self::Compile(Diagnostics(all)) => all
                .first()
                .map_or(Code::Compile, |first| first.code)
                .as_str(),
            Self::Load(LoadErrors(errors)) => errors.first().map_or("load_error", LoadError::code),
            Self::Eval(error) => error.code.as_str(),
            Self::Store(error) => error.code(),
            Self::Input(_) | Self::Output(_) | Self::Options(_) | Self::EmptyQuery => {
                "invalid_parameter"
            }
            Self::UnknownPath(_) | Self::UnknownModule { .. } => "resource_not_found",
            Self::Filter(entries) => entries
                .first()
                .map_or("pe_fragment_error", |entry| entry.code.as_str()),
            Self::Internal(_) => "internal_error",
        }
    }

    /// Returns the kind of the error. Limits and cancellation have kinds of their own.
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
            Self::UnknownModule { .. } => ErrorKind::UnknownModule,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::bug::InternalError;
    use crate::bundle::{LoadError, LoadErrors};
    use crate::error::{ErrorEntry, InputError, OptionError};
    use crate::{Engine, Path, Request, Value};

    #[test]
    fn the_code_is_that_of_the_first_entry() {
        let engine = Engine::new();
        engine
            .set_module("p.rego", "package p\n\na := 1\n\na := 2")
            .unwrap();
        let document = engine.prepare_document("data.p.a").unwrap();
        let Err(Error::Compile(syntax)) = engine.set_module("s.rego", "package") else {
            panic!("no syntax error");
        };
        let load = |error| Error::Load(LoadErrors(vec![error]));
        let errors = [
            engine
                .set_module("x.rego", "package x\n\nallow if x")
                .unwrap_err(),
            document.evaluate(&Request::new()).unwrap_err(),
            engine.read("data.absent").unwrap_err(),
            Error::Input(InputError::new("not an object")),
            Error::Output(crate::from_value::<i64>(&Value::from("x")).unwrap_err()),
            Error::Options(OptionError::new("not a reference")),
            load(LoadError::in_file("p.json", "not valid")),
            load(LoadError::activation("roots overlap".to_owned())),
            Error::Load(LoadErrors::from(syntax)),
            Error::UnknownPath(Path::new(["p", "x"])),
            engine.remove_module("absent.rego").unwrap_err(),
            engine.prepare_query("").err().unwrap(),
            engine.prepare_query(" ").err().unwrap(),
            Error::Filter(vec![ErrorEntry::new("pe_fragment_error", "not supported")]),
            Error::Internal(InternalError::new("violated")),
        ];
        for error in errors {
            assert_eq!(error.code(), error.entries()[0].code, "{error}");
        }
    }
}
