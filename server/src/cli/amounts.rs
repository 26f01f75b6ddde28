//! Times and sizes as people write them on the command line.

use std::time::Duration;

/// Reads a time as Go writes it: numbers with units, one behind another.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time like `500ms` or `1m30s`");
    let mut rest = text;
    let mut total = Duration::ZERO;
    if rest == "0" {
        return Ok(total);
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let (number, behind) = rest.split_at_checked(end).ok_or_else(wrong)?;
        let end = behind
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(end).ok_or_else(wrong)?;
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        total += Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
        rest = behind;
    }
    if text.is_empty() {
        Err(wrong())
    } else {
        Ok(total)
    }
}

/// Reads an amount of memory: a number of bytes, or one with a unit.
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

#[cfg(test)]
mod tests {
    use super::{duration, size};

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
        let of = |text: &str| duration(text).map(|time| time.as_nanos());
        assert_eq!(of("500ms"), Ok(500_000_000));
        assert_eq!(of("1m30.5s"), Ok(90_500_000_000));
        assert_eq!(of("0"), Ok(0));
        for wrong in ["", "5", "s", "5x", "1.2.3s", "-1s"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
