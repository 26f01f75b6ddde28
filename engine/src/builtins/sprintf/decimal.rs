//! Fast path for verbs of floats: a float represents fifteen digits exactly, so it prints as the decimal number that it
//! was parsed from.

use super::directive::Spec;
use crate::bug::Within as _;

/// `coefficient / 10^scale`, the shortest decimal of a float.
#[derive(Clone, Copy)]
pub struct ShortestDecimal {
    negative: bool,
    coefficient: u64,
    scale: u32,
    digits: u32,
}

/// Number of decimal digits that every float represents.
const CHUNK_DIGITS: u32 = 15;

impl ShortestDecimal {
    /// Returns `None` for zero, and for more digits than a float is guaranteed to represent.
    #[inline]
    pub fn new(scale: u8, coefficient: i64) -> Option<Self> {
        let negative = coefficient < 0;
        let (mut coefficient, mut scale) = (coefficient.unsigned_abs(), u32::from(scale));
        while scale > 0 && coefficient != 0 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            scale -= 1;
        }
        let digits = coefficient.checked_ilog10()? + 1;
        (digits <= CHUNK_DIGITS).then_some(Self {
            negative,
            coefficient,
            scale,
            digits,
        })
    }

    /// Formats with a verb. Returns `None` if that requires the float itself.
    #[inline]
    pub fn printed(self, spec: &Spec, verb: char) -> Option<PrintedDecimal> {
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

    /// Returns the exponent of the first digit.
    fn exponent(self) -> i64 {
        i64::from(self.digits) - i64::from(self.scale) - 1
    }

    /// `%g` with the shortest digits.
    fn general(self) -> PrintedDecimal {
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

    /// `%f`. Returns `None` if the digits do not fit into one chunk.
    fn fixed(self, precision: u32) -> Option<PrintedDecimal> {
        let integer_digits = self.digits.saturating_sub(self.scale);
        if integer_digits + precision > CHUNK_DIGITS {
            return None;
        }
        let coefficient = self.with_digits(i64::from(precision) - i64::from(self.scale))?;
        Some(self.with_point(coefficient, precision))
    }

    /// `%e`. Returns `None` if `precision` exceeds the digits of one chunk.
    fn scientific(self, precision: u32) -> Option<PrintedDecimal> {
        if precision >= CHUNK_DIGITS {
            return None;
        }
        let missing_digits = i64::from(precision) + 1 - i64::from(self.digits);
        let mut coefficient = self.with_digits(missing_digits)?;
        let mut exponent = self.exponent();
        if coefficient.checked_ilog10()? > precision {
            coefficient /= 10;
            exponent += 1;
        }
        Some(self.with_exponent(coefficient, exponent))
    }

    /// Returns the coefficient with `missing_digits` digits added or, if negative, rounded off. Returns `None` for ties, because
    /// the float may be slightly more or less than the decimal.
    fn with_digits(self, missing_digits: i64) -> Option<u64> {
        let factor = 10_u64.checked_pow(u32::try_from(missing_digits.unsigned_abs()).ok()?)?;
        if missing_digits >= 0 {
            return self.coefficient.checked_mul(factor);
        }
        let (rounded_down, rest) = (self.coefficient / factor, self.coefficient % factor);
        match rest.cmp(&(factor / 2)) {
            std::cmp::Ordering::Equal => None,
            order => Some(rounded_down + u64::from(order.is_gt())),
        }
    }

    fn with_point(self, coefficient: u64, scale: u32) -> PrintedDecimal {
        PrintedDecimal {
            negative: self.negative,
            coefficient,
            behind: scale as usize,
            exponent: None,
        }
    }

    fn with_exponent(self, coefficient: u64, exponent: i64) -> PrintedDecimal {
        PrintedDecimal {
            negative: self.negative,
            coefficient,
            behind: coefficient.checked_ilog10().unwrap_or(0) as usize,
            exponent: Some(exponent),
        }
    }
}

/// A formatted number: digits, decimal point, exponent.
#[derive(Clone, Copy)]
pub struct PrintedDecimal {
    negative: bool,
    coefficient: u64,
    /// Digits after the decimal point. 0 omits the point.
    behind: usize,
    exponent: Option<i64>,
}

/// Padding for missing digits of a coefficient.
const ZEROS: &str = "00000000000000000000";

impl PrintedDecimal {
    /// Returns the length of the text in bytes.
    #[inline]
    pub fn length(&self) -> usize {
        let digits = self.coefficient.checked_ilog10().unwrap_or(0) as usize + 1;
        let exponent = self.exponent.map_or(0, |exponent| {
            let digits = exponent.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
            "e+".len() + digits.max(2)
        });
        // at least one digit precedes the point
        let digits = digits.max(self.behind + 1) + usize::from(self.behind > 0);
        usize::from(self.negative) + digits + exponent
    }

    /// Calls `write` with each part of the text.
    #[inline]
    pub fn write(&self, mut write: impl FnMut(&str)) {
        if self.negative {
            write("-");
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(self.coefficient);
        match digits.len().checked_sub(self.behind) {
            Some(_) if self.behind == 0 => write(digits),
            Some(integer_digits @ 1..) => {
                write(digits.within(..integer_digits));
                write(".");
                write(digits.within(integer_digits..));
            }
            _ => {
                write("0.");
                write(ZEROS.within(..self.behind - digits.len()));
                write(digits);
            }
        }
        if let Some(exponent) = self.exponent {
            write(if exponent < 0 { "e-" } else { "e+" });
            if exponent.unsigned_abs() < 10 {
                write("0");
            }
            write(buffer.format(exponent.unsigned_abs()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PrintedDecimal, ShortestDecimal};
    use crate::builtins::sprintf::Spec;

    /// Numbers of all lengths and scales print as their floats do, unless the fast path returns `None`.
    #[test]
    fn decimals_print_as_floats() {
        let mut seed = 1_u64;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
            let length = u32::try_from(seed >> 60).unwrap();
            let sign = if seed & 128 == 0 { 1 } else { -1 };
            let coefficient = sign * i64::try_from((seed >> 8) % 10_u64.pow(length + 1)).unwrap();
            let scale = u8::try_from((seed >> 40) % 19).unwrap();
            let float: f64 = format!("{coefficient}e-{scale}").parse().unwrap();
            let Some(decimal) = ShortestDecimal::new(scale, coefficient) else {
                continue;
            };
            let magnitude = float.abs();
            let precision = usize::try_from((seed >> 50) % 9).unwrap();
            let spec = Spec {
                precision: Some(precision),
                ..Spec::default()
            };
            let sign = if float < 0.0 { "-" } else { "" };
            let compare = |printed: PrintedDecimal, magnitude: String| {
                let expected = format!("{sign}{magnitude}");
                let mut text = String::new();
                printed.write(|part| text.push_str(part));
                assert_eq!(text, expected, "{float}");
                assert_eq!(text.len(), printed.length(), "{float}");
            };
            if let Some(printed) = decimal.printed(&spec, 'f') {
                compare(printed, format!("{magnitude:.precision$}"));
            }
            if let Some(printed) = decimal.printed(&spec, 'e') {
                compare(
                    printed,
                    super::super::float::scientific(magnitude, precision),
                );
            }
            let printed = decimal.printed(&Spec::default(), 'g').unwrap();
            compare(printed, super::super::float::general(magnitude, None));
        }
    }
}
