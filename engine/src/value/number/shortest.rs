//! Texts of computed numbers: the fewest digits that parse as the same float.

use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use smallvec::SmallVec;

use super::NumberBuf;
use super::exact::{power_of_ten, without_zeros};
use super::float::{Float, PRECISION, five, small_five};
use super::parse::NumberSyntax;
use crate::bug::bug;

/// Power of ten from which a number that is not integral is written with an exponent.
const LARGE: i64 = 6;
/// Power of ten below which numbers are written with an exponent, too.
const SMALL: i64 = -4;

/// Maximum number of digits for which no two decimals round to the same float.
const SHORT: i64 = 18;

/// `0.d1d2d3… · 10^point`, digits in ASCII.
struct Digits {
    ascii: SmallVec<[u8; Digits::LEADING]>,
    point: i64,
    /// `true` if digits other than zeros follow.
    more: bool,
}

impl From<BigInt> for NumberBuf {
    fn from(integer: BigInt) -> Self {
        integer
            .to_i64()
            .map_or_else(|| Self::Text(integer.to_string()), Self::Int)
    }
}

impl From<Float> for NumberBuf {
    #[inline]
    fn from(float: Float) -> Self {
        if float.is_integer() {
            return integral(float, PRECISION);
        }
        match short_decimal(float).or_else(|| long_decimal(float)) {
            Some((coefficient, power)) => of_decimal(float.negative, coefficient, power),
            None => Digits::shortest(float, PRECISION).write_general(float.negative),
        }
    }
}

/// Returns the shortest text of a float of fewer bits.
pub(super) fn from_rounded(float: Float, precision: u32) -> NumberBuf {
    if float.is_integer() {
        return integral(float, precision);
    }
    Digits::shortest(float, precision).write_general(float.negative)
}

fn integral(float: Float, precision: u32) -> NumberBuf {
    if float.is_zero() {
        return if float.negative {
            NumberBuf::Text("-0".to_owned())
        } else {
            NumberBuf::Int(0)
        };
    }
    let bits = i64::from(PRECISION) + float.exponent;
    if bits <= i64::from(precision).min(63) {
        let magnitude = float.mantissa >> float.exponent.unsigned_abs();
        if let Ok(i) = i64::try_from(magnitude) {
            return NumberBuf::Int(if float.negative { -i } else { i });
        }
    }
    Digits::shortest(float, precision).write_integer(float.negative)
}

/// Returns the decimal of at most 18 digits that rounds to the float, if there is one. No two such decimals round to
/// the same float, so it is the shortest.
#[inline]
fn short_decimal(float: Float) -> Option<(u128, i64)> {
    // at a power of two the rounding interval is asymmetric
    if float.mantissa == 1 << 63 {
        return None;
    }
    let scale = scale_of(float, SHORT);
    let five = small_five(u64::try_from(scale).ok()?)?;
    let wide = u128::from(float.mantissa) * u128::from(five);
    let shift = u32::try_from(-(float.exponent + scale))
        .ok()
        .filter(|s| (1..=127).contains(s))?;
    let coefficient = u64::try_from((wide >> (shift - 1)).div_ceil(2)).ok()?;
    if Float::from_decimal(float.negative, coefficient.into(), -scale) != float {
        return None;
    }
    let (coefficient, zeros) = without_zeros(coefficient);
    (coefficient < 10_u64.pow(18)).then_some((coefficient.into(), i64::from(zeros) - scale))
}

/// Returns the power of ten that scales a float to so many digits before its point, or to one less.
#[inline]
fn scale_of(float: Float, digits: i64) -> i64 {
    // the power of ten just above the number: log10(2) is approximately 1233 / 4096
    let lead = ((float.exponent + i64::from(PRECISION)) * 1233) >> 12;
    digits - lead - 1
}

