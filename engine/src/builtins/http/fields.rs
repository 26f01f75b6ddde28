//! Fields of a request that are read on their own.

use super::failure::Failure;
use crate::builtins::operands::plain_int;
use crate::value::{ObjectView, ValueRef};

/// A field that says yes or no; no when it is missing.
pub fn flag(asked: ObjectView<'_>, name: &str) -> Result<bool, Failure> {
    match asked.get_str(name) {
        None => Ok(false),
        Some(ValueRef::Bool(flag)) => Ok(flag),
        Some(_) => Err(Failure::rejected(format!(
            "invalid value for \"{name}\" field"
        ))),
    }
}

/// A flag in one of the spellings of Go's `strconv.ParseBool`, among which numbers are.
pub fn lenient_flag(value: ValueRef<'_>) -> Result<bool, Failure> {
    let text = value.to_string();
    match &*text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(Failure::rejected(format!(
            "strconv.ParseBool: parsing {}: invalid syntax",
            super::url::quoted(&text)
        ))),
    }
}

/// How often a request is sent again.
pub fn retries(asked: ObjectView<'_>) -> Result<u32, Failure> {
    let Some(value) = asked.get_str("max_retry_attempts") else {
        return Ok(0);
    };
    let number = value.as_number().and_then(plain_int);
    match number.and_then(|number| u32::try_from(number).ok()) {
        Some(retries) => Ok(retries),
        None => Err(Failure::Bare(
            format!("invalid value {value} for field \"max_retry_attempts\"").into(),
        )),
    }
}
