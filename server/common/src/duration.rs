//! Durations as Go writes them: `1h20m0s`, `1.5h`, `-500ms`.

use std::fmt::{self, Write as _};

const SECOND: i128 = 1_000_000_000;

/// A text that is not a duration, or one that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationError {
    /// The text does not consist of numbers with units.
    Syntax,
    /// The number of nanoseconds does not fit in 64 bits.
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "expected a number with a unit, such as `500ms` or `1m30s`",
            Self::TooLong => "longer than 292 years",
        })
    }
}

/// Returns the nanoseconds of a duration: numbers with a unit each, after an optional sign.
///
/// # Errors
/// The text is not a duration, or it is too long.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(DurationError::Syntax);
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let is_number = |c: char| c == '.' || c.is_ascii_digit();
        let (number, after) = split(rest, is_number);
        let (unit, after) = split(after, |c| !is_number(c));
        let part = nanoseconds(number, unit).ok_or(DurationError::Syntax)?;
        total = total.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    let total = if is_negative { -total } else { total };
    i64::try_from(total).map_err(|_| DurationError::TooLong)
}

/// Splits a text after the characters at its start for which `is_part` is `true`.
fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Returns the nanoseconds of a number of units. Digits beyond nanoseconds are cut off.
fn nanoseconds(number: &str, unit: &str) -> Option<i128> {
    /// Digits whose product with the largest unit has 128 bits.
    const DIGITS: usize = 20;
    let unit = match unit {
        "ns" => 1,
        // the micro sign and the Greek letter
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    };
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if integer.is_empty() && fraction.is_empty() || number.len() > DIGITS {
        return None;
    }
    let digits = |digits: &str| match digits {
        "" => Some(0_i128),
        digits => digits.parse().ok(),
    };
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some(digits(integer)? * unit + digits(fraction)? * unit / scale)
}

/// Returns the text of nanoseconds that are not negative: `1m30s`, `500ms`.
pub fn format(nanoseconds: i64) -> String {
    if nanoseconds == 0 {
        return "0s".to_owned();
    }
    let small = [("ns", 1), ("µs", 1_000), ("ms", 1_000_000)];
    let fits = |&&(_, unit): &&(&str, i64)| nanoseconds < unit * 1000;
    if let Some(&(name, unit)) = small.iter().find(fits) {
        return format!("{}{name}", decimal(nanoseconds, unit));
    }
    let seconds = nanoseconds / 1_000_000_000;
    let mut text = String::new();
    if seconds >= 3600 {
        let _ = write!(text, "{}h", seconds / 3600);
    }
    if seconds >= 60 {
        let _ = write!(text, "{}m", seconds / 60 % 60);
    }
    text + &decimal(nanoseconds % 60_000_000_000, 1_000_000_000) + "s"
}

/// Returns an amount in units, with the digits after the point that it needs.
fn decimal(amount: i64, unit: i64) -> String {
    if amount % unit == 0 {
        return (amount / unit).to_string();
    }
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", amount / unit, amount % unit);
    text.trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{DurationError, format, parse};

    #[test]
    fn durations_are_read_and_written_as_go_does() {
        for (text, nanoseconds, expected) in [
            ("90s", 90_000_000_000, "1m30s"),
            ("1h20m", 4_800_000_000_000, "1h20m0s"),
            ("1.5h", 5_400_000_000_000, "1h30m0s"),
            ("1m30.5s", 90_500_000_000, "1m30.5s"),
            ("500ms", 500_000_000, "500ms"),
            ("1500us", 1_500_000, "1.5ms"),
            ("1\u{b5}s", 1_000, "1µs"),
            ("1\u{3bc}s", 1_000, "1µs"),
            ("1.000000001s", 1_000_000_001, "1.000000001s"),
            (".5s", 500_000_000, "500ms"),
            ("1.s", 1_000_000_000, "1s"),
            ("1s1h", 3_601_000_000_000, "1h0m1s"),
            ("0", 0, "0s"),
            ("+0", 0, "0s"),
            ("0.1ns", 0, "0s"),
            ("+2m", 120_000_000_000, "2m0s"),
            (
                "9223372036854775807ns",
                i64::MAX,
                "2562047h47m16.854775807s",
            ),
        ] {
            assert_eq!(parse(text), Ok(nanoseconds), "{text}");
            assert_eq!(format(nanoseconds), expected, "{text}");
        }
        assert_eq!(parse("-5m"), Ok(-300_000_000_000));
        assert_eq!(parse("-0"), Ok(0));
        for text in [
            "", "5", "+", "-", "s", "1d", ".s", "1x2s", "5x", "1.2.3s", "--1s", "+-1s", " 1s",
            "1 s", "1H",
        ] {
            assert_eq!(parse(text), Err(DurationError::Syntax), "{text}");
        }
        for text in ["99999999h", "9999999999999999999h", "9223372036854775808ns"] {
            assert_eq!(parse(text), Err(DurationError::TooLong), "{text}");
        }
    }
}