/// Returns the shortest decimal between the halfway points to both neighbours of a float that has no short one. Returns
/// `None` if these need more than 128 bits.
fn long_decimal(float: Float) -> Option<(u128, i64)> {
    /// Number of digits that distinguishes all floats.
    const MOST: i64 = 21;
    if float.mantissa == 1 << 63 {
        return None;
    }
    // where `short_decimal` did not search, a short one may exist
    small_five(u64::try_from(scale_of(float, SHORT)).ok()?)?;
    let doubled = u128::from(float.mantissa) << 1;
    let even = float.mantissa.is_multiple_of(2);
    // none of one digit less than the short ones exists
    let (first, last) = (scale_of(float, SHORT - 1), scale_of(float, MOST + 1));
    for scale in first..=last {
        let five = u128::from(small_five(u64::try_from(scale).ok()?)?);
        let shift = u32::try_from(1 - float.exponent - scale).ok();
        let shift = shift.filter(|shift| (1..=127).contains(shift))?;
        let value = doubled * five;
        let (lower, upper) = (value - five, value + five);
        let (coefficient, unit) = (value >> shift, 1_u128 << shift);
        let rounded_down = coefficient << shift;
        let rest = value - rounded_down;
        let fits_down = rounded_down > lower || (even && rounded_down == lower);
        let rounded_up = rounded_down.checked_add(unit);
        let fits_up = rounded_up.is_some_and(|upper_candidate| {
            upper_candidate < upper || (even && upper_candidate == upper)
        });
        let rounds_up = match (fits_down, fits_up) {
            (false, false) => continue,
            // ties to even
            (true, true) => rest > unit >> 1 || (rest == unit >> 1 && coefficient & 1 == 1),
            (_, fits) => fits,
        };
        return Some((coefficient + u128::from(rounds_up), -scale));
    }
    None
}

/// Returns the number with these digits. `power` is negative.
#[inline]
fn of_decimal(negative: bool, coefficient: u128, power: i64) -> NumberBuf {
    let digits = match u64::try_from(coefficient) {
        Ok(coefficient) => coefficient.checked_ilog10(),
        Err(_) => coefficient.checked_ilog10(),
    };
    let digits = i64::from(digits.unwrap_or(0)) + 1;
    let lead = digits + power - 1;
    if (SMALL..LARGE).contains(&lead)
        && let Ok(scale) = u8::try_from(-power)
        && power_of_ten(scale).is_some()
        && let Ok(coefficient) = i64::try_from(coefficient)
    {
        return NumberBuf::Decimal(scale, if negative { -coefficient } else { coefficient });
    }
    let digits = Digits {
        point: digits + power,
        ascii: SmallVec::from_slice(itoa::Buffer::new().format(coefficient).as_bytes()),
        more: false,
    };
    digits.write_general(negative)
}

impl Digits {
    /// Number of digits that distinguishes all floats, with some more for rounding.
    const LEADING: usize = 24;

    /// Returns the digits of `magnitude · 2^exponent`: the leading ones if they are fast to compute, otherwise all.
    fn compute(magnitude: u128, exponent: i64) -> Self {
        Self::leading(magnitude, exponent).unwrap_or_else(|| Self::all(magnitude, exponent))
    }

    /// Returns the leading digits of a number from about 1e-18 to 2^64.
    fn leading(magnitude: u128, exponent: i64) -> Option<Self> {
        // a fraction of up to 124 bits can be multiplied by ten
        let shift = u32::try_from(-exponent)
            .ok()
            .filter(|shift| (1..=124).contains(shift))?;
        let mask = (1_u128 << shift) - 1;
        let mut fraction = magnitude & mask;
        let mut buffer = itoa::Buffer::new();
        let integer_text = buffer
            .format(u64::try_from(magnitude >> shift).ok()?)
            .as_bytes();
        let mut digits: SmallVec<[u8; Self::LEADING]> = SmallVec::new();
        let mut point = 0;
        if integer_text != b"0" {
            digits.extend_from_slice(integer_text);
            point = 0_i64.saturating_add_unsigned(integer_text.len() as u64);
        }
        while fraction != 0 && digits.len() < Self::LEADING {
            fraction *= 10;
            // less than ten
            let digit = b'0' + u8::try_from(fraction >> shift).unwrap_or(0);
            fraction &= mask;
            if digit == b'0' && digits.is_empty() {
                point -= 1;
            } else {
                digits.push(digit);
            }
        }
        let mut leading = Self {
            ascii: digits,
            point,
            more: fraction != 0,
        };
        if !leading.more {
            leading.trim();
        }
        Some(leading)
    }

