//! Constants of templates: numbers, characters and strings in Go's syntax.

use super::lexer::TemplateTokenKind;
use super::quote_text;
use super::tree::Constant;
use crate::bug::Within;

/// Parses a number or a character. The error is the message for the user.
pub fn number(kind: TemplateTokenKind, text: &str) -> Result<Constant, String> {
    match kind {
        TemplateTokenKind::CharConstant => character(text),
        TemplateTokenKind::Complex => complex(text),
        _ => real(text),
    }
}

fn character(text: &str) -> Result<Constant, String> {
    let invalid = || "invalid syntax".to_owned();
    let inner = text.strip_prefix('\'').ok_or_else(invalid)?;
    let mut bytes = Vec::new();
    let (code, rest) = unquote_one(inner, '\'', &mut bytes).ok_or_else(invalid)?;
    if rest != "'" {
        return Err(format!("malformed character constant: {text}"));
    }
    Ok(Constant::Int(i64::from(code)))
}

fn complex(text: &str) -> Result<Constant, String> {
    let illegal = || format!("illegal number syntax: {}", quote_text(text));
    let inner = text.strip_suffix('i').ok_or_else(illegal)?;
    let middle = inner
        .char_indices()
        .skip(1)
        .filter(|(index, c)| {
            let before = inner.within(..*index);
            matches!(c, '+' | '-') && !before.ends_with(['e', 'E', 'p', 'P'])
        })
        .map(|(index, _)| index)
        .next()
        .ok_or_else(illegal)?;
    let (re, im) = inner.split_at_checked(middle).ok_or_else(illegal)?;
    let (re, im) = (
        float(re).ok_or_else(illegal)?,
        float(im).ok_or_else(illegal)?,
    );
    Ok(Constant::Complex(re, im))
}

fn real(text: &str) -> Result<Constant, String> {
    if let Some(imaginary) = text.strip_suffix('i').and_then(float) {
        return Ok(Constant::Complex(0.0, imaginary));
    }
    let is_hex =
        text.trim_start_matches(['+', '-']).starts_with(['0']) && text.contains(['x', 'X']);
    let has_point = text.contains(['.', 'p', 'P']) || !is_hex && text.contains(['e', 'E']);
    if !has_point {
        if let Some(integer) = integer(text) {
            return Ok(match i64::try_from(integer) {
                Ok(int) => Constant::Int(int),
                Err(_) if (0..=i128::from(u64::MAX)).contains(&integer) => Constant::TooLarge,
                Err(_) => return Err(format!("integer overflow: {}", quote_text(text))),
            });
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("integer overflow: {}", quote_text(text)));
        }
    }
    match float(text) {
        Some(float) if has_point => Ok(Constant::Float(float)),
        _ => Err(format!("illegal number syntax: {}", quote_text(text))),
    }
}

/// Parses an integer with a base prefix, and underscores between digits.
fn integer(text: &str) -> Option<i128> {
    let digits = text.trim_start_matches(['+', '-']);
    if text.len() - digits.len() > 1 {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)?),
        Some("0o") => (8, lower.get(2..)?),
        Some("0b") => (2, lower.get(2..)?),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    let prefixed = base != 10;
    let wrong =
        digits.ends_with('_') || digits.contains("__") || !prefixed && digits.starts_with('_');
    if wrong {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

/// Parses a finite float, including hexadecimal ones.
fn float(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    if text.len() - digits.len() > 1
        || !digits.starts_with(|c: char| c == '.' || c.is_ascii_digit())
    {
        return None;
    }
    let value = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) => hexadecimal(hex)?,
        None => digits.parse::<f64>().ok()?,
    };
    let value = if text.starts_with('-') { -value } else { value };
    value.is_finite().then_some(value)
}

fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let coefficient = u64::from_str_radix(&digits, 16).ok()?;
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "the nearest is wanted")]
    let coefficient = coefficient as f64;
    Some(coefficient * 2_f64.powi(exponent.checked_sub(4 * fraction_digits)?))
}

/// Decodes a string in quotes or backquotes. Returns `None` if it is malformed.
pub fn unquote(text: &str) -> Option<Vec<u8>> {
    if let Some(raw) = text.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.replace('\r', "").into_bytes());
    }
    let mut rest = text.strip_prefix('"')?;
    let mut bytes = Vec::with_capacity(rest.len());
    while rest != "\"" {
        (_, rest) = unquote_one(rest, '"', &mut bytes)?;
    }
    Some(bytes)
}

/// Decodes one character or escape. Returns its code point, and the rest.
fn unquote_one<'t>(text: &'t str, quote: char, out: &mut Vec<u8>) -> Option<(u32, &'t str)> {
    let mut characters = text.chars();
    let first = characters.next()?;
    let mut push = |c: char| {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        u32::from(c)
    };
    if first == quote || first == '\n' {
        return None;
    }
    if first != '\\' {
        return Some((push(first), characters.as_str()));
    }
    let escape = characters.next()?;
    let rest = characters.as_str();
    let simple = match escape {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        c if c == quote => c,
        'x' => {
            let code = u32::from_str_radix(rest.get(..2)?, 16).ok()?;
            out.push(u8::try_from(code).ok()?);
            return Some((code, rest.get(2..)?));
        }
        'u' | 'U' => {
            let digits = if escape == 'u' { 4 } else { 8 };
            let code = u32::from_str_radix(rest.get(..digits)?, 16).ok()?;
            return Some((push(char::from_u32(code)?), rest.get(digits..)?));
        }
        '0'..='7' => {
            let digits = text.get(1..4)?;
            let code = u32::from_str_radix(digits, 8)
                .ok()
                .filter(|code| *code < 256)?;
            out.push(u8::try_from(code).ok()?);
            return Some((code, text.get(4..)?));
        }
        _ => return None,
    };
    Some((push(simple), rest))
}
