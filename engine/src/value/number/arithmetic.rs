//! Arithmetic: exact for integral numbers in any notation, otherwise with [`Float`]s.

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;

use super::exact::ExactDecimal;
use super::float::Float;
use super::{Number, NumberBuf};
use crate::limits;

/// The reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArithmeticError {
    /// Division by zero: `divide by zero`.
    DivideByZero,
    /// Remainder by zero: `modulo by zero`.
    ModuloByZero,
    /// A remainder of numbers that are not integral.
    ModuloOfFloat,
    /// The result exceeds [`limits::NUMBER_BITS`].
    TooBig,
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DivideByZero => "divide by zero",
            Self::ModuloByZero => "modulo by zero",
            Self::ModuloOfFloat => "modulo on floating-point number",
            Self::TooBig => "number too big",
        })
    }
}

impl std::error::Error for ArithmeticError {}

pub(super) type ArithmeticResult = Result<NumberBuf, ArithmeticError>;

impl Number<'_> {
    /// Returns the sum. Exact for integers.
    #[inline]
    pub(crate) fn plus(self, other: Number<'_>) -> ArithmeticResult {
        if let (Self::Int(a), Number::Int(b)) = (self, other)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(NumberBuf::Int(sum));
        }
        compute(self, other, i64::checked_add, |a, b| a + b, Float::plus)
    }

    /// Returns the difference. Exact for integers.
    #[inline]
    pub(crate) fn minus(self, other: Number<'_>) -> ArithmeticResult {
        if let (Self::Int(a), Number::Int(b)) = (self, other)
            && let Some(difference) = a.checked_sub(b)
        {
            return Ok(NumberBuf::Int(difference));
        }
        let floats = |a: Float, b: Float| a.plus(b.negate());
        compute(self, other, i64::checked_sub, |a, b| a - b, floats)
    }

    /// Returns the product. Exact for integers.
    #[inline]
    pub(crate) fn times(self, other: Number<'_>) -> ArithmeticResult {
        if let (Self::Int(a), Number::Int(b)) = (self, other)
            && let Some(product) = a.checked_mul(b)
        {
            return Ok(NumberBuf::Int(product));
        }
        compute(self, other, i64::checked_mul, |a, b| a * b, Float::times)
    }

    /// Returns the quotient: a float unless it is exact.
    #[inline]
    pub(crate) fn divide(self, other: Number<'_>) -> ArithmeticResult {
        // zero uses floats, since the result may be -0
        if let (Self::Int(a), Number::Int(b)) = (self, other)
            && a != 0
            && a.checked_rem(b) == Some(0)
            && let Some(quotient) = a.checked_div(b)
        {
            return Ok(NumberBuf::Int(quotient));
        }
        let divisor = Float::from(other);
        if divisor.is_zero() {
            return Err(ArithmeticError::DivideByZero);
        }
        bounded(Float::from(self).divide(divisor))
    }

    /// Returns the remainder, with the sign of the dividend.
    ///
    /// # Errors
    /// The divisor is zero, or an operand is not an integer.
    #[inline]
    pub(crate) fn rem(self, other: Number<'_>) -> ArithmeticResult {
        if let (Self::Int(a), Number::Int(b)) = (self, other)
            && let Some(rest) = a.checked_rem(b)
        {
            return Ok(NumberBuf::Int(rest));
        }
        let (Some(a), Some(b)) = (self.to_bigint(), other.to_bigint()) else {
            return Err(ArithmeticError::ModuloOfFloat);
        };
        if b.is_zero() {
            return Err(ArithmeticError::ModuloByZero);
        }
        Ok((a % b).into())
    }

    /// Returns `true` if the quotient of the exact values is an integer.
    pub(crate) fn is_multiple_of(self, other: Number<'_>) -> bool {
        if let (Self::Int(a), Number::Int(b)) = (self, other) {
            return a.checked_rem(b).is_none_or(|rest| rest == 0);
        }
        let (mut left, mut right) = (itoa::Buffer::new(), itoa::Buffer::new());
        let (a, b) = (
            ExactDecimal::of_number(self, &mut left),
            ExactDecimal::of_number(other, &mut right),
        );
        if a.is_zero() || b.is_zero() {
            return a.is_zero();
        }
        // both with the same power of ten
        let power = a.power().min(b.power());
        let scaled = |number: ExactDecimal<'_>| {
            let zeros = u32::try_from(number.power() - power).unwrap_or(u32::MAX);
            number.coefficient() * BigUint::from(10_u8).pow(zeros)
        };
        (scaled(a) % scaled(b)).is_zero()
    }

    /// Returns the absolute value. Numbers other than 64-bit integers are computed as floats.
    #[inline]
    pub(crate) fn abs(self) -> NumberBuf {
        match self {
            Self::Int(i) if i != i64::MIN => NumberBuf::Int(i.abs()),
            _ => Float::from(self).abs().into(),
        }
    }

    /// Rounds to the nearest integer, and half away from zero.
    #[inline]
    pub(crate) fn round(self) -> NumberBuf {
        if let Self::Int(_) = self {
            return self.into();
        }
        let float = Float::from(self);
        let half = Float::from_decimal(float.negative, 5, -1);
        float.plus(half).truncate().into()
    }

    /// Returns the product with an integer, computed in floats and truncated.
    pub(crate) fn scaled(self, factor: u64) -> BigInt {
        let factor = NumberBuf::from(factor);
        Float::from(self)
            .times(factor.as_number().into())
            .truncate()
    }

    /// Returns the value as an `i64`, if its nearest 64-bit float is one.
    pub(crate) fn rounded_to_i64(self) -> Option<i64> {
        if let Self::Int(i) = self {
            return Some(i);
        }
        let float = Float::from(self);
        // an integer of more bits does not fit
        let small = float.is_integer() && float.exponent <= 0;
        small.then(|| float.truncate())?.try_into().ok()
    }

    /// Returns the integral part. Numbers that are not written as an integer are converted to a float first.
    pub(crate) fn truncate(self) -> BigInt {
        let exact = match self {
            Self::Int(_) => self.to_bigint(),
            Self::Text(text) if !text.contains(['.', 'e', 'E']) => self.to_bigint(),
            _ => None,
        };
        exact.unwrap_or_else(|| Float::from(self).truncate())
    }

    /// Rounds up. As in OPA, numbers between -1 and 0 give 1.
    #[inline]
    pub(crate) fn ceil(self) -> NumberBuf {
        if let Self::Int(_) = self {
            return self.into();
        }
        let float = Float::from(self);
        let integer = float.truncate();
        if float.is_integer() || integer < BigInt::ZERO {
            return integer.into();
        }
        NumberBuf::from(integer + 1_i64)
    }

    /// Rounds down. As in OPA, numbers between -1 and 0 give 0.
    #[inline]
    pub(crate) fn floor(self) -> NumberBuf {
        if let Self::Int(_) = self {
            return self.into();
        }
        let float = Float::from(self);
        let integer = float.truncate();
        if float.is_integer() || integer >= BigInt::ZERO {
            return integer.into();
        }
        NumberBuf::from(integer - 1_i64)
    }
}

