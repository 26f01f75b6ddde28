//! Verbs of floats whose digits are known: a float keeps fifteen digits, and prints as the number that it was read from.

use smallvec::SmallVec;

use super::directive::Spec;

/// Text of a float.
pub type Text = SmallVec<[u8; 32]>;

/// `coefficient / 10^scale`, the shortest decimal of a float.
#[derive(Clone, Copy)]
pub struct Decimal {
    negative: bool,
    coefficient: u64,
    scale: u32,
    /// Digits of the coefficient.
    digits: u32,
}

/// Digits that each float keeps.
const KEPT: u32 = 15;

impl Decimal {
    /// `None` for zero, and for more digits than a float keeps for sure.
    #[inline]
    pub fn new(scale: u8, coefficient: i64) -> Option<Self> {
        let negative = coefficient < 0;
        let (mut coefficient, mut scale) = (coefficient.unsigned_abs(), u32::from(scale));
        while scale > 0 && coefficient != 0 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            scale -= 1;
        }
        let digits = coefficient.checked_ilog10()? + 1;
        (digits <= KEPT).then_some(Self {
            negative,
            coefficient,
            scale,
            digits,
        })
    }

    /// What a verb prints; `None` when that takes the float itself.
    #[inline]
    pub fn printed(self, spec: &Spec, verb: char) -> Option<Text> {
        if spec.plus || spec.space || spec.sharp || spec.zero {
            return None;
        }
        match (verb, spec.precision) {
            ('v' | 'g', None) => Some(self.general()),
            ('f' | 'F', precision) => self.fixed(u32::try_from(precision.unwrap_or(6)).ok()?),
            ('e', precision) => self.scientific(u32::try_from(precision.unwrap_or(6)).ok()?),
            _ => None,
        }
    }

    fn sign(self) -> Text {
        let mut text = Text::new();
        if self.negative {
            text.push(b'-');
        }
        text
    }

    /// The exponent of the first digit.
    fn exponent(self) -> i64 {
        i64::from(self.digits) - i64::from(self.scale) - 1
    }

    /// `%g` with the shortest digits.
    fn general(self) -> Text {
        let exponent = self.exponent();
        if !(-4..6).contains(&exponent) {
            let mut coefficient = self.coefficient;
            while coefficient.is_multiple_of(10) {
                coefficient /= 10;
            }
            return self.with_exponent(coefficient, exponent);
        }
        self.with_point(self.coefficient, self.scale)
    }

    /// `%f`
    fn fixed(self, precision: u32) -> Option<Text> {
        let whole = self.digits.saturating_sub(self.scale);
        if whole + precision > KEPT {
            return None;
        }
        let coefficient = self.with_digits(i64::from(precision) - i64::from(self.scale))?;
        Some(self.with_point(coefficient, precision))
    }

    /// `%e`
    fn scientific(self, precision: u32) -> Option<Text> {
        if precision >= KEPT {
            return None;
        }
        let more = i64::from(precision) + 1 - i64::from(self.digits);
        let mut coefficient = self.with_digits(more)?;
        let mut exponent = self.exponent();
        if coefficient.checked_ilog10()? > precision {
            coefficient /= 10;
            exponent += 1;
        }
        Some(self.with_exponent(coefficient, exponent))
    }

    /// The coefficient with so many digits more or, rounded, fewer. A tie is for the float to decide: it may be a
    /// little more or less than the decimal.
    fn with_digits(self, more: i64) -> Option<u64> {
        let factor = 10_u64.checked_pow(u32::try_from(more.unsigned_abs()).ok()?)?;
        if more >= 0 {
            return self.coefficient.checked_mul(factor);
        }
        let (kept, rest) = (self.coefficient / factor, self.coefficient % factor);
        match rest.cmp(&(factor / 2)) {
            std::cmp::Ordering::Equal => None,
            order => Some(kept + u64::from(order.is_gt())),
        }
    }

    fn with_point(self, coefficient: u64, scale: u32) -> Text {
        let mut text = self.sign();
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(coefficient).as_bytes();
        let scale = scale as usize;
        let missing = (scale + 1).saturating_sub(digits.len());
        // as many zeros as there is no digit for, one of them before the point
        let zeros = std::iter::repeat_n(b'0', missing);
        let (whole, fraction) = digits
            .split_at_checked(digits.len().saturating_sub(scale))
            .unwrap_or((digits, &[]));
        if missing > 0 {
            text.push(b'0');
            text.push(b'.');
            text.extend(zeros.skip(1));
            text.extend_from_slice(digits);
            return text;
        }
        text.extend_from_slice(whole);
        if scale > 0 {
            text.push(b'.');
            text.extend_from_slice(fraction);
        }
        text
    }

    fn with_exponent(self, coefficient: u64, exponent: i64) -> Text {
        let mut text = self.sign();
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(coefficient).as_bytes();
        if let Some((first, rest)) = digits.split_first() {
            text.push(*first);
            if !rest.is_empty() {
                text.push(b'.');
                text.extend_from_slice(rest);
            }
        }
        text.push(b'e');
        text.push(if exponent < 0 { b'-' } else { b'+' });
        if exponent.unsigned_abs() < 10 {
            text.push(b'0');
        }
        text.extend_from_slice(buffer.format(exponent.unsigned_abs()).as_bytes());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use crate::builtins::sprintf::Spec;

    /// Numbers of all lengths and scales print as their floats do, where they print at all.
    #[test]
    fn decimals_print_as_floats() {
        let mut seed = 1_u64;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
            let length = u32::try_from(seed >> 60).unwrap();
            let coefficient = i64::try_from((seed >> 8) % 10_u64.pow(length + 1)).unwrap();
            let scale = u8::try_from((seed >> 40) % 19).unwrap();
            let float: f64 = format!("{coefficient}e-{scale}").parse().unwrap();
            let Some(decimal) = Decimal::new(scale, coefficient) else {
                continue;
            };
            let precision = usize::try_from((seed >> 50) % 9).unwrap();
            let spec = Spec {
                precision: Some(precision),
                ..Spec::default()
            };
            if let Some(text) = decimal.printed(&spec, 'f') {
                let expected = format!("{float:.precision$}");
                assert_eq!(std::str::from_utf8(&text), Ok(&*expected), "{float}");
            }
            if let Some(text) = decimal.printed(&spec, 'e') {
                let expected = super::super::float::scientific(float, precision);
                assert_eq!(std::str::from_utf8(&text), Ok(&*expected), "{float}");
            }
            let text = decimal.printed(&Spec::default(), 'g').unwrap();
            let expected = super::super::float::general(float, None);
            assert_eq!(std::str::from_utf8(&text), Ok(&*expected), "{float}");
        }
    }
}
