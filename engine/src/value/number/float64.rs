//! 64-bit floats in Go's notation.

use super::exact::ExactDecimal;
use super::{Number, NumberBuf};

impl NumberBuf {
    /// Returns the number of an `f64` as Go's JSON writes it: the shortest digits, with an exponent from 1e21 on and
    /// below 1e-6. `None` if it is not finite.
    pub fn from_f64(f: f64) -> Option<Self> {
        let text = Shortest::parse(&format!("{f:e}"))?;
        let number = if (-6..21).contains(&text.exponent) {
            text.plain()
        } else {
            // the exponent without a leading zero
            format!("{}e{:+}", text.mantissa(), text.exponent)
        };
        Self::parse(&number)
    }

    /// Returns the text of an `f64` in Go's format `%g`, or `None` for infinities and NaN.
    pub fn general_f64(f: f64) -> Option<String> {
        Shortest::parse(&format!("{f:e}")).map(|text| text.general())
    }

    /// Returns the text of an `f32` in Go's format `%g`, or `None` for infinities and NaN.
    pub fn general_f32(f: f32) -> Option<String> {
        Shortest::parse(&format!("{f:e}")).map(|text| text.general())
    }
}

impl Number<'_> {
    /// Returns the number in Go's format `%g`.
    pub(crate) fn general(self) -> String {
        let mut buffer = itoa::Buffer::new();
        let exact = ExactDecimal::of_number(self, &mut buffer);
        if exact.is_zero() {
            return "0".to_owned();
        }
        let digits: String = exact.digits().map(char::from).collect();
        let exponent = exact.exponent - 1;
        Shortest {
            negative: exact.negative,
            digits,
            exponent: i32::try_from(exponent).unwrap_or(i32::MAX),
        }
        .general()
    }
}

/// The shortest digits of a float: `d.ddd · 10^exponent`.
struct Shortest {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Shortest {
    /// Parses Rust's exponent format, which has the shortest digits.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once('e')?;
        let digits = mantissa.strip_prefix('-');
        Some(Self {
            negative: digits.is_some(),
            digits: digits.unwrap_or(mantissa).replace('.', ""),
            exponent: exponent.parse().ok()?,
        })
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    fn mantissa(&self) -> String {
        let (first, rest) = self.digits.split_at_checked(1).unwrap_or(("0", ""));
        let point = if rest.is_empty() { "" } else { "." };
        format!("{}{first}{point}{rest}", self.sign())
    }

    fn plain(&self) -> String {
        let sign = self.sign();
        let digits = &self.digits;
        let Ok(exponent) = usize::try_from(self.exponent) else {
            let zeros = "0".repeat(self.exponent.unsigned_abs().saturating_sub(1) as usize);
            return format!("{sign}0.{zeros}{digits}");
        };
        match digits.split_at_checked(exponent + 1) {
            Some((integer, "")) => format!("{sign}{integer}"),
            Some((integer, fraction)) => format!("{sign}{integer}.{fraction}"),
            None => format!("{sign}{digits}{}", "0".repeat(exponent + 1 - digits.len())),
        }
    }

    fn general(&self) -> String {
        if (-4..6).contains(&self.exponent) {
            return self.plain();
        }
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!(
            "{}e{sign}{:02}",
            self.mantissa(),
            self.exponent.unsigned_abs()
        )
    }
}