/// Computes with integers if both numbers are integral, otherwise with floats.
fn compute(
    a: Number<'_>,
    b: Number<'_>,
    small: fn(i64, i64) -> Option<i64>,
    big: fn(BigInt, BigInt) -> BigInt,
    floats: fn(Float, Float) -> Float,
) -> ArithmeticResult {
    if !(a.is_integer() && b.is_integer()) {
        return bounded(floats(a.into(), b.into()));
    }
    if let (Some(a), Some(b)) = (a.to_i64(), b.to_i64())
        && let Some(result) = small(a, b)
    {
        return Ok(NumberBuf::Int(result));
    }
    let (Some(a), Some(b)) = (a.to_bigint(), b.to_bigint()) else {
        return bounded(floats(a.into(), b.into()));
    };
    if a.bits() + b.bits() > limits::NUMBER_BITS {
        return Err(ArithmeticError::TooBig);
    }
    Ok(big(a, b).into())
}

/// Rejects floats whose decimal text would have too many digits: an exponent above `limits::NUMBER_BITS`.
pub(super) fn bounded(float: Float) -> ArithmeticResult {
    if float.exponent.unsigned_abs() > limits::NUMBER_BITS {
        return Err(ArithmeticError::TooBig);
    }
    Ok(float.into())
}
