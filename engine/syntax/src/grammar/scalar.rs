//! Numbers and strings.

use std::sync::Arc;

use super::Parsed;
use super::stream::Stream;
use crate::ast::{Term, TermKind};
use crate::lexer::{Kind, decode_string};

/// Parses `1`, `-1`, `.5` or `- 1.5e3`. Blanks may follow the sign and the decimal point.
pub(super) fn number(input: Stream<'_>) -> Parsed<'_, Term> {
    let span = input.span();
    let mut stream = input;
    let negative = stream.is_kind(Kind::Minus);
    if negative {
        stream = stream.next();
        if !matches!(stream.kind(), Kind::Number | Kind::Dot) {
            return Err(stream.expected("expected number"));
        }
    }
    let point = stream.is_kind(Kind::Dot);
    if point {
        stream = stream.next();
        if !stream.is_kind(Kind::Number) {
            return Err(stream.expected("expected number"));
        }
    }
    let digits = stream.text();
    let is_sound = stream.token().link == 0;
    // a letter after it counts like a digit
    if !point && (has_leading_zero(digits) || (digits == "0" && !is_sound)) {
        return Err(stream.expected("expected number without leading zero"));
    }
    match size(digits, point) {
        _ if !is_sound => return Err(stream.expected("invalid float")),
        Size::Good => {}
        Size::Unreadable => return Err(stream.expected("invalid float")),
        Size::TooBig => return Err(stream.complain(stream.span(), "number too big")),
    }
    let text: Arc<str> = match (negative, point) {
        (false, false) => digits.into(),
        (true, false) => format!("-{digits}").into(),
        (false, true) => format!("0.{digits}").into(),
        (true, true) => format!("-0.{digits}").into(),
    };
    let rest = stream.next();
    Ok((
        rest,
        Term::new(TermKind::Number(text), rest.span_since(span)),
    ))
}

fn has_leading_zero(digits: &str) -> bool {
    let mut bytes = digits.bytes();
    let is_zero = bytes.next() == Some(b'0');
    match bytes.next() {
        Some(b'.') | None => false,
        Some(b'e' | b'E') => is_zero && bytes.next().is_none(),
        Some(_) => is_zero,
    }
}

enum Size {
    Good,
    Unreadable,
    TooBig,
}

/// Checks that a number's binary exponent is within ±100,000, which limits the cost of printing it.
fn size(digits: &str, point: bool) -> Size {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (integer, fraction) = match mantissa.split_once('.') {
        // `.5.5`
        Some(_) if point => return Size::Unreadable,
        Some(parts) => parts,
        None if point => ("", mantissa),
        None => (mantissa, ""),
    };
    let Ok(exponent) = exponent.parse::<i64>() else {
        return Size::Unreadable;
    };
    let mut significant = integer
        .bytes()
        .chain(fraction.bytes())
        .skip_while(|digit| *digit == b'0');
    let leading: Vec<u8> = significant.by_ref().take(17).collect();
    if leading.is_empty() {
        return Size::Good;
    }
    let rest = significant.count();
    let (Ok(rest), Ok(fraction)) = (i64::try_from(rest), i64::try_from(fraction.len())) else {
        return Size::TooBig;
    };
    let Some(exponent) = exponent.checked_sub(fraction) else {
        return Size::Unreadable;
    };
    if i32::try_from(exponent).is_err() {
        return Size::Unreadable;
    }
    let leading = leading
        .iter()
        .fold(0.0, |value, digit| value * 10.0 + f64::from(digit - b'0'));
    #[expect(
        clippy::cast_precision_loss,
        reason = "exponents are below 2^32 here, text lengths likewise"
    )]
    let decimal = (exponent + rest) as f64;
    let binary = (leading.log2() + decimal * std::f64::consts::LOG2_10).floor() + 1.0;
    if binary.abs() > 1e5 {
        Size::TooBig
    } else {
        Size::Good
    }
}

/// Parses `"…"` or a raw string in backticks. Escapes that are not valid fail.
pub(super) fn string(input: Stream<'_>) -> Parsed<'_, Term> {
    let literal = input.text();
    let inner = literal.get(1..literal.len() - 1).unwrap_or("");
    let text = if input.is_kind(Kind::RawString) {
        inner.into()
    } else {
        match decode_string(inner) {
            Ok(text) => text,
            Err(_) => {
                return Err(
                    input.complain(input.span(), format!("illegal string literal: {literal}"))
                );
            }
        }
    };
    Ok((
        input.next(),
        Term::new(TermKind::String(text.into()), input.span()),
    ))
}
