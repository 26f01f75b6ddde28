//! Numbers: exact integers, everything else as text until arithmetic touches it.
//!
//! A number keeps the text it was written with (`1.0`, `0.10`, `1e2`), while order, equality and hash go by
//! its exact value. Three forms hold it: an `i64`, a short decimal, any other text.

mod exact;
mod parse;

use std::cmp::Ordering;
use std::fmt;

pub use parse::NumberError;

/// A valid JSON number text behind a thin pointer.
#[derive(Clone, Debug)]
pub struct NumberText(pub Box<str>);

/// A number, wherever it is held.
#[derive(Clone, Copy, Debug)]
pub enum Number<'e> {
    /// An integer that fits.
    Int(i64),
    /// `coefficient / 10^scale`, scale at least 1, as written.
    Decimal(u8, i64),
    /// Any other text.
    Text(&'e str),
}

/// A number that a computation or a reader made; always in the smallest form that keeps the text.
#[derive(Clone, Debug)]
pub enum NumberBuf {
    /// An integer that fits.
    Int(i64),
    /// `coefficient / 10^scale`, scale at least 1.
    Decimal(u8, i64),
    /// Any other text.
    Text(String),
}

impl NumberBuf {
    /// The borrowed form.
    #[inline]
    pub fn as_number(&self) -> Number<'_> {
        match self {
            Self::Int(i) => Number::Int(*i),
            Self::Decimal(scale, coefficient) => Number::Decimal(*scale, *coefficient),
            Self::Text(text) => Number::Text(text),
        }
    }
}

impl From<Number<'_>> for NumberBuf {
    #[inline]
    fn from(number: Number<'_>) -> Self {
        match number {
            Number::Int(i) => Self::Int(i),
            Number::Decimal(scale, coefficient) => Self::Decimal(scale, coefficient),
            Number::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

impl From<i64> for NumberBuf {
    #[inline]
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<u64> for NumberBuf {
    #[inline]
    fn from(u: u64) -> Self {
        i64::try_from(u).map_or_else(|_| Self::Text(u.to_string()), Self::Int)
    }
}

impl From<usize> for NumberBuf {
    #[inline]
    fn from(u: usize) -> Self {
        Self::from(u as u64)
    }
}

impl PartialEq for Number<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Int(i) => f.write_str(itoa::Buffer::new().format(i)),
            Self::Decimal(scale, coefficient) => write_decimal(scale, coefficient, f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for NumberBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_number().fmt(f)
    }
}

/// The text of a decimal: at least one digit before the point, `scale` digits after it.
fn write_decimal(scale: u8, coefficient: i64, f: &mut impl fmt::Write) -> fmt::Result {
    if coefficient < 0 {
        f.write_char('-')?;
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient.unsigned_abs());
    match digits.len().checked_sub(usize::from(scale)) {
        None | Some(0) => {
            f.write_str("0.")?;
            for _ in digits.len()..usize::from(scale) {
                f.write_char('0')?;
            }
            f.write_str(digits)
        }
        Some(point) => {
            let (whole, fraction) = digits.split_at(point);
            f.write_str(whole)?;
            f.write_char('.')?;
            f.write_str(fraction)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{NumberBuf, NumberError};
    use crate::value::Value;
    use crate::value::order::hash;

    fn number(text: &str) -> NumberBuf {
        NumberBuf::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn texts_survive() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "1.0",
            "0.10",
            "-0.10",
            "0.00",
            "1e2",
            "1E+2",
            "-12.345",
            "1e-30103",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "9.99e30102",
            "0.000000000000000001",
            "0.0000000000000000001",
            "1e-999999999",
            "0e99999999",
            "12345678901234567890.12345678901234567890",
            "922337203685477580.8",
            "1e30102",
        ] {
            assert_eq!(number(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_refused() {
        use NumberError::{Exponent, Syntax, TooBig};
        for (text, error) in [
            ("", Syntax),
            ("-", Syntax),
            ("01", Syntax),
            ("-01", Syntax),
            ("1.", Syntax),
            (".5", Syntax),
            ("1e", Syntax),
            ("1e+", Syntax),
            ("+1", Syntax),
            ("1 ", Syntax),
            ("0x1", Syntax),
            ("1.5.5", Syntax),
            ("1e30103", TooBig),
            ("0.00001e30108", TooBig),
            ("1e-30104", TooBig),
            ("1e999999999", TooBig),
            ("1e9999999999", Exponent),
            ("1e-99999999999999999999", Exponent),
            ("0e99999999999999999999", Exponent),
        ] {
            assert_eq!(NumberBuf::read(text).err(), Some(error), "{text}");
        }
    }

    #[test]
    fn order_equality_and_hash_go_by_value() {
        let ascending: &[&[&str]] = &[
            &["-1e400", "-10e399"],
            &["-9223372036854775809"],
            &["-9223372036854775808", "-9223372036854775808.0"],
            &["-1.5", "-1.50", "-15e-1"],
            &["0", "-0", "0.0", "-0.0", "0e5", "1e-999999999"],
            &["1e-30100", "0.1e-30099"],
            &["0.000000000000000001", "1e-18"],
            &["0.1", "0.10", "1e-1"],
            &["0.3"],
            &["0.30000000000000000000000000000000001"],
            &["1", "1.0", "1e0", "10e-1", "0.1e1"],
            &["1.5", "150e-2"],
            &["10", "10.0", "1e1"],
            &["922337203685477580.7", "9223372036854775807e-1"],
            &["9223372036854775807"],
            &[
                "9223372036854775808",
                "9223372036854775808.0",
                "9.223372036854775808e18",
            ],
            &["1e400", "10e399"],
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                    let order = number(a).as_number().compare(number(b).as_number());
                    assert_eq!(order, i.cmp(&j), "{a} and {b}");
                    if order == Ordering::Equal {
                        let (a, b) = (Value::number(number(a)), Value::number(number(b)));
                        assert_eq!(hash(a.borrow()), hash(b.borrow()), "{a} and {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn integers_in_any_form() {
        for (text, index) in [
            ("1", 1),
            ("1.0", 1),
            ("1e0", 1),
            ("10e-1", 1),
            ("-0", 0),
            ("1.0e2", 100),
        ] {
            assert_eq!(number(text).as_number().as_index(), Some(index), "{text}");
        }
        for text in ["1.5", "-1", "1e-1", "1e30", "-1.0"] {
            assert_eq!(number(text).as_number().as_index(), None, "{text}");
        }
        let big = number("1.5e30")
            .as_number()
            .to_bigint()
            .map(|i| i.to_string());
        assert_eq!(big.as_deref(), Some("1500000000000000000000000000000"));
        assert_eq!(
            number("-9223372036854775808.0").as_number().to_i64(),
            Some(i64::MIN)
        );
        assert!(number("0.0").as_number().is_integer() && !number("0.5").as_number().is_integer());
        assert!(number("-0.5").as_number().to_bigint().is_none());
    }
}
