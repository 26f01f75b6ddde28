//! Binary floats with a mantissa of 64 bits, which Rego computes with if a number is not integral.
//!
//! Each operation is exact except for one rounding to nearest, ties to even.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::Zero;

use super::Number;
use super::exact::ExactDecimal;

/// Bits of a mantissa.
pub(super) const PRECISION: u32 = 64;

/// `mantissa · 2^exponent`. Invariant: the highest bit of the mantissa is set, unless the number is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Float {
    pub negative: bool,
    pub mantissa: u64,
    pub exponent: i64,
}

/// Powers of five that fit 63 bits.
const FIVES: [u64; 28] = {
    let mut fives = [1; 28];
    let mut power = 1;
    while power < fives.len() {
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        {
            fives[power] = fives[power - 1] * 5;
        }
        power += 1;
    }
    fives
};

/// `5^-n`: 128 bits rounded down with the highest bit set, and the exponent of the power of two that they are divided
/// by.
const RECIPROCALS: [(u128, u32); FIVES.len()] = {
    let mut reciprocals = [(0, 0); FIVES.len()];
    let mut five_index = 1;
    while five_index < reciprocals.len() {
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        let five = FIVES[five_index] as u128;
        let power = 127 + (u128::BITS - five.leading_zeros());
        // long division of 2^power, bit by bit
        let (mut quotient, mut rest, mut bit) = (0_u128, 1_u128, 0);
        while bit < power {
            rest <<= 1;
            quotient <<= 1;
            if rest >= five {
                rest -= five;
                quotient |= 1;
            }
            bit += 1;
        }
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        {
            reciprocals[five_index] = (quotient, power);
        }
        five_index += 1;
    }
    reciprocals
};

/// Returns `5^n`, or `None` if it does not fit 64 bits.
#[inline]
pub(super) fn small_five(n: u64) -> Option<u64> {
    FIVES.get(usize::try_from(n).ok()?).copied()
}

/// Returns `5^n`, of any size.
pub(super) fn five(n: u64) -> BigUint {
    // limits of numbers keep powers far below 2^32
    BigUint::from(5_u8).pow(u32::try_from(n).unwrap_or(u32::MAX))
}

impl Float {
    fn zero(negative: bool) -> Self {
        Self {
            negative,
            mantissa: 0,
            exponent: 0,
        }
    }

    /// Rounds `wide · 2^exponent`. `sticky` if the exact value is slightly larger.
    #[inline]
    fn round(negative: bool, wide: u128, exponent: i64, sticky: bool, precision: u32) -> Self {
        let Some(top) = wide.checked_ilog2() else {
            return Self::zero(negative);
        };
        let normal = wide << (127 - top);
        let exponent = exponent - i64::from(127 - top);
        // with 64 bits the dropped part is the lower word; with fewer bits it starts higher
        let dropped_bits = 128 - precision;
        let rest = normal & ((1 << dropped_bits) - 1);
        let half = 1_u128 << (dropped_bits - 1);
        let mantissa = normal >> dropped_bits;
        let rounds_up = rest > half || (rest == half && (sticky || mantissa & 1 == 1));
        let mantissa = mantissa + u128::from(rounds_up);
        let exponent = exponent + i64::from(dropped_bits);
        let (mantissa, exponent) = if mantissa >> precision == 0 {
            (mantissa, exponent)
        } else {
            (mantissa >> 1, exponent + 1)
        };
        // normalize the mantissa again
        let shift = PRECISION - precision;
        Self {
            negative,
            mantissa: u64::try_from(mantissa << shift).unwrap_or(u64::MAX),
            exponent: exponent - i64::from(shift),
        }
    }

    /// Returns the float nearest to `coefficient · 10^power`.
    #[inline]
    pub fn from_decimal(negative: bool, coefficient: u128, power: i64) -> Self {
        if coefficient == 0 {
            return Self::zero(negative);
        }
        if let Ok(coefficient) = u64::try_from(coefficient)
            && let Some(float) = Self::from_short_decimal(negative, coefficient, power)
        {
            return float;
        }
        let five = small_five(power.unsigned_abs()).map(u128::from);
        match five {
            Some(five) if power >= 0 => {
                if let Some(wide) = coefficient.checked_mul(five) {
                    return Self::round(negative, wide, power, false, PRECISION);
                }
            }
            Some(five) => {
                // 128 bits divided by 63 leave one bit more than the mantissa for rounding
                let shift = coefficient.leading_zeros();
                let wide = coefficient << shift;
                let quotient = wide / five;
                let exponent = power - i64::from(shift);
                let is_exact = quotient * five == wide;
                return Self::round(negative, quotient, exponent, !is_exact, PRECISION);
            }
            None => {}
        }
        Self::from_big(negative, coefficient.into(), power)
    }

