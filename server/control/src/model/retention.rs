//! Retention periods: parsing of durations with days, or without a limit.

use std::time::Duration;

use solon_common::duration;

/// Parses a retention period: `90d`, or a duration such as `36h`. `off` is unlimited.
///
/// # Errors
/// The text is invalid, or the period is shorter than an hour.
pub fn read_retention(text: &str) -> Result<Option<Duration>, String> {
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
            let nanoseconds = duration::parse(text).map_err(|_| wrong())?;
            u64::try_from(nanoseconds).map_err(|_| wrong())? / 1_000_000_000
        }
    };
    if seconds < 3600 {
        return Err(wrong());
    }
    Ok(Some(Duration::from_secs(seconds)))
}
