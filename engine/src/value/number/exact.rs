//! The exact value of a number, its order, hash and conversions to integers.

use std::cmp::Ordering;
use std::hash::Hasher;

use num_bigint::{BigInt, BigUint, Sign};

use super::Number;
use crate::bug::bug;

/// `0.d1d2d3… · 10^exponent`. Invariant: neither the first nor the last digit is zero, and zero has no digits.
#[derive(Clone, Copy)]
pub(super) struct ExactDecimal<'a> {
    pub negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    pub exponent: i64,
}

/// Numbers below ten to this power are parsed as zero, as in OPA, whose binary exponent has 32 bits.
const UNDERFLOW: i64 = -646_456_993;

impl<'a> ExactDecimal<'a> {
    /// Converts a number. `buffer` stores the digits of numbers without a text.
    pub fn of_number(number: Number<'a>, buffer: &'a mut itoa::Buffer) -> Self {
        match number {
            Number::Int(i) => Self::of_digits(i < 0, buffer.format(i.unsigned_abs()), 0),
            Number::Decimal(scale, coefficient) => {
                let digits = buffer.format(coefficient.unsigned_abs());
                Self::of_digits(coefficient < 0, digits, -i64::from(scale))
            }
            Number::Text(text) => Self::of_text(text),
        }
    }

    /// Parses the text of a JSON number.
    pub fn of_text(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (mantissa, exponent) = match halves(bytes, |byte| matches!(byte, b'e' | b'E')) {
            Some((mantissa, exponent)) => (mantissa, saturating(exponent)),
            None => (bytes, 0),
        };
        let digits = mantissa.strip_prefix(b"-");
        let negative = digits.is_some();
        let digits = digits.unwrap_or(mantissa);
        let (integer, fraction) = halves(digits, |byte| byte == b'.').unwrap_or((digits, b""));
        Self::from_digits(negative, integer, fraction, exponent)
    }

    fn of_digits(negative: bool, digits: &'a str, exponent: i64) -> Self {
        Self::from_digits(negative, digits.as_bytes(), b"", exponent)
    }

    fn from_digits(negative: bool, integer: &'a [u8], fraction: &'a [u8], exponent: i64) -> Self {
        let (mut integer, mut fraction) = (trim_start(integer), trim_end(fraction));
        let mut exponent = exponent.saturating_add_unsigned(integer.len() as u64);
        if integer.is_empty() {
            let digits = trim_start(fraction);
            exponent = exponent.saturating_sub_unsigned((fraction.len() - digits.len()) as u64);
            fraction = digits;
        }
        if fraction.is_empty() {
            integer = trim_end(integer);
        }
        Self {
            negative,
            whole: integer,
            fraction,
            exponent,
        }
    }