    fn all(magnitude: u128, exponent: i64) -> Self {
        let magnitude = BigUint::from(magnitude);
        let (magnitude, power) = if exponent >= 0 {
            (magnitude << exponent.unsigned_abs(), 0)
        } else {
            (magnitude * five(exponent.unsigned_abs()), exponent)
        };
        let digits: SmallVec<_> = magnitude.to_string().into_bytes().into();
        let point = power.saturating_add_unsigned(digits.len() as u64);
        let mut all = Self {
            ascii: digits,
            point,
            more: false,
        };
        all.trim();
        all
    }

    fn trim(&mut self) {
        let zeros = self
            .ascii
            .iter()
            .rev()
            .take_while(|digit| **digit == b'0')
            .count();
        self.ascii.truncate(self.ascii.len() - zeros);
    }

    /// Returns the fewest digits between the halfway points to both neighbours, by Go's algorithm: the lower neighbour
    /// of a power of two counts as far away as the upper.
    fn shortest(float: Float, precision: u32) -> Self {
        let mantissa = float.mantissa >> (PRECISION - precision);
        let exponent = float.exponent + i64::from(PRECISION - precision) - 1;
        let even = mantissa.is_multiple_of(2);
        let doubled = u128::from(mantissa) << 1;
        let lower = Self::compute(doubled - 1, exponent);
        let upper = Self::compute(doubled + 1, exponent);
        let mut value = Self::compute(doubled, exponent);
        let digit_at = |digits: &Self, i: usize| digits.ascii.get(i).copied().unwrap_or(b'0');
        for i in 0..value.ascii.len() {
            let (low, digit, high) = (
                digit_at(&lower, i),
                digit_at(&value, i),
                digit_at(&upper, i),
            );
            let may_round_down = low != digit || (even && !lower.goes_on(i));
            let may_round_up = digit != high && (even || digit + 1 < high || upper.goes_on(i));
            let rounds_up = match (may_round_down, may_round_up) {
                (false, false) => continue,
                (true, true) => value.rounds_up(i + 1),
                (_, may_round) => may_round,
            };
            value.cut(i + 1, rounds_up);
            break;
        }
        value
    }

    /// Returns `true` if there are digits after the one at `i`.
    fn goes_on(&self, i: usize) -> bool {
        self.more || i + 1 < self.ascii.len()
    }

    /// Returns `true` if the nearest number of `len` digits is the greater one; ties to even.
    fn rounds_up(&self, len: usize) -> bool {
        match self.ascii.get(len..) {
            Some([b'5']) if !self.more => {
                let last = len.checked_sub(1).and_then(|i| self.ascii.get(i));
                last.is_some_and(|digit| (digit - b'0') % 2 == 1)
            }
            Some([first, ..]) => *first >= b'5',
            _ => false,
        }
    }

    fn cut(&mut self, len: usize, rounds_up: bool) {
        if len >= self.ascii.len() {
            return;
        }
        self.ascii.truncate(len);
        let end = if rounds_up { b'9' } else { b'0' };
        while self.ascii.last() == Some(&end) {
            self.ascii.pop();
        }
        match self.ascii.last_mut() {
            Some(last) if rounds_up => *last += 1,
            None if rounds_up => {
                self.ascii.push(b'1');
                self.point += 1;
            }
            _ => {}
        }
    }