    /// Returns the float nearest to `coefficient · 10^power` for a negative power, by one multiplication instead of a
    /// division. Returns `None` if the approximate product, which is slightly too small, does not determine the
    /// rounding.
    #[inline]
    fn from_short_decimal(negative: bool, coefficient: u64, power: i64) -> Option<Self> {
        /// Maximum error of the lower bits of a product.
        const SHORT: u64 = 4;
        const HALF: u64 = 1 << 63;
        let scale = usize::try_from(power.checked_neg()?).ok()?;
        let &(reciprocal, divisor) = RECIPROCALS.get(scale).filter(|_| scale > 0)?;
        let shift = coefficient.leading_zeros();
        let normal = u128::from(coefficient << shift);
        let (high, low) = (reciprocal >> 64, reciprocal & u128::from(u64::MAX));
        let product = normal * high + ((normal * low) >> 64);
        let missing = product.leading_zeros();
        let product = product << missing;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the two words of a product"
        )]
        let (mantissa, rest) = ((product >> 64) as u64, product as u64);
        if (HALF - SHORT..=HALF).contains(&rest) {
            return None;
        }
        let exponent = power - i64::from(shift) - i64::from(divisor) + 128 - i64::from(missing);
        let (mantissa, exponent) = match mantissa.checked_add(u64::from(rest > HALF)) {
            Some(mantissa) => (mantissa, exponent),
            None => (HALF, exponent + 1),
        };
        Some(Self {
            negative,
            mantissa,
            exponent,
        })
    }

    /// Returns the float nearest to `coefficient · 10^power`.
    fn from_big(negative: bool, coefficient: BigUint, power: i64) -> Self {
        let fives = five(power.unsigned_abs());
        if power >= 0 {
            return Self::from_bits(negative, &(coefficient * fives), power, false);
        }
        // enough bits of the quotient for the mantissa and one for rounding
        let shift = (fives.bits() + 66).saturating_sub(coefficient.bits());
        let wide: BigUint = coefficient << shift;
        let (quotient, rest) = (&wide / &fives, &wide % &fives);
        let exponent = power.saturating_sub_unsigned(shift);
        Self::from_bits(negative, &quotient, exponent, !rest.is_zero())
    }

    fn from_bits(negative: bool, magnitude: &BigUint, exponent: i64, sticky: bool) -> Self {
        let excess = magnitude.bits().saturating_sub(128);
        let loses_bits = magnitude.trailing_zeros().is_some_and(|z| z < excess);
        let top = u128::try_from(magnitude >> excess).unwrap_or(u128::MAX);
        let exponent = exponent.saturating_add_unsigned(excess);
        Self::round(negative, top, exponent, sticky || loses_bits, PRECISION)
    }

    /// Returns the integral part.
    pub fn truncate(self) -> BigInt {
        let magnitude = BigUint::from(self.mantissa);
        let magnitude = if self.exponent >= 0 {
            magnitude << self.exponent.unsigned_abs()
        } else {
            magnitude >> self.exponent.unsigned_abs()
        };
        let sign = if self.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        BigInt::from_biguint(sign, magnitude)
    }

    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    pub fn is_integer(self) -> bool {
        self.is_zero() || i64::from(self.mantissa.trailing_zeros()) >= -self.exponent
    }

    pub fn abs(self) -> Self {
        Self {
            negative: false,
            ..self
        }
    }

    pub fn negate(self) -> Self {
        Self {
            negative: !self.negative,
            ..self
        }
    }

    #[inline]
    pub fn plus(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return match (self.is_zero(), other.is_zero()) {
                (true, true) => Self::zero(self.negative && other.negative),
                (true, false) => other,
                _ => self,
            };
        }
        // mantissas are normalized, so the greater exponent is the greater number
        let (large, small) = if (self.exponent, self.mantissa) >= (other.exponent, other.mantissa) {
            (self, other)
        } else {
            (other, self)
        };
        // 62 bits below the large mantissa and one above it remain for exact computation
        let distance = large.exponent.abs_diff(small.exponent);
        let wide = u128::from(large.mantissa) << 62;
        let narrow = u128::from(small.mantissa) << 62;
        let (narrow, sticky) = match u32::try_from(distance) {
            Ok(distance @ 0..=127) => {
                let shifted = narrow >> distance;
                (shifted, shifted << distance != narrow)
            }
            _ => (0, true),
        };
        let exponent = large.exponent - 62;
        if large.negative == small.negative {
            return Self::round(large.negative, wide + narrow, exponent, sticky, PRECISION);
        }
        // the bits shifted out make the difference slightly smaller: round from below
        let difference = wide - narrow - u128::from(sticky);
        if difference == 0 && !sticky {
            return Self::zero(false);
        }
        Self::round(large.negative, difference, exponent, sticky, PRECISION)
    }

    #[inline]
    pub fn times(self, other: Self) -> Self {
        self.times_rounded(other, PRECISION)
    }

    /// Returns the product, rounded to `precision` bits.
    #[inline]
    pub fn times_rounded(self, other: Self, precision: u32) -> Self {
        let wide = u128::from(self.mantissa) * u128::from(other.mantissa);
        let exponent = self.exponent + other.exponent;
        let negative = self.negative != other.negative;
        Self::round(negative, wide, exponent, false, precision)
    }

    /// Returns the quotient. The divisor must not be zero.
    #[inline]
    pub fn divide(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        let divisor = u128::from(other.mantissa);
        let wide = u128::from(self.mantissa) << 63;
        let Some(high) = wide.checked_div(divisor) else {
            return Self::zero(negative);
        };
        // the quotient has 63 or 64 bits; two more decide the rounding
        let rest = (wide - high * divisor) << 2;
        let low = rest / divisor;
        let rest = rest - low * divisor;
        let exponent = self.exponent - other.exponent - 65;
        Self::round(negative, high << 2 | low, exponent, rest != 0, PRECISION)
    }
}