    /// Returns `true` if all digits as written are zeros.
    pub fn has_no_digits(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    pub fn is_zero(&self) -> bool {
        self.has_no_digits() || self.exponent < UNDERFLOW
    }

    /// Returns the number of significant digits.
    pub fn len(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    /// Returns the significant digits in ASCII.
    pub fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.whole.iter().chain(self.fraction).copied()
    }

    /// Returns the power of ten by which the digits, as one integer, are multiplied.
    pub fn power(&self) -> i64 {
        self.exponent.saturating_sub_unsigned(self.len() as u64)
    }

    pub fn is_integer(&self) -> bool {
        self.is_zero() || self.power() >= 0
    }

    /// Returns the value as an `i64`, or `None` if it is not an integer or does not fit.
    pub fn to_i64(self) -> Option<i64> {
        if self.is_zero() {
            return Some(0);
        }
        let zeros = usize::try_from(self.power()).ok().filter(|z| *z < 19)?;
        let zeros = std::iter::repeat_n(b'0', zeros);
        self.digits().chain(zeros).try_fold(0_i64, |sum, digit| {
            let digit = i64::from(digit - b'0');
            let digit = if self.negative { -digit } else { digit };
            sum.checked_mul(10)?.checked_add(digit)
        })
    }

    /// Returns the significant digits as an integer without sign, if there are at most 38.
    pub fn small_coefficient(&self) -> Option<u128> {
        /// Digits that fit 64 bits.
        const SMALL: usize = 19;
        /// Digits that fit 128 bits.
        const LARGE: usize = 38;
        let mut digits = self.digits().map(|digit| digit - b'0');
        if self.len() <= SMALL {
            let number = digits.fold(0, |sum: u64, digit| sum * 10 + u64::from(digit));
            return Some(number.into());
        }
        let number = digits.by_ref().take(SMALL);
        let number = number.fold(0, |sum: u64, digit| sum * 10 + u64::from(digit));
        (self.len() <= LARGE)
            .then(|| digits.fold(number.into(), |sum, digit| sum * 10 + u128::from(digit)))
    }

    /// Returns the significant digits as an integer without sign.
    pub fn coefficient(&self) -> BigUint {
        let digits: Vec<u8> = self.digits().map(|digit| digit - b'0').collect();
        let number = BigUint::from_radix_be(&digits, 10);
        number.unwrap_or_else(|| bug!("digits that are none"))
    }

    /// Returns the value as an integer of any size, or `None` if it has a fraction.
    pub fn to_bigint(self) -> Option<BigInt> {
        if self.is_zero() {
            return Some(BigInt::ZERO);
        }
        let zeros = u32::try_from(self.power()).ok()?;
        let sign = if self.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        let magnitude = self.coefficient() * BigUint::from(10_u8).pow(zeros);
        Some(BigInt::from_biguint(sign, magnitude))
    }

    /// Returns the `e` of `m · 2^e` with `m` from a half to one; 0 for zero.
    pub fn binary_exponent(&self) -> i64 {
        if self.is_zero() {
            return 0;
        }
        // Far away from all limits the number of digits decides.
        let Ok(exponent) = i32::try_from(self.exponent) else {
            return self.exponent;
        };
        let lead = self.digits().take(17).fold((0.0, 0.1), |(sum, unit), d| {
            (sum + f64::from(d - b'0') * unit, unit / 10.0)
        });
        let log2 = lead.0.log2() + f64::from(exponent) * std::f64::consts::LOG2_10;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 2^31 times log2(10)"
        )]
        let floor = log2.floor() as i64;
        floor + 1
    }

    /// Compares exact values, without rounding.
    pub fn compare(&self, other: &Self) -> Ordering {
        let sign = |n: &Self| match (n.is_zero(), n.negative) {
            (true, _) => 0_i8,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || {
            self.exponent
                .cmp(&other.exponent)
                .then_with(|| self.digits().cmp(other.digits()))
        };
        match (sign(self), sign(other)) {
            (1, 1) => size(),
            (-1, -1) => size().reverse(),
            (a, b) => a.cmp(&b),
        }
    }

    /// Feeds a hash that is equal for equal values. For integers it is that of the `i64`.
    pub fn hash_into<H: Hasher>(self, state: &mut H) {
        if let Some(i) = self.to_i64() {
            return state.write_i64(i);
        }
        state.write_u8(u8::from(self.negative));
        state.write_i64(self.exponent);
        let mut digits = self.digits();
        for _ in 0..self.len().div_ceil(19) {
            let group = digits.by_ref().take(19);
            state.write_u64(group.fold(0, |sum, d| sum * 10 + u64::from(d - b'0')));
        }
    }
}

/// Splits a text at the first byte that fulfils a condition, which belongs to neither part.
fn halves(text: &[u8], is_selected: fn(u8) -> bool) -> Option<(&[u8], &[u8])> {
    let (before, rest) = text.split_at_checked(text.iter().position(|byte| is_selected(*byte))?)?;
    Some((before, rest.get(1..)?))
}

/// Parses a signed decimal integer. Beyond 64 bits it returns the nearest one that fits.
fn saturating(text: &[u8]) -> i64 {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    digits.iter().fold(0, |sum: i64, digit| {
        let digit = i64::from(digit.wrapping_sub(b'0'));
        let sum = sum.saturating_mul(10);
        if negative {
            sum.saturating_sub(digit)
        } else {
            sum.saturating_add(digit)
        }
    })
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|d| **d == b'0').count();
    digits.get(zeros..).unwrap_or(b"")
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|d| **d == b'0').count();
    digits.get(..digits.len() - zeros).unwrap_or(b"")
}

/// Powers of ten that fit an `i64`.
const POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut exponent = 1;
    while exponent < powers.len() {
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        {
            powers[exponent] = powers[exponent - 1] * 10;
        }
        exponent += 1;
    }
    powers
};

/// Returns `10^n`, if it fits.
#[inline]
pub(super) fn power_of_ten(n: u8) -> Option<i64> {
    POWERS.get(usize::from(n)).copied()
}

/// Removes the trailing zeros of a number other than 0, and returns how many there were.
#[inline]
pub(super) fn without_zeros(mut number: u64) -> (u64, u8) {
    let mut zeros = 0;
    for digits in [16_u8, 8, 4, 2, 1] {
        let power = 10_u64.pow(digits.into());
        if number.is_multiple_of(power) && number != 0 {
            number /= power;
            zeros += digits;
        }
    }
    (number, zeros)
}

/// Returns `coefficient / 10^scale`, or `None` if it is not an integer.
#[inline]
fn as_integer(scale: u8, coefficient: i64) -> Option<i64> {
    // A multiple of ten to this power is a multiple of two to this power.
    if coefficient.trailing_zeros() < scale.into() {
        return None;
    }
    let power = power_of_ten(scale)?;
    (coefficient % power == 0).then_some(coefficient / power)
}

