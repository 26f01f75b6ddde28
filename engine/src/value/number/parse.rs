//! Parsing of number texts, with a fast path for short ones.

use std::fmt;

use super::exact::ExactDecimal;
use super::{Number, NumberBuf};
use crate::limits;

/// The reason why a text is not a valid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a number in JSON's grammar.
    Syntax,
    /// The exponent does not fit 32 bits.
    Exponent,
    /// The binary exponent exceeds [`limits::NUMBER_EXPONENT`].
    TooBig,
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "invalid number",
            Self::Exponent => "invalid float",
            Self::TooBig => "number too big",
        })
    }
}

impl std::error::Error for NumberError {}

/// Maximum length of the fraction of an inline decimal: ten to this power fits an `i64`.
const MAX_SCALE: usize = 18;

impl NumberBuf {
    /// Parses a JSON number. Returns `None` if the text is not a number, or the number is too large.
    #[inline]
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).ok()
    }

    /// Parses a JSON number. Small ones need no allocation.
    ///
    /// # Errors
    /// The text is not a number, or its exponent is out of range.
    pub fn read(text: &str) -> Result<Self, NumberError> {
        let syntax = NumberSyntax::scan(text.as_bytes()).ok_or(NumberError::Syntax)?;
        if syntax.length != text.len() {
            return Err(NumberError::Syntax);
        }
        if let Some(number) = syntax.small() {
            return Ok(number.into());
        }
        check(text)?;
        Ok(Self::Text(text.to_owned()))
    }
}

/// Rejects numbers whose exact value would need too much memory.
pub(in crate::value) fn check(text: &str) -> Result<(), NumberError> {
    let exact = ExactDecimal::of_text(text);
    if let Some((_, exponent)) = text.split_once(['e', 'E']) {
        let exponent: i64 = exponent.parse().map_err(|_| NumberError::Exponent)?;
        if !exact.has_no_digits() && i32::try_from(exponent).is_err() {
            return Err(NumberError::Exponent);
        }
    }
    if exact.binary_exponent().unsigned_abs() > limits::NUMBER_EXPONENT.unsigned_abs() {
        return Err(NumberError::TooBig);
    }
    Ok(())
}

pub(in crate::value) struct NumberSyntax {
    /// Length of the number in bytes.
    pub length: usize,
    negative: bool,
    digits: usize,
    scale: usize,
    coefficient: u64,
    exponent: bool,
}

impl NumberSyntax {
    /// Scans a number. Returns `None` if the text does not start with one. Digits after a leading zero are not
    /// consumed.
    #[inline]
    pub fn scan(text: &[u8]) -> Option<Self> {
        let mut offset = 0;
        let negative = text.first() == Some(&b'-');
        offset += usize::from(negative);
        let mut coefficient = 0_u64;
        let integer_digits = if text.get(offset) == Some(&b'0') {
            offset += 1;
            1
        } else {
            scan_digits(text, &mut offset, &mut coefficient)
        };
        if integer_digits == 0 {
            return None;
        }
        let mut scale = 0;
        if text.get(offset) == Some(&b'.') {
            offset += 1;
            scale = scan_digits(text, &mut offset, &mut coefficient);
            if scale == 0 {
                return None;
            }
        }
        let exponent = matches!(text.get(offset), Some(b'e' | b'E'));
        if exponent {
            offset += 1;
            offset += usize::from(matches!(text.get(offset), Some(b'+' | b'-')));
            if scan_digits(text, &mut offset, &mut 0) == 0 {
                return None;
            }
        }
        Some(Self {
            length: offset,
            negative,
            digits: integer_digits + scale,
            scale,
            coefficient,
            exponent,
        })
    }

    /// Returns the number, if it can be represented without its text.
    #[inline]
    pub fn small(&self) -> Option<Number<'static>> {
        // 19 digits fit a u64, so the coefficient did not overflow
        if self.exponent || self.digits > 19 || self.scale > MAX_SCALE {
            return None;
        }
        if self.negative && self.coefficient == 0 {
            return None;
        }
        let coefficient = if self.negative {
            0_i64.checked_sub_unsigned(self.coefficient)?
        } else {
            i64::try_from(self.coefficient).ok()?
        };
        if self.scale == 0 {
            return Some(Number::Int(coefficient));
        }
        let scale = u8::try_from(self.scale).ok()?;
        Some(Number::Decimal(scale, coefficient))
    }
}

/// Scans digits, adds them to `coefficient` with wrap-around, and returns their number.
#[inline]
fn scan_digits(text: &[u8], offset: &mut usize, coefficient: &mut u64) -> usize {
    let start = *offset;
    while let Some(digit @ b'0'..=b'9') = text.get(*offset) {
        *coefficient = coefficient
            .wrapping_mul(10)
            .wrapping_add(u64::from(digit - b'0'));
        *offset += 1;
    }
    *offset - start
}
