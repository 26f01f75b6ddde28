//! Durations such as `1h30m` and `-1.5d`, in nanoseconds.

use super::parse::quote;
use crate::builtins::BuiltinError;
use crate::value::display;

/// Returns the nanoseconds of a unit, or `None` for an unknown unit.
fn unit_ns(unit: &[u8]) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    Some(match unit {
        b"ns" => 1,
        // both the micro sign and the Greek letter
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1_000,
        b"ms" => 1_000_000,
        b"s" => SECOND,
        b"m" => 60 * SECOND,
        b"h" => 3_600 * SECOND,
        _ => return None,
    })
}

fn split(text: &[u8], belongs: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !belongs(*b));
    text.split_at(end.unwrap_or(text.len()))
}

/// Parses digits as a number of at most 2^63.
fn integer_part(digits: &[u8]) -> Option<u64> {
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add((digit - b'0').into())
    });
    number.filter(|number| *number <= 1 << 63)
}

/// Returns the part of a unit given by decimal places. Digits beyond 64 bits are ignored.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the published arithmetic; the result is less than a unit"
)]
fn part(digits: &[u8], unit: u64) -> u64 {
    let (mut number, mut scale) = (0_u64, 1.0);
    for digit in digits {
        let next = number.saturating_mul(10);
        let next = next.saturating_add((digit - b'0').into());
        if next > 1 << 63 {
            break;
        }
        number = next;
        scale *= 10.0;
    }
    (number as f64 * (unit as f64 / scale)) as u64
}

/// Parses a duration in nanoseconds. If it contains a unit that looks like days, weeks or years, these are first converted
/// to hours, and units are matched case-insensitively. The error is Go's message.
pub fn parse(text: &[u8]) -> Result<i64, BuiltinError> {
    if !text.iter().any(|byte| b"dwy".contains(byte)) {
        return parse_in(text, || quote(text)).map_err(BuiltinError::error);
    }
    let mut quoted_text = String::new();
    // writing to a string does not fail
    let _ = display::quote(text, &mut quoted_text);
    match in_hours(text) {
        Some(text) => parse_in(&text, || quoted_text).map_err(BuiltinError::error),
        None => Err(BuiltinError::error(invalid(&quoted_text))),
    }
}

/// Parses a duration without days, weeks and years, which Go does not support.
pub fn parse_go(text: &[u8]) -> Result<i64, String> {
    parse_in(text, || quote(text))
}

/// Converts days, weeks and years to hours. Returns `None` unless the text is a sequence of numbers, each followed by a
/// known unit or by a single lower-case letter.
fn in_hours(text: &[u8]) -> Option<Vec<u8>> {
    const UNITS: [&[u8]; 4] = [b"ns", b"us", b"\xc2\xb5s", b"ms"];
    let (sign, mut rest) = split(text, |byte| b"+-".contains(&byte));
    let mut hours = sign.to_vec();
    while !rest.is_empty() {
        let (number, after) = split(rest, |byte| byte.is_ascii_digit() || byte == b'.');
        let unit_name = UNITS.iter().find(|unit| after.starts_with(unit));
        let length = unit_name.map_or(1, |unit| unit.len());
        let (unit, after) = after.split_at_checked(length)?;
        let is_letter = matches!(unit, [b'a'..=b'z']);
        if number.is_empty() || unit_name.is_none() && !is_letter {
            return None;
        }
        let factor = match unit {
            b"d" => Some(24.0),
            b"w" => Some(7.0 * 24.0),
            b"y" => Some(365.0 * 24.0),
            _ => None,
        };
        match factor {
            Some(factor) => {
                let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
                hours.extend_from_slice(format!("{}h", number * factor).as_bytes());
            }
            None => hours.extend_from_slice(&[number, unit].concat()),
        }
        rest = after;
    }
    Some(hours)
}

fn invalid(text: &str) -> String {
    format!("time: invalid duration {text}")
}

enum DurationError<'t> {
    Invalid,
    NoUnit,
    UnknownUnit(&'t [u8]),
}

/// Parses a duration. Messages show the text of `quote_text` instead.
fn parse_in(text: &[u8], quote_text: impl FnOnce() -> String) -> Result<i64, String> {
    read(text).map_err(|problem| match problem {
        DurationError::Invalid => invalid(&quote_text()),
        DurationError::NoUnit => format!("time: missing unit in duration {}", quote_text()),
        DurationError::UnknownUnit(name) => {
            let name = quote(name);
            format!("time: unknown unit {name} in duration {}", quote_text())
        }
    })
}

fn read(text: &[u8]) -> Result<i64, DurationError<'_>> {
    let (sign, unsigned) = split(text, |b| b"+-".contains(&b));
    let negative = sign == b"-";
    if sign.len() > 1 || unsigned.is_empty() {
        return Err(DurationError::Invalid);
    }
    let (mut total, mut rest) = (0_u64, unsigned);
    while !rest.is_empty() && unsigned != b"0" {
        let (digits, after) = split(rest, |b| b.is_ascii_digit());
        let (fraction, after) = match after.strip_prefix(b".") {
            Some(after) => split(after, |b| b.is_ascii_digit()),
            None => (&[][..], after),
        };
        if digits.is_empty() && fraction.is_empty() {
            return Err(DurationError::Invalid);
        }
        let (name, after) = split(after, |b| b != b'.' && !b.is_ascii_digit());
        let number = integer_part(digits).ok_or(DurationError::Invalid)?;
        if name.is_empty() {
            return Err(DurationError::NoUnit);
        }
        let unit = unit_ns(name).ok_or(DurationError::UnknownUnit(name))?;
        let sum = number
            .checked_mul(unit)
            .and_then(|ns| ns.checked_add(part(fraction, unit)))
            .and_then(|ns| total.checked_add(ns));
        total = sum
            .filter(|ns| *ns <= 1 << 63)
            .ok_or(DurationError::Invalid)?;
        rest = after;
    }
    let total = i128::from(total);
    i64::try_from(if negative { -total } else { total }).map_err(|_| DurationError::Invalid)
}
