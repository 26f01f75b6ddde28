//! Delays between requests to services.

use std::time::{Duration, SystemTime};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use jiff::fmt::rfc2822::DateTimeParser;

/// Maximum delay that `Retry-After` can request.
const LONGEST_REQUESTED: Duration = Duration::from_mins(10);

/// Delay before the first retry of a failed request.
const FIRST: Duration = Duration::from_millis(100);

/// Ratio of consecutive delays.
const FACTOR: f64 = 1.6;

/// Maximum random deviation, as a fraction of a delay.
const JITTER: f64 = 0.2;

/// Returns the delay before the retry after `failures` consecutive failures: exponential, at most `max`.
pub fn after_failures(failures: u32, max: Duration) -> Duration {
    let repetitions = i32::try_from(failures.saturating_sub(1).min(64)).unwrap_or(0);
    let seconds = FIRST.as_secs_f64() * FACTOR.powi(repetitions);
    // a server that polls without delay does not retry without one
    let max = max.max(FIRST).as_secs_f64();
    let jitter = 1.0 + JITTER * (2.0 * random() - 1.0);
    Duration::from_secs_f64(seconds.min(max) * jitter)
}

/// Returns the delay that a response with status 429 or 503 requests by `Retry-After`, in seconds or as a date; at most 10 minutes.
/// Other responses, and values that are neither, request none.
pub fn requested(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if !matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        return None;
    }
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let delay = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // a number that does not fit is longer than the maximum
        value.parse().map_or(Duration::MAX, Duration::from_secs)
    } else {
        let time = DateTimeParser::new().parse_timestamp(value).ok()?;
        let delay = SystemTime::from(time).duration_since(now);
        delay.unwrap_or_default()
    };
    Some(delay.min(LONGEST_REQUESTED))
}

/// Returns a random delay between two limits: `min` if `max` is smaller.
pub fn between(min: Duration, max: Duration) -> Duration {
    min + max.saturating_sub(min).mul_f64(random())
}

/// Returns a random number from 0 to 1. Without a random source it is 0, and clients return to a service at the same time.
fn random() -> f64 {
    let bits = getrandom::u32().unwrap_or(0);
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use http::StatusCode;
    use http::header::{HeaderMap, HeaderValue, RETRY_AFTER};

    use super::{after_failures, between, requested};

    #[test]
    fn services_request_delays() {
        // 1994-11-06 08:49:30
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (status, value, expected) in [
            (503, Some("2"), Some(2)),
            (429, Some("120"), Some(120)),
            (503, Some(" 7 "), Some(7)),
            (503, Some("0"), Some(0)),
            (503, Some("600"), Some(600)),
            (503, Some("601"), Some(600)),
            (429, Some("99999999999999999999999"), Some(600)),
            (503, Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some(7)),
            (429, Some("Sun, 06 Nov 1994 08:49:00 GMT"), Some(0)),
            (429, Some("Sun, 06 Nov 2094 08:49:37 GMT"), None),
            (429, Some("Sat, 06 Nov 2094 08:49:37 GMT"), Some(600)),
            (503, Some("-1"), None),
            (503, Some("+1"), None),
            (503, Some("1.5"), None),
            (503, Some("soon"), None),
            (503, Some(""), None),
            (503, None, None),
            (500, Some("2"), None),
            (502, Some("2"), None),
            (404, Some("2"), None),
            (200, Some("2"), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            }
            let status = StatusCode::from_u16(status).unwrap();
            let delay = requested(status, &headers, now);
            assert_eq!(
                delay,
                expected.map(Duration::from_secs),
                "{status} {value:?}"
            );
        }
    }

    #[test]
    fn delays_grow_up_to_their_bound() {
        let max = Duration::from_secs(2);
        for (failures, from, to) in [
            (1, 80, 120),
            (2, 128, 192),
            (4, 327, 492),
            (20, 1600, 2400),
            (u32::MAX, 1600, 2400),
        ] {
            for _ in 0..50 {
                let delay = after_failures(failures, max).as_millis();
                assert!((from..=to).contains(&delay), "{failures}: {delay} ms");
            }
        }
        assert!(after_failures(9, Duration::ZERO) <= Duration::from_millis(120));
    }

    #[test]
    fn delays_within_bounds_differ() {
        let (min, max) = (Duration::from_secs(1), Duration::from_secs(3));
        let delays: Vec<_> = (0..50).map(|_| between(min, max)).collect();
        assert!(delays.iter().all(|delay| (min..=max).contains(delay)));
        assert!(delays.iter().any(|delay| delay != delays.first().unwrap()));
        assert_eq!(between(min, min), min);
        assert_eq!(between(max, min), max);
    }
}
