//! Sums and products: exact if all numbers are integral, otherwise in floats from the first number on. Both are
//! computed in parallel, because the first fraction may come last.

use num_bigint::BigInt;

use super::arithmetic::{ArithmeticResult, bounded};
use super::float::Float;
use super::shortest::from_rounded;
use super::{ArithmeticError, Number, NumberBuf};
use crate::limits;

/// A running sum: exact while it is an integer, a float after the first fraction.
pub struct Sum(Running);

enum Running {
    /// A sum that is exact both as an integer and as a float.
    Small(i64),
    /// The exact integer and the float sum.
    Big(BigInt, Float),
    /// The float sum, after the first fraction.
    Float(Float),
}

impl Default for Sum {
    fn default() -> Self {
        Self(Running::Small(0))
    }
}

impl Sum {
    /// Adds a number. O(1) while the sum is an integer of 64 bits.
    #[inline]
    pub fn add(&mut self, number: Number<'_>) {
        if let (Running::Small(sum), Number::Int(i)) = (&mut self.0, number)
            && let Some(next) = sum.checked_add(i)
        {
            *sum = next;
            return;
        }
        self.add_slowly(number);
    }

    /// Adds integers in a register, up to the first element that is not an integer or overflows it.
    #[inline]
    pub fn add_ints<T>(
        &mut self,
        elements: &mut impl Iterator<Item = T>,
        int: impl Fn(&T) -> Option<i64>,
    ) -> Option<T> {
        let Running::Small(mut sum) = self.0 else {
            return elements.next();
        };
        let other = loop {
            let Some(element) = elements.next() else {
                break None;
            };
            match int(&element).and_then(|int| sum.checked_add(int)) {
                Some(next) => sum = next,
                None => break Some(element),
            }
        };
        self.0 = Running::Small(sum);
        other
    }

    fn add_slowly(&mut self, number: Number<'_>) {
        let float = |sum: Float| sum.plus(number.into());
        self.0 = match std::mem::replace(&mut self.0, Running::Small(0)) {
            Running::Float(sum) => Running::Float(float(sum)),
            Running::Small(sum) => {
                let floats = float(Number::Int(sum).into());
                match (
                    number.to_i64().and_then(|i| sum.checked_add(i)),
                    number.to_bigint(),
                ) {
                    (Some(sum), _) => Running::Small(sum),
                    (None, Some(i)) => Running::Big(i + sum, floats),
                    (None, None) => Running::Float(floats),
                }
            }
            Running::Big(sum, floats) => match number.to_bigint() {
                Some(i) => Running::Big(sum + i, float(floats)),
                None => Running::Float(float(floats)),
            },
        };
    }

    /// Returns the sum, or 0 without numbers.
    ///
    /// # Errors
    /// The result is out of range.
    #[inline]
    pub fn finish(self) -> ArithmeticResult {
        match self.0 {
            Running::Small(sum) => Ok(NumberBuf::Int(sum)),
            Running::Big(sum, _) => Ok(sum.into()),
            Running::Float(sum) => bounded(sum),
        }
    }
}

/// A running product. Its floats have 53 bits, as in OPA.
pub struct Product {
    exact: Option<ExactProduct>,
    float: Float,
}

enum ExactProduct {
    Small(i64),
    Big(BigInt),
}

const PRODUCT_PRECISION: u32 = 53;

impl Default for Product {
    fn default() -> Self {
        Self {
            exact: Some(ExactProduct::Small(1)),
            float: Number::Int(1).into(),
        }
    }
}

impl Product {
    /// Multiplies by a number.
    ///
    /// # Errors
    /// The result is out of range.
    pub fn multiply(&mut self, number: Number<'_>) -> Result<(), ArithmeticError> {
        self.float = self.float.times_rounded(number.into(), PRODUCT_PRECISION);
        self.exact = match self.exact.take() {
            None => None,
            Some(ExactProduct::Small(product)) => {
                match (
                    number.to_i64().and_then(|i| product.checked_mul(i)),
                    number.to_bigint(),
                ) {
                    (Some(product), _) => Some(ExactProduct::Small(product)),
                    (None, Some(i)) => Some(ExactProduct::Big(i * product)),
                    (None, None) => None,
                }
            }
            Some(ExactProduct::Big(product)) => match number.to_bigint() {
                Some(i) if i.bits() + product.bits() > limits::NUMBER_BITS => {
                    return Err(ArithmeticError::TooBig);
                }
                Some(i) => Some(ExactProduct::Big(product * i)),
                None => None,
            },
        };
        Ok(())
    }

    /// Returns the product, or 1 after zero factors.
    pub fn finish(self) -> ArithmeticResult {
        match self.exact {
            Some(ExactProduct::Small(product)) => Ok(NumberBuf::Int(product)),
            Some(ExactProduct::Big(product)) => Ok(product.into()),
            None if self.float.exponent.unsigned_abs() > limits::NUMBER_BITS => {
                Err(ArithmeticError::TooBig)
            }
            None => Ok(from_rounded(self.float, PRODUCT_PRECISION)),
        }
    }
}
