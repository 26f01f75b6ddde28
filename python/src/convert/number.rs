//! Converts numbers of any size in both directions.

use ::engine::Limits;
use ::engine::NumberBuf;
use ::engine::Value;
use num_bigint::BigInt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyInt, PyType};

/// Python type of numbers with a fraction or an exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fractions {
    Float,
    Decimal,
}

/// Number of digits up to which Python converts between decimal text and integers under all settings.
const PLAIN_DIGITS: usize = 640;

/// Powers of ten that a double represents exactly.
const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Largest integer below which a double represents all integers exactly.
const EXACT: u64 = 1 << 53;

fn decimal_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "decimal", "Decimal")
}

/// Converts an `int`, or returns why it cannot.
pub fn from_int(int: &Bound<'_, PyInt>) -> PyResult<Result<Value, String>> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(Ok(Value::from(small)));
    }
    let py = int.py();
    // call the method of the base class, because a subclass may override it
    let class = py.get_type::<PyInt>();
    let bits: u64 = class.call_method1("bit_length", (int,))?.extract()?;
    if bits > Limits::NUMBER_BITS {
        return Ok(Err(format!("an int of {bits} bits is too large")));
    }
    // hexadecimal has no digit limit, and is parsed in linear time
    let text: String = class.call_method1("__format__", (int, "x"))?.extract()?;
    Ok(match BigInt::parse_bytes(text.as_bytes(), 16) {
        Some(number) => read(&number.to_string()),
        None => Err("an int cannot be read".to_owned()),
    })
}

/// Converts a `float`, with the digits that Python shows.
pub fn from_float(float: &Bound<'_, PyFloat>) -> Result<Value, String> {
    let float = float.value();
    if float.is_finite() {
        read(&format!("{float:?}"))
    } else {
        Err(format!(
            "{} cannot be converted to a Rego number",
            not_finite(float)
        ))
    }
}

fn not_finite(float: f64) -> &'static str {
    if float.is_nan() {
        "nan"
    } else if float > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// Converts a `Decimal`. Returns `None` if it is not a `Decimal`; the inner error is a message for a `Decimal` such as
/// `NaN`.
pub fn from_decimal(object: &Bound<'_, PyAny>) -> PyResult<Option<Result<Value, String>>> {
    let class = decimal_class(object.py())?;
    if !object.is_instance(class)? {
        return Ok(None);
    }
    let text: String = class.call_method1("__str__", (object,))?.extract()?;
    Ok(Some(read(&text).map_err(|_| {
        format!("Decimal('{text}') cannot be converted to a Rego number")
    })))
}

fn read(text: &str) -> Result<Value, String> {
    NumberBuf::read(text)
        .map(Value::number)
        .map_err(|error| error.to_string())
}

/// Converts the text of a number to an object: an `int` without a point and an exponent, otherwise a fraction.
pub fn from_text<'py>(
    py: Python<'py>,
    text: &str,
    fractions: Fractions,
) -> PyResult<Bound<'py, PyAny>> {
    if text.contains(['.', 'e', 'E']) {
        return fraction(py, text, fractions);
    }
    let class = py.get_type::<PyInt>();
    if text.len() <= PLAIN_DIGITS {
        return class.call1((text,));
    }
    match BigInt::parse_bytes(text.as_bytes(), 10) {
        Some(number) => class.call1((number.to_str_radix(16), 16)),
        None => class.call1((text,)),
    }
}

/// Converts `coefficient / 10^scale` to an object: the nearest `float` or an exact `Decimal`, as `fractions` says.
pub fn decimal_object(
    py: Python<'_>,
    scale: u8,
    coefficient: i64,
    fractions: Fractions,
) -> PyResult<Bound<'_, PyAny>> {
    if fractions == Fractions::Float
        && coefficient.unsigned_abs() <= EXACT
        && let Some(power) = POWERS.get(usize::from(scale))
    {
        // both are exact, so the quotient is the nearest double
        #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
        let float = coefficient as f64 / power;
        return Ok(PyFloat::new(py, float).into_any());
    }
    let text = NumberBuf::Decimal(scale, coefficient).to_string();
    fraction(py, &text, fractions)
}

/// Returns a float, or a `Decimal` if requested or if the float would be infinite or zero.
fn fraction<'py>(py: Python<'py>, text: &str, fractions: Fractions) -> PyResult<Bound<'py, PyAny>> {
    let zero = !text
        .split(['e', 'E'])
        .next()
        .unwrap_or_default()
        .contains(|c: char| ('1'..='9').contains(&c));
    match text.parse::<f64>() {
        Ok(float)
            if fractions == Fractions::Float && float.is_finite() && (float != 0.0 || zero) =>
        {
            Ok(PyFloat::new(py, float).into_any())
        }
        _ => decimal_class(py)?.call1((text,)),
    }
}
