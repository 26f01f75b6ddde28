//! Converts errors to exceptions. Their classes are defined in Python, in `solon._errors`.

use ::engine::{ErrorEntry, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Exception classes by their name in `solon._errors`.
#[derive(Clone, Copy)]
pub enum Family {
    Base,
    Compile,
    Eval,
    Timeout,
    MemoryLimit,
    StepLimit,
    Cancelled,
    NotFound,
    Options,
    Store,
    Load,
    Bundle,
    BundleSignature,
    Input,
    Output,
    Internal,
}

impl Family {
    fn class(self) -> &'static str {
        match self {
            Self::Base => "SolonError",
            Self::Compile => "CompileError",
            Self::Eval => "EvalError",
            Self::Timeout => "EvaluationTimeout",
            Self::MemoryLimit => "MemoryLimitExceeded",
            Self::StepLimit => "StepLimitExceeded",
            Self::Cancelled => "EvaluationCancelled",
            Self::NotFound => "NotFoundError",
            Self::Options => "OptionsError",
            Self::Store => "StoreError",
            Self::Load => "LoadError",
            Self::Bundle => "BundleError",
            Self::BundleSignature => "BundleSignatureError",
            Self::Input => "InputError",
            Self::Output => "OutputError",
            Self::Internal => "InternalError",
        }
    }
}

/// Returns the exception for an error of the engine. Its class depends on the kind.
pub fn from_engine(py: Python<'_>, error: &::engine::Error) -> PyErr {
    let family = match error.kind() {
        ErrorKind::Compile => Family::Compile,
        ErrorKind::Eval => Family::Eval,
        ErrorKind::Timeout => Family::Timeout,
        ErrorKind::MemoryLimit => Family::MemoryLimit,
        ErrorKind::StepLimit => Family::StepLimit,
        ErrorKind::Cancelled => Family::Cancelled,
        ErrorKind::UnknownPath | ErrorKind::UnknownModule => Family::NotFound,
        ErrorKind::Options => Family::Options,
        ErrorKind::Store => Family::Store,
        ErrorKind::Load => Family::Load,
        ErrorKind::Input => Family::Input,
        ErrorKind::Output => Family::Output,
        ErrorKind::Internal => Family::Internal,
        _ => Family::Base,
    };
    of_family(py, family, error)
}

/// Returns the exception of a family for an error of the engine, with its entries and locations.
pub fn of_family(py: Python<'_>, family: Family, error: &::engine::Error) -> PyErr {
    let mut entries = error.entries();
    if let ::engine::Error::Input(input) = error
        && let Some((row, col)) = input.position()
    {
        // text that is not a module has a location, but no file
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for entry in &mut entries {
            let location = (String::new(), number(row), number(col));
            entry.location.get_or_insert(location);
        }
    }
    raise(py, family, &error.to_string(), entries)
}

/// Returns the exception for an invalid option.
pub fn option_error(py: Python<'_>, message: &str) -> PyErr {
    conversion_error(py, Family::Options, message)
}

/// Returns the exception for an object that cannot be converted.
pub fn conversion_error(py: Python<'_>, family: Family, message: &str) -> PyErr {
    let entry = ErrorEntry::new("invalid_parameter", message);
    raise(py, family, message, vec![entry])
}

fn raise(py: Python<'_>, family: Family, message: &str, entries: Vec<ErrorEntry>) -> PyErr {
    match exception(py, family, message, entries) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn exception<'py>(
    py: Python<'py>,
    family: Family,
    message: &str,
    entries: Vec<ErrorEntry>,
) -> PyResult<Bound<'py, PyAny>> {
    let classes = py.import("solon._errors")?;
    let (entry_class, location_class) = (
        classes.getattr("ErrorDetail")?,
        classes.getattr("Location")?,
    );
    let frame_class = classes.getattr("StackFrame")?;
    let mut errors = Vec::with_capacity(entries.len());
    for entry in entries {
        let location = match entry.location {
            Some(position) => Some(location_class.call1(position)?),
            None => None,
        };
        let details = PyTuple::new(py, entry.details)?;
        let mut stack = Vec::with_capacity(entry.stack.len());
        for frame in entry.stack {
            let location = match frame.location {
                Some((file, row, col)) => Some(location_class.call1((&*file, row, col))?),
                None => None,
            };
            stack.push(frame_class.call1((frame.query_id, location))?);
        }
        let stack = PyTuple::new(py, stack)?;
        errors.push(entry_class.call1((entry.code, entry.message, location, details, stack))?);
    }
    classes
        .getattr(family.class())?
        .call1((message, PyTuple::new(py, errors)?))
}
