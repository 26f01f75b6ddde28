//! Parsers of single request fields.

use super::failure::RequestFailure;
use crate::builtins::operands::plain_int;
use crate::value::{ObjectView, RefRepr, ValueRef};

/// Parses a boolean field. Returns `false` if it is missing.
pub fn flag(options: ObjectView<'_>, name: &str) -> Result<bool, RequestFailure> {
    match options.get_str(name) {
        None => Ok(false),
        Some(ValueRef(RefRepr::Bool(flag))) => Ok(flag),
        Some(_) => Err(RequestFailure::rejected(format!(
            "invalid value for \"{name}\" field"
        ))),
    }
}

/// Parses a boolean in one of the spellings of Go's `strconv.ParseBool`, including numbers. Other values are its syntax
/// error.
pub fn lenient_flag(value: ValueRef<'_>) -> Result<bool, RequestFailure> {
    let text = value.rego_text().to_string();
    match &*text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(RequestFailure::rejected(format!(
            "strconv.ParseBool: parsing {}: invalid syntax",
            super::url::quoted(&text)
        ))),
    }
}

/// Parses the number of retries, 0 if it is missing. Fails if it is not an integer of 32 bits.
pub fn retries(options: ObjectView<'_>) -> Result<u32, RequestFailure> {
    let Some(value) = options.get_str("max_retry_attempts") else {
        return Ok(0);
    };
    let number = value.as_number().and_then(plain_int);
    match number.and_then(|number| u32::try_from(number).ok()) {
        Some(retries) => Ok(retries),
        None => Err(RequestFailure::Bare(
            format!(
                "invalid value {value} for field \"max_retry_attempts\"",
                value = value.rego_text()
            )
            .into(),
        )),
    }
}
