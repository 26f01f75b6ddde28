//! Durations as Go writes them: `1h20m0s`.

use std::fmt::Write as _;

/// Nanoseconds of a duration such as `90s` or `1h20m`.
///
/// # Errors
/// What is wrong with the text.
pub fn read(text: &str) -> Result<i64, String> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    let wrong = || format!("is no duration such as `10m30s`: {text:?}");
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
        let (number, behind) = digits
            .and_then(|at| rest.split_at_checked(at))
            .ok_or_else(wrong)?;
        let letters = behind.find(|c: char| c == '.' || c.is_ascii_digit());
        let (unit, next) = letters
            .and_then(|at| behind.split_at_checked(at))
            .unwrap_or((behind, ""));
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return Err(wrong()),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || number.len() > 18 {
            return Err(wrong());
        }
        let parse = |digits: &str| match digits {
            "" => Ok(0_i128),
            digits => digits.parse().map_err(|_| wrong()),
        };
        let scale = 10_i128.pow(u32::try_from(fraction.len()).unwrap_or(18));
        total += parse(whole)? * unit + parse(fraction)? * unit / scale;
        rest = next;
    }
    let total = if negative { -total } else { total };
    i64::try_from(total).map_err(|_| format!("is too long a duration: {text:?}"))
}

/// Reads how long something is kept: `90d`, or a duration such as `36h`. `off` is for ever.
///
/// # Errors
/// What is wrong with the text, or that it is shorter than an hour.
pub fn read_retention(text: &str) -> Result<Option<std::time::Duration>, String> {
    if text == "off" {
        return Ok(None);
    }
    let wrong = || {
        format!(
            "invalid retention `{text}`: expected `off`, days such as `90d`, or a duration such as `36h`, at least `1h`"
        )
    };
    let seconds = match text.strip_suffix('d') {
        Some(days) => {
            let is_number = !days.is_empty() && days.bytes().all(|byte| byte.is_ascii_digit());
            let days = days
                .parse::<u64>()
                .ok()
                .filter(|days| is_number && *days <= 100_000);
            days.ok_or_else(wrong)? * 86_400
        }
        None => {
            let nanoseconds = read(text).map_err(|_| wrong())?;
            u64::try_from(nanoseconds).map_err(|_| wrong())? / 1_000_000_000
        }
    };
    if seconds < 3600 {
        return Err(wrong());
    }
    Ok(Some(std::time::Duration::from_secs(seconds)))
}

const SECOND: i128 = 1_000_000_000;

/// The text of nanoseconds, which are not negative: `1m30s`, `500ms`.
pub fn write(nanoseconds: i64) -> String {
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

/// A number of units, with the digits behind the point that it needs.
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
    use super::{read, write};

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (text, written) in [
            ("90s", "1m30s"),
            ("1h20m", "1h20m0s"),
            ("10m30s", "10m30s"),
            ("1.5h", "1h30m0s"),
            ("500ms", "500ms"),
            ("1500us", "1.5ms"),
            ("1.000000001s", "1.000000001s"),
            ("0", "0s"),
            ("+2m", "2m0s"),
        ] {
            assert_eq!(write(read(text).unwrap()), written, "{text}");
        }
        for text in [
            "",
            "5",
            "-",
            "s",
            "1d",
            ".s",
            "1x2s",
            "9999999999999999999h",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("-5m"), Ok(-300_000_000_000));
        assert!(read("99999999h").unwrap_err().contains("too long"));
    }
}
