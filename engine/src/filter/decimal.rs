//! Numbers as decimal digits, for languages that have other numbers than Rego.

use crate::impossible::impossible;

/// A number: digits and where the point stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Significant digits, without zeros at either end; none for zero.
    digits: String,
    /// The power of ten of the last digit.
    power: i64,
}

impl Decimal {
    /// Reads a number as Rego writes it; `None` for what is none, or has a power beyond all bounds.
    pub fn read(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut power = power.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        power = power.checked_add(i64::try_from(digits.len() - kept.len()).ok()?)?;
        if kept.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                power: 0,
            });
        }
        Some(Self {
            negative,
            digits: kept.to_owned(),
            power,
        })
    }

    /// Number of significant digits.
    pub fn significant(&self) -> usize {
        self.digits.len()
    }

    /// Whether it is whole.
    pub fn is_integer(&self) -> bool {
        self.power >= 0
    }

    /// Number of digits behind the point.
    pub fn scale(&self) -> u64 {
        self.power.min(0).unsigned_abs()
    }

    /// Number of digits that it takes without a power, on both sides of the point.
    pub fn width(&self) -> u64 {
        let digits = self.digits.len() as u64;
        if self.is_integer() {
            digits.saturating_add(self.power.unsigned_abs())
        } else {
            digits.max(self.scale())
        }
    }

    /// The number without a power. It takes [`Self::width`] digits, which whoever asks has bounded.
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
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            text.push_str(whole);
            text.push('.');
            text.push_str(fraction);
        }
        text
    }
}

/// A number of digits, which is bounded before any are written.
fn within_width<N: TryInto<usize>>(digits: N) -> usize {
    let digits = digits.try_into().ok();
    digits.unwrap_or_else(|| impossible("a number has more digits than were allowed"))
}

#[cfg(test)]
mod tests {
    use super::Decimal;

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
            let read = Decimal::read(text).unwrap();
            assert_eq!(
                (read.plain().as_str(), read.significant()),
                (plain, significant),
                "{text}"
            );
        }
        for text in ["", "-", ".", "x", "1e99999999999999999999", "1.2.3"] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }
}