    fn write_integer(&self, negative: bool) -> NumberBuf {
        let mut text = String::with_capacity(self.ascii.len() + 8);
        text.extend(negative.then_some('-'));
        text.extend(self.ascii.iter().copied().map(char::from));
        let zeros = usize::try_from(self.point)
            .unwrap_or(0)
            .saturating_sub(self.ascii.len());
        text.extend(std::iter::repeat_n('0', zeros));
        NumberBuf::Text(text)
    }

    /// Writes plain digits if that is short, otherwise an exponent.
    fn write_general(&self, negative: bool) -> NumberBuf {
        let mut text = Vec::with_capacity(self.ascii.len() + 8);
        text.extend(negative.then_some(b'-'));
        let digits = self.ascii.as_slice();
        let lead = self.point - 1;
        if (SMALL..LARGE).contains(&lead) {
            let integer_length = usize::try_from(self.point).unwrap_or(0).min(digits.len());
            let (integer, fraction) = digits
                .split_at_checked(integer_length)
                .unwrap_or((digits, b""));
            text.extend_from_slice(if integer.is_empty() { b"0" } else { integer });
            text.push(b'.');
            let zeros = usize::try_from(-self.point).unwrap_or(0);
            text.extend(std::iter::repeat_n(b'0', zeros));
            text.extend_from_slice(fraction);
        } else {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, b""));
            text.extend_from_slice(first);
            if !rest.is_empty() {
                text.push(b'.');
                text.extend_from_slice(rest);
            }
            text.extend_from_slice(if lead < 0 { b"e-" } else { b"e+" });
            text.extend((lead.unsigned_abs() < 10).then_some(b'0'));
            let mut buffer = itoa::Buffer::new();
            text.extend_from_slice(buffer.format(lead.unsigned_abs()).as_bytes());
        }
        if let Some(small) = NumberSyntax::scan(&text).and_then(|syntax| syntax.small()) {
            return small.into();
        }
        let text = String::from_utf8(text);
        NumberBuf::Text(text.unwrap_or_else(|_| bug!("digits that are not UTF-8")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns floats with random bits, from 1e-9 to 1e20, and those next to powers of two and ten.
    fn floats() -> impl Iterator<Item = Float> {
        let mut state = 17_u64;
        let mut draw = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let random = (0..200_000).map(move |_| {
            let exponent = -95 + i64::try_from(draw() % 100).unwrap();
            (draw() | 1 << 63, exponent)
        });
        let edges = (-95..5).flat_map(|exponent| {
            [
                1 << 63,
                (1 << 63) + 1,
                (1 << 63) + 2,
                u64::MAX,
                u64::MAX - 1,
            ]
            .map(|mantissa| (mantissa, exponent))
        });
        let tens = (0..27_i32).flat_map(|power| {
            let ten = Float::from_decimal(false, 10_u128.pow(18), i64::from(power) - 27);
            [-1, 0, 1]
                .map(|difference| (ten.mantissa.wrapping_add_signed(difference), ten.exponent))
        });
        let all = random.chain(edges).chain(tens);
        all.filter(|(mantissa, _)| mantissa >> 63 == 1)
            .map(|(mantissa, exponent)| Float {
                negative: false,
                mantissa,
                exponent,
            })
    }

    #[test]
    fn short_decimals_equal_digit_generation() {
        let mut long = 0;
        for float in floats().filter(|float| !float.is_integer()) {
            let slow = Digits::shortest(float, PRECISION).write_general(false);
            let fast: NumberBuf = float.into();
            assert_eq!(
                fast.as_number().to_string(),
                slow.as_number().to_string(),
                "{float:?}"
            );
            assert_eq!(Float::from(fast.as_number()), float, "{float:?}");
            long += u32::from(short_decimal(float).is_none() && long_decimal(float).is_some());
        }
        assert!(long > 100_000, "{long}");
    }
}
