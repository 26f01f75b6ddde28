//! Python functions that policies call.

use ::engine::{BuiltinError, EvalErrorCode, HostFunction, StopReason, Value};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::{from_python, to_python};
use crate::error::option_error;
use crate::running::raise;
use crate::settings::Settings;
use crate::stack;
use crate::undefined;

/// Result of a Python function.
enum Answer {
    Value(Value),
    Undefined,
    /// An exception that is an error of the built-in function.
    Failed(String),
    /// An exception that ends the evaluation, like `KeyboardInterrupt`; `None` if the interpreter has shut down.
    Ended(Option<PyErr>),
}

/// Creates a host function from a Python function. `declaration` is a function declaration in the JSON of capabilities.
pub fn declare(
    py: Python<'_>,
    name: &str,
    declaration: &str,
    function: Py<PyAny>,
    is_pure: bool,
    waits: bool,
    settings: Settings,
) -> PyResult<HostFunction> {
    let function_name = name.to_owned();
    let host_function =
        HostFunction::from_declaration(name, declaration.as_bytes(), move |context, operands| {
            let operands: Vec<Value> = operands.iter().map(|operand| operand.to_value()).collect();
            let result = stack::on_own(|| call(&function, &operands, settings));
            match result.unwrap_or(Answer::Ended(None)) {
                Answer::Value(value) => Ok(context.value(&value)),
                Answer::Undefined => Err(BuiltinError::Undefined),
                Answer::Failed(message) => Err(BuiltinError::error(message)),
                Answer::Ended(error) => {
                    if let Some(error) = error {
                        raise(error);
                    }
                    let message = format!("{function_name}: interrupted");
                    Err(BuiltinError::halt(
                        EvalErrorCode::Cancel(StopReason::Cancelled),
                        message,
                    ))
                }
            }
        });
    let host_function =
        host_function.map_err(|error| option_error(py, &format!("function `{name}`: {error}")))?;
    let host_function = if is_pure {
        host_function
    } else {
        host_function.without_memo()
    };
    Ok(if waits {
        host_function.waiting()
    } else {
        host_function
    })
}

fn call(function: &Py<PyAny>, operands: &[Value], settings: Settings) -> Answer {
    let result = Python::try_attach(|py| {
        call_python(py, function, operands, settings).unwrap_or_else(|error| {
            if error.is_instance_of::<PyException>(py) {
                return Answer::Failed(error.to_string());
            }
            Answer::Ended(Some(error))
        })
    });
    result.unwrap_or(Answer::Ended(None))
}

fn call_python(
    py: Python<'_>,
    function: &Py<PyAny>,
    operands: &[Value],
    settings: Settings,
) -> PyResult<Answer> {
    let operands = operands
        .iter()
        .map(|operand| to_python(py, operand, settings));
    let operands = PyTuple::new(py, operands.collect::<PyResult<Vec<_>>>()?)?;
    let result = function.bind(py).call1(operands)?;
    if undefined::is_undefined(&result) {
        return Ok(Answer::Undefined);
    }
    Ok(Answer::Value(from_python(&result, settings)?))
}
