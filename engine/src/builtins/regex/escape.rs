//! Escapes of single characters.

use nom::bytes::complete::take_while_m_n;
use nom::{IResult, Parser};

use super::class::part_before;
use super::error::{RegexError, RegexErrorKind};

/// Parses an escaped character, starting at the backslash. Returns a code point, since it may be a surrogate, which
/// matches nothing.
pub fn character(pattern: &str) -> Result<(&str, u32), RegexError> {
    let mut chars = pattern.chars();
    chars.next();
    let Some(c) = chars.next() else {
        return Err(RegexErrorKind::TrailingBackslash.for_part(""));
    };
    let rest = chars.as_str();
    let reject = |rest: &str| RegexErrorKind::Escape.for_part(part_before(pattern, rest));
    let code = match c {
        '0' => return Ok(octal(0, rest)),
        // a single digit would be a backreference
        '1'..='7' if rest.starts_with(|c| matches!(c, '0'..='7')) => {
            return Ok(octal(u32::from(c) - u32::from('0'), rest));
        }
        'x' => {
            let (rest, code) = hexadecimal(rest);
            return code.map(|code| (rest, code)).ok_or_else(|| reject(rest));
        }
        'a' => 0x07,
        'f' => 0x0c,
        'n' => 0x0a,
        'r' => 0x0d,
        't' => 0x09,
        'v' => 0x0b,
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
        _ => return Err(reject(rest)),
    };
    Ok((rest, code))
}

/// Parses up to two more octal digits.
fn octal(first: u32, rest: &str) -> (&str, u32) {
    let further_digits = take_while_m_n(0, 2, |c| matches!(c, '0'..='7')).parse(rest);
    let parsed: IResult<&str, &str> = further_digits;
    let (rest, digits) = parsed.unwrap_or((rest, ""));
    let value = digits
        .chars()
        .filter_map(|c| c.to_digit(8))
        .fold(first, |value, digit| value * 8 + digit);
    (rest, value)
}

/// Parses two digits, or any number in braces. If the code point is `None`, the consumed text is invalid.
fn hexadecimal(rest: &str) -> (&str, Option<u32>) {
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        return (rest, None);
    };
    if first != '{' {
        let second = chars.next().and_then(|c| c.to_digit(16));
        let code = first.to_digit(16).zip(second).map(|(a, b)| a * 16 + b);
        return (chars.as_str(), code);
    }
    let mut code = None;
    while let Some(c) = chars.next() {
        if c == '}' {
            return (chars.as_str(), code);
        }
        let Some(digit) = c.to_digit(16) else { break };
        let next = code.unwrap_or(0) * 16 + digit;
        if next > u32::from(char::MAX) {
            break;
        }
        code = Some(next);
    }
    (chars.as_str(), None)
}
