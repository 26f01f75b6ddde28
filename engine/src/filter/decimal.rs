//! Exact decimal numbers, for languages with other number types than Rego.

use crate::bug::bug;

/// Maximum number of digits before the point of a number that has a [`Decimal::floor`]: all such numbers fit in an `i128`.
pub const FLOOR_DIGITS: u32 = 38;

/// A decimal number: digits and a power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Significant digits without leading and trailing zeros; empty for zero.
    digits: String,
    /// Power of ten of the last digit.
    power: i64,
}

impl Decimal {
    /// Parses a number in Rego's notation; `None` if it is not a number or its exponent exceeds the limits.
    pub fn read(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{integer}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut power = power.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        power = power.checked_add(i64::try_from(digits.len() - significant.len()).ok()?)?;
        if significant.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                power: 0,
            });
        }
        Some(Self {
            negative,
            digits: significant.to_owned(),
            power,
        })
    }

    /// Number of significant digits.
    pub fn significant(&self) -> usize {
        self.digits.len()
    }

    /// Returns `true` if the number is an integer. O(1).
    pub fn is_integer(&self) -> bool {
        self.power >= 0
    }

    /// Number of digits after the decimal point.
    pub fn scale(&self) -> u64 {
        self.power.min(0).unsigned_abs()
    }

    /// Number of digits in notation without an exponent, on both sides of the decimal point.
    pub fn width(&self) -> u64 {
        let digits = self.digits.len() as u64;
        if self.is_integer() {
            digits.saturating_add(self.power.unsigned_abs())
        } else {
            digits.max(self.scale())
        }
    }

    /// Returns the largest integer that is not greater, and `true` if it equals the number. `None` if the number has
    /// more than [`FLOOR_DIGITS`] digits before its decimal point.
    pub fn floor(&self) -> Option<(i128, bool)> {
        let before = i64::try_from(self.digits.len())
            .ok()?
            .checked_add(self.power)?;
        if before > i64::from(FLOOR_DIGITS) {
            return None;
        }
        let width = usize::try_from(before.max(0)).ok()?;
        let is_whole = self.is_integer();
        let integer = format!("{:0<width$.width$}", self.digits);
        let size: i128 = if width == 0 { 0 } else { integer.parse().ok()? };
        Some(match (self.negative, is_whole) {
            (false, _) => (size, is_whole),
            (true, true) => (-size, true),
            (true, false) => (-size - 1, false),
        })
    }

    /// Returns `true` for a number below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the number in notation without an exponent. It has [`Self::width`] digits, which the caller must have
    /// bounded.
    pub fn plain(&self) -> String {
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        if self.digits.is_empty() {
            text.push('0');
        } else if self.is_integer() {
            text.push_str(&self.digits);
            let zeros = within_width(self.power);
            text.extend(std::iter::repeat_n('0', zeros));
        } else {
            let scale = within_width(self.scale());
            let padded = format!("{:0>width$}", self.digits, width = scale + 1);
            let (integer, fraction) = padded.split_at(padded.len() - scale);
            text.push_str(integer);
            text.push('.');
            text.push_str(fraction);
        }
        text
    }
}

/// Converts a number of digits that is bounded before any are written.
fn within_width<N: TryInto<usize>>(digits: N) -> usize {
    let digits = digits.try_into().ok();
    digits.unwrap_or_else(|| bug!("a number has more digits than were allowed"))
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn floors_are_exact() {
        for (text, floor) in [
            ("0", (0, true)),
            ("-0.0", (0, true)),
            ("1e2", (100, true)),
            ("0.05", (0, false)),
            ("-0.05", (-1, false)),
            ("2.5", (2, false)),
            ("-2.5", (-3, false)),
            ("1e-400", (0, false)),
            ("-1e-400", (-1, false)),
            ("123456.789e1", (1_234_567, false)),
            (
                "-9223372036854775808.5",
                (-9_223_372_036_854_775_809, false),
            ),
            ("1e37", (10_i128.pow(37), true)),
        ] {
            assert_eq!(Decimal::read(text).unwrap().floor(), Some(floor), "{text}");
        }
        assert_eq!(Decimal::read("1e38").unwrap().floor(), None);
    }

    #[test]
    fn numbers_are_written_without_powers() {
        for (text, plain, significant) in [
            ("0", "0", 0),
            ("-0.0", "0", 0),
            ("11", "11", 2),
            ("-1.50", "-1.5", 2),
            ("1e2", "100", 1),
            ("1.25E+3", "1250", 3),
            ("5e-3", "0.005", 1),
            ("0.000", "0", 0),
            ("123.456e1", "1234.56", 6),
        ] {
            let decimal = Decimal::read(text).unwrap();
            assert_eq!(
                (decimal.plain().as_str(), decimal.significant()),
                (plain, significant),
                "{text}"
            );
        }
        for text in ["", "-", ".", "x", "1e99999999999999999999", "1.2.3"] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }
}