/// Integers up to this one are exact in an `f64`, and so are the powers of ten that fit an `i64`.
const EXACT: u64 = 1 << 53;

impl Number<'_> {
    /// Compares exact values, without rounding. O(1) for integers.
    #[inline]
    pub(crate) fn compare(self, other: Number<'_>) -> Ordering {
        match (self, other) {
            (Self::Int(a), Number::Int(b)) => a.cmp(&b),
            (Self::Text(_), _) | (_, Number::Text(_)) => compare_texts(self, other),
            _ => compare_decimals(self, other).unwrap_or_else(|| compare_texts(self, other)),
        }
    }

    /// Feeds a hash that is equal for equal numbers.
    #[inline]
    pub(crate) fn hash_into<H: Hasher>(self, state: &mut H) {
        match self {
            Self::Int(i) => state.write_i64(i),
            Self::Decimal(scale, coefficient) => hash_decimal(scale, coefficient, state),
            Self::Text(text) => ExactDecimal::of_text(text).hash_into(state),
        }
    }

    /// Returns `true` if the value is integral, in any notation.
    #[inline]
    pub fn is_integer(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Decimal(scale, coefficient) => as_integer(scale, coefficient).is_some(),
            Self::Text(text) => ExactDecimal::of_text(text).is_integer(),
        }
    }

    /// Returns the value as an `i64`, if it is integral and fits, in any notation.
    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Self::Int(i) => Some(i),
            Self::Decimal(scale, coefficient) => as_integer(scale, coefficient),
            Self::Text(text) => ExactDecimal::of_text(text).to_i64(),
        }
    }

    /// Returns the value as an integer, if it is integral, in any notation.
    pub(crate) fn to_bigint(self) -> Option<BigInt> {
        match self {
            Self::Int(i) => Some(i.into()),
            Self::Decimal(scale, coefficient) => as_integer(scale, coefficient).map(BigInt::from),
            Self::Text(text) => ExactDecimal::of_text(text).to_bigint(),
        }
    }

    /// Returns the nearest `f64`, which is infinite for numbers out of range.
    #[expect(clippy::cast_precision_loss, reason = "the nearest is wanted")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Decimal(scale, coefficient) => match power_of_ten(scale) {
                // Both are exact floats, so the quotient is rounded once.
                Some(power) if coefficient.unsigned_abs() <= EXACT => {
                    coefficient as f64 / power as f64
                }
                _ => self.to_string().parse().unwrap_or(f64::NAN),
            },
            Self::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns the number of digits after the point, unless the number is stored as a text.
    #[inline]
    pub(crate) fn scale(self) -> Option<u8> {
        match self {
            Self::Int(_) => Some(0),
            Self::Decimal(scale, _) => Some(scale),
            Self::Text(_) => None,
        }
    }

    /// Returns the number times ten to the power of `scale`, which must be at least its own scale. `None` if the number
    /// is stored as a text.
    #[inline]
    pub(crate) fn on_scale(self, scale: u8) -> Option<i128> {
        let (own_scale, coefficient) = match self {
            Self::Int(i) => (0, i),
            Self::Decimal(own_scale, coefficient) => (own_scale, coefficient),
            Self::Text(_) => return None,
        };
        let power = power_of_ten(scale.checked_sub(own_scale)?)?;
        Some(i128::from(coefficient) * i128::from(power))
    }

    /// Returns the number as an array index: an integer from 0 on.
    #[inline]
    pub(crate) fn as_index(self) -> Option<usize> {
        usize::try_from(self.to_i64()?).ok()
    }
}

/// Feeds the same hash as [`ExactDecimal::hash_into`] for a short decimal.
#[inline]
fn hash_decimal<H: Hasher>(scale: u8, coefficient: i64, state: &mut H) {
    if let Some(i) = as_integer(scale, coefficient) {
        return state.write_i64(i);
    }
    let (digits, zeros) = without_zeros(coefficient.unsigned_abs());
    let length = i64::from(digits.checked_ilog10().unwrap_or(0)) + 1;
    state.write_u8(u8::from(coefficient < 0));
    state.write_i64(length + i64::from(zeros) - i64::from(scale));
    state.write_u64(digits);
}

/// Compares short decimals on a common scale.
#[inline]
fn compare_decimals(a: Number<'_>, b: Number<'_>) -> Option<Ordering> {
    if let (Number::Decimal(scale, a), Number::Decimal(other, b)) = (a, b)
        && scale == other
    {
        return Some(a.cmp(&b));
    }
    let scale = a.scale()?.max(b.scale()?);
    Some(a.on_scale(scale)?.cmp(&b.on_scale(scale)?))
}

fn compare_texts(a: Number<'_>, b: Number<'_>) -> Ordering {
    let (mut left, mut right) = (itoa::Buffer::new(), itoa::Buffer::new());
    ExactDecimal::of_number(a, &mut left).compare(&ExactDecimal::of_number(b, &mut right))
}