impl From<Number<'_>> for Float {
    #[inline]
    fn from(number: Number<'_>) -> Self {
        match number {
            Number::Int(i) => Self::from_decimal(i < 0, i.unsigned_abs().into(), 0),
            Number::Decimal(scale, coefficient) => {
                let magnitude = coefficient.unsigned_abs().into();
                Self::from_decimal(coefficient < 0, magnitude, -i64::from(scale))
            }
            Number::Text(text) => {
                let exact = ExactDecimal::of_text(text);
                if exact.is_zero() {
                    return Self::zero(exact.negative);
                }
                match exact.small_coefficient() {
                    Some(coefficient) => {
                        Self::from_decimal(exact.negative, coefficient, exact.power())
                    }
                    None => Self::from_big(exact.negative, exact.coefficient(), exact.power()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplication_rounds_as_a_division_does() {
        let mut state = 23_u64;
        let mut draw = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let (mut exact_count, mut other_count) = (0, 0);
        for scale in 1..28_i64 {
            let five = FIVES.get(usize::try_from(scale).unwrap()).unwrap();
            // random coefficients of all lengths, short ones, and multiples of the power of five
            let random = (0..4_000).map(|_| draw() >> (draw() % 64));
            let all =
                random
                    .chain(0..2_000)
                    .chain([u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1]);
            let multiples: Vec<u64> = (1..200)
                .filter_map(|times| five.checked_mul(times))
                .collect();
            let halfway = five.checked_mul((1_u64 << (five.leading_zeros() - 1)) - 1);
            for coefficient in all.chain(multiples).chain(halfway) {
                if coefficient == 0 {
                    continue;
                }
                let slow = Float::from_big(true, coefficient.into(), -scale);
                match Float::from_short_decimal(true, coefficient, -scale) {
                    Some(float) => {
                        assert_eq!(float, slow, "{coefficient}e-{scale}");
                        exact_count += 1;
                    }
                    None => other_count += 1,
                }
            }
        }
        assert!(
            exact_count > 100_000 && other_count < 1_000,
            "{exact_count} {other_count}"
        );
    }
}
