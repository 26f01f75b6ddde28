//! The target of a request: segments of its path, and parameters of its query.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use solon::Value;
use solon_common::escapes;

/// Maximum number of parameters of a query or form, as in Go.
const PARAMETERS: usize = 10_000;

/// Splits a target at the first `?`. The query is empty without one.
pub fn split(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

/// Returns the decoded segments of a path. Percent signs are decoded before the path is split, so `%2F` separates segments.
///
/// # Errors
/// Fails for an incomplete or invalid escape.
pub fn segments(path: &str) -> Result<Vec<String>, String> {
    check_escapes(path)?;
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let segments = decoded.trim_start_matches('/').split('/');
    Ok(segments.map(str::to_owned).collect())
}

/// Returns the parameters of a query or form, each with its values in order. A `+` is a space.
///
/// # Errors
/// Fails for a `;`, an invalid escape, or too many parameters.
pub fn parameters(query: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    if query.split('&').count() > PARAMETERS {
        return Err("number of URL query parameters exceeded limit".to_owned());
    }
    if query.contains(';') {
        return Err("invalid semicolon separator in query".to_owned());
    }
    check_escapes(query)?;
    let mut parameters = BTreeMap::<String, Vec<String>>::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        parameters
            .entry(name.into_owned())
            .or_default()
            .push(value.into_owned());
    }
    Ok(parameters)
}

/// Returns parameters as an object of arrays, because names may be repeated.
pub fn to_value(parameters: BTreeMap<String, Vec<String>>) -> Value {
    let pairs = parameters.into_iter().map(|(name, values)| {
        let values = values.into_iter().map(Value::from).collect();
        (Value::from(name), Value::array(values))
    });
    Value::object(pairs.collect())
}

/// Checks that two hexadecimal digits follow each percent sign.
fn check_escapes(text: &str) -> Result<(), String> {
    match escapes::first_invalid(text) {
        None => Ok(()),
        Some(escape) => {
            let escape = String::from_utf8_lossy(escape);
            Err(format!("invalid URL escape \"{escape}\""))
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/envoy_target.rs"]
mod tests;
