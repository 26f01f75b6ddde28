//! What a scalar stands for.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use num_bigint::BigInt;
use saphyr_parser::{ScalarStyle, Tag};

use super::YamlError;
use crate::value::Value;
use crate::value::number::NumberBuf;

/// The value of a scalar.
pub(super) fn resolve(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Value, YamlError> {
    let plain = style == ScalarStyle::Plain;
    let Some(tag) = tag else {
        return if plain {
            untagged(text)
        } else {
            Ok(Value::string(text))
        };
    };
    let kind = if tag.is_yaml_core_schema() {
        tag.suffix.as_str()
    } else {
        ""
    };
    let value = match kind {
        "null" | "bool" | "int" | "float" => untagged(text)?,
        "binary" => {
            let compact: Vec<u8> = text
                .bytes()
                .filter(|byte| !byte.is_ascii_whitespace())
                .collect();
            let bytes = BASE64.decode(compact);
            let bytes = bytes
                .map_err(|_| YamlError::yaml("!!binary value contains invalid base64 data"))?;
            return Ok(Value::string(&String::from_utf8_lossy(&bytes)));
        }
        _ => return Ok(Value::string(text)),
    };
    let fits = match (&value, kind) {
        (Value::Null, "null") | (Value::Bool(_), "bool") => true,
        (number, "float") => number.borrow().as_number().is_some(),
        (number, "int") => number
            .borrow()
            .as_number()
            .is_some_and(|number| number.is_integer()),
        _ => false,
    };
    if fits {
        Ok(value)
    } else {
        Err(YamlError::yaml(format_args!(
            "cannot decode !!str `{text}` as a !!{kind}"
        )))
    }
}

fn untagged(text: &str) -> Result<Value, YamlError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Err(unsupported("+Inf")),
        "-.inf" | "-.Inf" | "-.INF" => return Err(unsupported("-Inf")),
        ".nan" | ".NaN" | ".NAN" => return Err(unsupported("NaN")),
        _ => {}
    }
    let number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let number = if number { number_of(text) } else { None };
    Ok(number.map_or_else(|| Value::string(text), Value::number))
}

fn unsupported(what: &str) -> YamlError {
    YamlError::json(format_args!("json: unsupported value: {what}"))
}

fn number_of(text: &str) -> Option<NumberBuf> {
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| float(&digits))
}

/// An integer of 64 bits, in the base its prefix says.
fn integer(text: &str) -> Option<NumberBuf> {
    let (negative, digits) = match text.split_at_checked(1) {
        Some(("-", digits)) => (true, digits),
        Some(("+", digits)) => (false, digits),
        _ => (false, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, digits.get(2..)?),
        Some("0o" | "0O") => (8, digits.get(2..)?),
        Some("0b" | "0B") => (2, digits.get(2..)?),
        Some(two) if two.starts_with('0') => (8, digits),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    let value = if negative {
        -i128::from(size)
    } else {
        i128::from(size)
    };
    match i64::try_from(value) {
        Ok(small) => Some(NumberBuf::Int(small)),
        Err(_) if value > 0 => Some(BigInt::from(value).into()),
        Err(_) => None,
    }
}

/// A float, written as Go writes the nearest number of 64 bits.
fn float(text: &str) -> Option<NumberBuf> {
    let unsigned = text.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !bare.is_empty() && digits(bare)
    });
    let signs = text.len() - unsigned.len();
    if signs > 1
        || !digits(whole)
        || !digits(fraction)
        || whole.len() + fraction.len() == 0
        || !exponent_fits
    {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let mut shown = String::new();
    let size = value.abs();
    // writing to a string does not fail
    let _ = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let plain = format!("{value:e}");
        write!(
            shown,
            "{}",
            if size < 1.0 {
                plain
            } else {
                plain.replace('e', "e+")
            }
        )
    } else {
        write!(shown, "{value}")
    };
    NumberBuf::parse(&shown)
}
