//! Durations and sizes of command line arguments.

use std::time::Duration;

use solon_common::duration::{self, DurationError};

/// Parses a duration with an optional sign, in Go's notation. A negative duration is returned as zero.
///
/// # Errors
/// Fails if the text is not a duration.
pub fn signed_duration(text: &str) -> Result<Duration, String> {
    let nanoseconds =
        duration::parse(text).map_err(|error| format!("invalid duration `{text}`: {error}"))?;
    Ok(Duration::from_nanos(
        u64::try_from(nanoseconds).unwrap_or(0),
    ))
}

/// Parses a duration without a sign, in Go's notation.
///
/// # Errors
/// Fails if the text is not a duration, or has a sign.
pub fn duration(text: &str) -> Result<Duration, String> {
    if text.starts_with(['+', '-']) {
        let error = DurationError::Syntax;
        return Err(format!("invalid duration `{text}`: {error}"));
    }
    signed_duration(text)
}

/// Parses an integer as Go's flags do: with a sign, underscores, and a prefix for the base. The error is for the user.
pub fn integer(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is not an integer");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.split_at_checked(2) {
        Some(("0x", digits)) => (16, digits),
        Some(("0o", digits)) => (8, digits),
        Some(("0b", digits)) => (2, digits),
        _ => match lower.strip_prefix('0') {
            Some(digits) if !digits.is_empty() => (8, digits),
            _ => (10, &*lower),
        },
    };
    // an underscore must be between digits, or after the prefix
    let has_prefix = digits.len() < lower.len();
    let misplaced = digits.starts_with('_') && !has_prefix;
    if misplaced || digits.ends_with('_') || digits.contains("__") || digits.starts_with(['+', '-'])
    {
        return Err(wrong());
    }
    let digits = digits.replace('_', "");
    i64::from_str_radix(&format!("{sign}{digits}"), base).map_err(|_| wrong())
}

/// Parses an amount of memory: a number of bytes, or a number with a unit. The error is for the user.
pub fn size(text: &str) -> Result<usize, String> {
    let wrong = || format!("`{text}` is no size like `512MiB` or `2GB`");
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .ok_or_else(wrong)?;
    let factor: usize = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err(wrong()),
    };
    let number: usize = number.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(wrong)
}

/// Formats a duration in Go's notation.
pub fn format_duration(nanoseconds: u64) -> String {
    let (unit, digits, name) = match nanoseconds {
        0 => return "0s".to_owned(),
        1..1_000 => return format!("{nanoseconds}ns"),
        1_000..1_000_000 => (1_000, 3, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
        _ => (1_000_000_000, 9, "s"),
    };
    let (integer, rest) = (nanoseconds / unit, nanoseconds % unit);
    let fraction = format!("{rest:0digits$}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let (minutes, integer) = match name {
        "s" => (integer / 60, integer % 60),
        _ => (0, integer),
    };
    let hours_and_minutes = match minutes {
        0 => String::new(),
        1..60 => format!("{minutes}m"),
        _ => format!("{}h{}m", minutes / 60, minutes % 60),
    };
    format!("{hours_and_minutes}{integer}{point}{fraction}{name}")
}

#[cfg(test)]
mod tests {
    use super::{duration, format_duration, integer, signed_duration, size};

    #[test]
    fn shown_durations() {
        for (time, expected) in [
            (0, "0s"),
            (999, "999ns"),
            (6_400, "6.4µs"),
            (32_067, "32.067µs"),
            (2_000_000, "2ms"),
            (1_500_000_000, "1.5s"),
            (90_000_000_000, "1m30s"),
            (3_661_000_000_000, "1h1m1s"),
        ] {
            assert_eq!(format_duration(time), expected);
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert_eq!(size("2GB"), Ok(2_000_000_000));
        for wrong in ["", "x", "5 m", "1.5g", "99999999999g"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        let nanoseconds_of = |text: &str| duration(text).map(|time| time.as_nanos());
        assert_eq!(nanoseconds_of("500ms"), Ok(500_000_000));
        assert_eq!(nanoseconds_of("1m30.5s"), Ok(90_500_000_000));
        assert_eq!(nanoseconds_of("0"), Ok(0));
        for wrong in ["", "5", "s", "5x", "1.2.3s", "-1s"] {
            assert!(nanoseconds_of(wrong).is_err(), "{wrong}");
        }
        let signed = |text: &str| signed_duration(text).map(|time| time.as_nanos());
        assert_eq!(signed("1\u{b5}s"), Ok(1000));
        assert_eq!(signed("+1\u{3bc}s"), Ok(1000));
        assert_eq!(signed("-1h"), Ok(0));
        for wrong in ["", "+", "-", "--1s", "+-1s", "5", "100000000h"] {
            assert!(signed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn integers() {
        for (text, expected) in [
            ("0", 0),
            ("-0", 0),
            ("7", 7),
            ("+7", 7),
            ("-7", -7),
            ("1_000", 1000),
            ("010", 8),
            ("0_7", 7),
            ("0o17", 15),
            ("0x1F", 31),
            ("-0X_1f", -31),
            ("0b101", 5),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(integer(text), Ok(expected), "{text}");
        }
        for wrong in [
            "",
            " 1",
            "1 ",
            "+",
            "-",
            "+-1",
            "--1",
            "_1",
            "1_",
            "1__0",
            "08",
            "0x",
            "0b2",
            "1.5",
            "1e3",
            "x",
            "0x-1",
            "9223372036854775808",
        ] {
            assert!(integer(wrong).is_err(), "{wrong}");
        }
    }
}
