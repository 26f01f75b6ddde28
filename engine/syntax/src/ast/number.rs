//! Compares numbers by the exact value of their text.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A parsed decimal number: `0.d1d2d3… × 10^exponent`, without leading or trailing zeros.
///
/// Digits are never expanded, so `1e999999999` costs no more than its ten characters.
#[derive(Clone, Copy)]
struct Decimal<'a> {
    negative: bool,
    exponent: i64,
    /// Digits before and after the decimal point. Together they neither start nor end with a zero. If both are empty
    /// the number is zero.
    whole: &'a [u8],
    fraction: &'a [u8],
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)),
            None => (text, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut integer = integer.trim_start_matches('0');
        let mut fraction = fraction.trim_end_matches('0');
        let mut exponent = exponent.saturating_add(length(integer));
        if integer.is_empty() {
            let significant = fraction.trim_start_matches('0');
            exponent = exponent.saturating_sub(length(fraction) - length(significant));
            fraction = significant;
        }
        if fraction.is_empty() {
            integer = integer.trim_end_matches('0');
        }
        let zero = integer.is_empty() && fraction.is_empty();
        Self {
            negative: negative && !zero,
            exponent: if zero { 0 } else { exponent },
            whole: integer.as_bytes(),
            fraction: fraction.as_bytes(),
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.exponent
            .cmp(&other.exponent)
            .then_with(|| self.digits().cmp(other.digits()))
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// Parses an exponent. Exponents beyond 64 bits saturate, because no text contains enough digits to bring such a value
/// back into range.
fn parse_exponent(text: &str) -> i64 {
    text.parse().unwrap_or(if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    })
}

/// Compares two number texts by value: `1`, `1.0` and `1e0` are equal.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    if let (Ok(left), Ok(right)) = (left.parse::<i64>(), right.parse::<i64>()) {
        return left.cmp(&right);
    }
    let (left, right) = (Decimal::parse(left), Decimal::parse(right));
    left.sign().cmp(&right.sign()).then_with(|| {
        let order = left.compare_magnitude(&right);
        if left.negative {
            order.reverse()
        } else {
            order
        }
    })
}

pub(super) fn hash<H: Hasher>(text: &str, state: &mut H) {
    let number = Decimal::parse(text);
    (number.negative, number.exponent).hash(state);
    number.digits().for_each(|digit| state.write_u8(digit));
    state.write_u8(0xff);
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};
    use std::hash::DefaultHasher;

    use super::*;

    fn hash_of(text: &str) -> u64 {
        let mut state = DefaultHasher::new();
        hash(text, &mut state);
        state.finish()
    }

    #[test]
    fn compares_by_value() {
        for (left, right, expected) in [
            ("1", "1.0", Equal),
            ("1", "1e0", Equal),
            ("100", "1e2", Equal),
            ("0.001", "1E-3", Equal),
            ("-0", "0.0e99", Equal),
            ("120", "12.0e+1", Equal),
            ("9", "10", Less),
            ("-9", "-10", Greater),
            ("-1", "0", Less),
            ("0.5", "0.25", Greater),
            ("-0.5", "-0.25", Less),
            ("9007199254740993", "9007199254740992.0", Greater),
            ("18446744073709551616", "18446744073709551615", Greater),
            ("1e999999999999999999999", "1e5", Greater),
            ("1e-999999999999999999999", "1e-5", Less),
            ("0.1", "0.10000000000000000000001", Less),
        ] {
            assert_eq!(compare(left, right), expected, "{left} against {right}");
            assert_eq!(
                compare(right, left),
                expected.reverse(),
                "{right} against {left}"
            );
            assert_eq!(
                hash_of(left) == hash_of(right),
                expected == Equal,
                "hashes of {left} and {right}"
            );
        }
    }
}
