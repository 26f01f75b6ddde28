//! Numbers: exact integers; all others are kept as text until arithmetic uses them.
//!
//! A number keeps its notation (`1.0`, `0.10`, `1e2`), while order, equality and hash use its exact value. There are
//! three representations: an `i64`, a short decimal, any other text.

mod accumulate;
mod arithmetic;
mod bits;
mod exact;
mod float;
mod float64;
pub(in crate::value) mod parse;
mod shortest;

use std::cmp::Ordering;
use std::fmt;

pub use accumulate::{Product, Sum};
pub use arithmetic::ArithmeticError;
pub use parse::NumberError;

/// The text of a valid JSON number, boxed so that a pointer to it is thin.
#[derive(Clone, Debug)]
pub struct NumberText(pub Box<str>);

/// A borrowed number, in one of three representations.
#[derive(Clone, Copy, Debug)]
pub enum Number<'e> {
    /// An integer of 64 bits.
    Int(i64),
    /// `coefficient / 10^scale` with a scale of at least 1, as written.
    Decimal(u8, i64),
    /// Text of a number that the other variants cannot represent.
    Text(&'e str),
}

/// A computed or parsed number. Invariant: it has the smallest representation that keeps the text.
#[derive(Clone, Debug)]
pub enum NumberBuf {
    /// An integer of 64 bits.
    Int(i64),
    /// `coefficient / 10^scale` with a scale of at least 1.
    Decimal(u8, i64),
    /// Text of a number that the other variants cannot represent.
    Text(String),
}

impl NumberBuf {
    /// Returns the borrowed number. O(1).
    #[inline]
    pub fn as_number(&self) -> Number<'_> {
        match self {
            Self::Int(i) => Number::Int(*i),
            Self::Decimal(scale, coefficient) => Number::Decimal(*scale, *coefficient),
            Self::Text(text) => Number::Text(text),
        }
    }
}

impl From<Number<'_>> for NumberBuf {
    #[inline]
    fn from(number: Number<'_>) -> Self {
        match number {
            Number::Int(i) => Self::Int(i),
            Number::Decimal(scale, coefficient) => Self::Decimal(scale, coefficient),
            Number::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

impl From<i64> for NumberBuf {
    #[inline]
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<u64> for NumberBuf {
    #[inline]
    fn from(u: u64) -> Self {
        i64::try_from(u).map_or_else(|_| Self::Text(u.to_string()), Self::Int)
    }
}

impl From<usize> for NumberBuf {
    #[inline]
    fn from(u: usize) -> Self {
        Self::from(u as u64)
    }
}

impl PartialEq for Number<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl Number<'_> {
    /// Writes the text without the overhead of `fmt::Formatter`.
    pub(crate) fn write(self, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Self::Int(i) => out.write_str(itoa::Buffer::new().format(i)),
            Self::Decimal(scale, coefficient) => write_decimal(scale, coefficient, out),
            Self::Text(text) => out.write_str(text),
        }
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl fmt::Display for NumberBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_number().fmt(f)
    }
}

/// Writes a decimal with at least one digit before the point and `scale` digits after it.
fn write_decimal(scale: u8, coefficient: i64, f: &mut impl fmt::Write) -> fmt::Result {
    if coefficient < 0 {
        f.write_char('-')?;
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient.unsigned_abs());
    match digits.len().checked_sub(usize::from(scale)) {
        None | Some(0) => {
            f.write_str("0.")?;
            for _ in digits.len()..usize::from(scale) {
                f.write_char('0')?;
            }
            f.write_str(digits)
        }
        Some(point) => {
            let (integer, fraction) = digits.split_at(point);
            f.write_str(integer)?;
            f.write_char('.')?;
            f.write_str(fraction)
        }
    }
}

#[cfg(test)]
mod tests;
