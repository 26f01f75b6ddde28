//! Bit operations on integers of any size, in two's complement. They return `None` if an operand is not integral.

use num_bigint::BigInt;

use super::arithmetic::ArithmeticResult;
use super::{ArithmeticError, Number, NumberBuf};
use crate::limits;

impl Number<'_> {
    /// Bitwise and. Returns `None` if an operand is not an integer.
    pub(crate) fn bit_and(self, other: Number<'_>) -> Option<NumberBuf> {
        self.bitwise(other, |a, b| a & b, |a, b| a & b)
    }

    /// Bitwise or. Returns `None` if an operand is not an integer.
    pub(crate) fn bit_or(self, other: Number<'_>) -> Option<NumberBuf> {
        self.bitwise(other, |a, b| a | b, |a, b| a | b)
    }

    /// Bitwise exclusive or.
    pub(crate) fn bit_xor(self, other: Number<'_>) -> Option<NumberBuf> {
        self.bitwise(other, |a, b| a ^ b, |a, b| a ^ b)
    }

    /// Bitwise complement. Returns `None` if the number is not an integer.
    pub(crate) fn bit_not(self) -> Option<NumberBuf> {
        match self.to_i64() {
            Some(i) => Some(NumberBuf::Int(!i)),
            None => Some(NumberBuf::from(-self.to_bigint()? - 1_i64)),
        }
    }

    pub(crate) fn shift_left(self, shift: u64) -> Option<ArithmeticResult> {
        let i = self.to_bigint()?;
        if i.bits().saturating_add(shift) > limits::NUMBER_BITS && i.bits() > 0 {
            return Some(Err(ArithmeticError::TooBig));
        }
        Some(Ok((i << shift).into()))
    }

    /// Shifts to the right and keeps the sign.
    pub(crate) fn shift_right(self, shift: u64) -> Option<NumberBuf> {
        match self.to_i64() {
            Some(i) => Some(NumberBuf::Int(i >> shift.min(63))),
            None => Some((self.to_bigint()? >> shift).into()),
        }
    }

    fn bitwise(
        self,
        other: Number<'_>,
        small: fn(i64, i64) -> i64,
        big: fn(BigInt, BigInt) -> BigInt,
    ) -> Option<NumberBuf> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64()) {
            return Some(NumberBuf::Int(small(a, b)));
        }
        Some(big(self.to_bigint()?, other.to_bigint()?).into())
    }
}
