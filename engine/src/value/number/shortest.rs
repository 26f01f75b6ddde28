//! The text of a computed number: the fewest digits that read back as the same float.

use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use smallvec::SmallVec;

use super::NumberBuf;
use super::exact::power_of_ten;
use super::float::{Float, PRECISION, five, small_five};

/// From this power of ten on, a number that is not integral is written with an exponent.
const LARGE: i64 = 6;
/// Below this power of ten as well.
const SMALL: i64 = -4;

/// `0.d1d2d3… · 10^point`, digits in ASCII.
struct Digits {
    ascii: SmallVec<[u8; Digits::LEADING]>,
    point: i64,
    /// Whether digits that are not all zeros were left out at the end.
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
        match short_decimal(float) {
            Some((coefficient, power)) => of_decimal(float.negative, coefficient, power),
            None => Digits::shortest(float, PRECISION).write_general(float.negative),
        }
    }
}

/// The number that a float of fewer bits prints as.
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

/// The decimal of at most 18 digits that rounds to the float, if there is one. No two such decimals round to
/// the same float, so it is the shortest.
#[inline]
fn short_decimal(float: Float) -> Option<(u64, i64)> {
    const DIGITS: i64 = 18;
    // next to a power of two the interval of rounding is uneven
    if float.mantissa == 1 << 63 {
        return None;
    }
    // the power of ten just above the number: log10(2) is about 1233 / 4096
    let above = ((float.exponent + i64::from(PRECISION)) * 1233) >> 12;
    let scale = DIGITS - above - 1;
    let five = small_five(u64::try_from(scale).ok()?)?;
    let wide = u128::from(float.mantissa) * u128::from(five);
    let shift = u32::try_from(-(float.exponent + scale))
        .ok()
        .filter(|s| (1..=127).contains(s))?;
    let mut coefficient = u64::try_from((wide >> (shift - 1)).div_ceil(2)).ok()?;
    let mut power = -scale;
    if Float::from_decimal(float.negative, coefficient, power) != float {
        return None;
    }
    while coefficient.is_multiple_of(10) {
        coefficient /= 10;
        power += 1;
    }
    (coefficient < 10_u64.pow(18)).then_some((coefficient, power))
}

/// The number with these digits; `power` is negative.
#[inline]
fn of_decimal(negative: bool, coefficient: u64, power: i64) -> NumberBuf {
    let digits = i64::from(coefficient.checked_ilog10().unwrap_or(0)) + 1;
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
    /// Digits that tell any two floats apart, and some more to round by.
    const LEADING: usize = 24;

    /// The digits of `magnitude · 2^exponent`: the leading ones when that is quick, else all.
    fn of(magnitude: u128, exponent: i64) -> Self {
        Self::leading(magnitude, exponent).unwrap_or_else(|| Self::all(magnitude, exponent))
    }

    /// The leading digits of a number from about 1e-18 to 2^64.
    fn leading(magnitude: u128, exponent: i64) -> Option<Self> {
        // a fraction of up to 124 bits can be multiplied by ten
        let shift = u32::try_from(-exponent)
            .ok()
            .filter(|shift| (1..=124).contains(shift))?;
        let mask = (1_u128 << shift) - 1;
        let mut fraction = magnitude & mask;
        let mut buffer = itoa::Buffer::new();
        let whole = buffer
            .format(u64::try_from(magnitude >> shift).ok()?)
            .as_bytes();
        let mut digits: SmallVec<[u8; Self::LEADING]> = SmallVec::new();
        let mut point = 0;
        if whole != b"0" {
            digits.extend_from_slice(whole);
            point = 0_i64.saturating_add_unsigned(whole.len() as u64);
        }
        while fraction != 0 && digits.len() < Self::LEADING {
            fraction *= 10;
            // below ten
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

    /// The fewest digits between the halfway points to both neighbours, as Go finds them: the lower neighbour
    /// of a power of two counts as far away as the upper.
    fn shortest(float: Float, precision: u32) -> Self {
        let mantissa = float.mantissa >> (PRECISION - precision);
        let exponent = float.exponent + i64::from(PRECISION - precision) - 1;
        let even = mantissa.is_multiple_of(2);
        let doubled = u128::from(mantissa) << 1;
        let lower = Self::of(doubled - 1, exponent);
        let upper = Self::of(doubled + 1, exponent);
        let mut value = Self::of(doubled, exponent);
        let at = |digits: &Self, i: usize| digits.ascii.get(i).copied().unwrap_or(b'0');
        for i in 0..value.ascii.len() {
            let (low, digit, high) = (at(&lower, i), at(&value, i), at(&upper, i));
            let down = low != digit || (even && !lower.goes_on(i));
            let up = digit != high && (even || digit + 1 < high || upper.goes_on(i));
            let up = match (down, up) {
                (false, false) => continue,
                (true, true) => value.rounds_up(i + 1),
                (_, up) => up,
            };
            value.cut(i + 1, up);
            break;
        }
        value
    }

    /// Whether there are digits behind the one at `i`.
    fn goes_on(&self, i: usize) -> bool {
        self.more || i + 1 < self.ascii.len()
    }

    /// Whether the nearest number of `len` digits is the greater one; halfway, the even one.
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

    fn cut(&mut self, len: usize, up: bool) {
        if len >= self.ascii.len() {
            return;
        }
        self.ascii.truncate(len);
        let end = if up { b'9' } else { b'0' };
        while self.ascii.last() == Some(&end) {
            self.ascii.pop();
        }
        match self.ascii.last_mut() {
            Some(last) if up => *last += 1,
            None if up => {
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

    /// Plain when that is short, else with an exponent.
    fn write_general(&self, negative: bool) -> NumberBuf {
        let mut text = String::with_capacity(self.ascii.len() + 8);
        text.extend(negative.then_some('-'));
        let mut digits = self.ascii.iter().copied().map(char::from);
        let lead = self.point - 1;
        if (SMALL..LARGE).contains(&lead) {
            match usize::try_from(self.point) {
                Ok(whole) if whole > 0 => text.extend(digits.by_ref().take(whole)),
                _ => text.push('0'),
            }
            text.push('.');
            let zeros = usize::try_from(-self.point).unwrap_or(0);
            text.extend(std::iter::repeat_n('0', zeros));
            text.extend(digits);
        } else {
            text.extend(digits.next());
            let rest: String = digits.collect();
            if !rest.is_empty() {
                text.push('.');
                text.push_str(&rest);
            }
            text.push('e');
            text.push(if lead < 0 { '-' } else { '+' });
            text.extend((lead.unsigned_abs() < 10).then_some('0'));
            text.push_str(itoa::Buffer::new().format(lead.unsigned_abs()));
        }
        NumberBuf::parse(&text).unwrap_or(NumberBuf::Text(text))
    }
}
