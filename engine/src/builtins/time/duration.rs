//! Durations: `1h30m`, `-1.5d`.

use super::parse::quote;
use crate::builtins::Fault;

/// Nanoseconds of a unit.
fn unit_ns(unit: &[u8]) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    Some(match unit {
        b"ns" => 1,
        // both the sign for micro and the Greek letter
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1_000,
        b"ms" => 1_000_000,
        b"s" => SECOND,
        b"m" => 60 * SECOND,
        b"h" => 3_600 * SECOND,
        b"d" => 86_400 * SECOND,
        b"w" => 7 * 86_400 * SECOND,
        b"y" => 365 * 86_400 * SECOND,
        _ => return None,
    })
}

fn split(text: &[u8], within: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !within(*b));
    text.split_at(end.unwrap_or(text.len()))
}

/// The digits as a number of at most 2^63.
fn whole(digits: &[u8]) -> Option<u64> {
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add((digit - b'0').into())
    });
    number.filter(|number| *number <= 1 << 63)
}

/// The part of a unit that decimal places stand for; those that no 64 bits hold do not count.
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

/// Reads a duration in nanoseconds.
pub fn parse(text: &[u8]) -> Result<i64, Fault> {
    parse_in(text, unit_ns).map_err(Fault::error)
}

/// The same without days, weeks and years, which Go does not know.
pub fn parse_go(text: &[u8]) -> Result<i64, String> {
    let known = |unit: &[u8]| !matches!(unit, b"d" | b"w" | b"y");
    parse_in(text, |unit| unit_ns(unit).filter(|_| known(unit)))
}

fn parse_in(text: &[u8], unit_ns: impl Fn(&[u8]) -> Option<u64>) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (sign, unsigned) = split(text, |b| b"+-".contains(&b));
    let negative = sign == b"-";
    if sign.len() > 1 || unsigned.is_empty() {
        return Err(invalid());
    }
    let (mut total, mut rest) = (0_u64, unsigned);
    while !rest.is_empty() && unsigned != b"0" {
        let (digits, after) = split(rest, |b| b.is_ascii_digit());
        let (places, after) = match after.strip_prefix(b".") {
            Some(after) => split(after, |b| b.is_ascii_digit()),
            None => (&[][..], after),
        };
        if digits.is_empty() && places.is_empty() {
            return Err(invalid());
        }
        let (name, after) = split(after, |b| b != b'.' && !b.is_ascii_digit());
        let number = whole(digits).ok_or_else(invalid)?;
        if name.is_empty() {
            let text = quote(text);
            return Err(format!("time: missing unit in duration {text}"));
        }
        let unit = unit_ns(name).ok_or_else(|| {
            let (name, text) = (quote(name), quote(text));
            format!("time: unknown unit {name} in duration {text}")
        })?;
        let sum = number
            .checked_mul(unit)
            .and_then(|ns| ns.checked_add(part(places, unit)))
            .and_then(|ns| total.checked_add(ns));
        total = sum.filter(|ns| *ns <= 1 << 63).ok_or_else(invalid)?;
        rest = after;
    }
    let total = i128::from(total);
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}
