//! Freshness of responses by their headers (RFC 7234, as far as OPA implements it).

use crate::builtins::time::{TimeLayout, parse};
use crate::host::HttpResponse;

/// Expiry time of responses that are always stale.
pub const STALE: i64 = i64::MIN;

/// Returns the first header with a name, ignoring case. Returns `None` if there is none or it is not UTF-8.
pub fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    let header = response
        .headers
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name));
    header.and_then(|(_, value)| std::str::from_utf8(value).ok())
}

/// Returns `true` if the response's headers allow caching.
pub fn may_keep(response: &HttpResponse) -> bool {
    directive(response, "no-store").is_none()
}

/// Returns the expiry time, in nanoseconds since 1970.
pub fn expires(response: &HttpResponse) -> i64 {
    const LONGEST: u64 = i32::MAX as u64;
    let Some(age) = directive(response, "max-age") else {
        return header(response, "Expires").and_then(date).unwrap_or(STALE);
    };
    let digits = !age.is_empty() && age.bytes().all(|byte| byte.is_ascii_digit());
    // numbers that are too large count as the longest lifetime
    let seconds = digits.then(|| age.parse().map_or(LONGEST, |age: u64| age.min(LONGEST)));
    let seconds = seconds.and_then(|seconds| i64::try_from(seconds).ok());
    match (header(response, "Date").and_then(date), seconds) {
        (Some(date), Some(seconds)) => time_after(date, seconds),
        _ => STALE,
    }
}

/// Returns the time `seconds` after `ns`, saturating.
pub fn time_after(ns: i64, seconds: i64) -> i64 {
    ns.saturating_add(seconds.saturating_mul(1_000_000_000))
}

/// Returns the value of a `Cache-Control` directive, or an empty text if it has no value.
fn directive<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    let control = header(response, "Cache-Control")?;
    let mut directive_value = None;
    for part in control.split(',') {
        let part = part.trim_matches(' ');
        let mut halves = part.split('=');
        let (key, value) = (halves.next(), halves.next());
        // a directive with several `=` is invalid
        if halves.next().is_none() && key.map(|key| key.trim_matches(' ')) == Some(name) {
            directive_value = Some(value.unwrap_or_default());
        }
    }
    directive_value
}

/// Parses a date in one of the three formats of HTTP.
fn date(text: &str) -> Option<i64> {
    const DATE_FORMATS: [&[u8]; 3] = [
        b"Mon, 02 Jan 2006 15:04:05 GMT",
        b"Monday, 02-Jan-06 15:04:05 MST",
        b"Mon Jan _2 15:04:05 2006",
    ];
    let ns = DATE_FORMATS
        .iter()
        .find_map(|layout| parse::parse(&TimeLayout::new(layout), text.as_bytes()).ok())??;
    i64::try_from(ns).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_with(headers: &[(&str, &str)]) -> HttpResponse {
        let headers = headers.iter();
        HttpResponse {
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
                .collect(),
            ..HttpResponse::default()
        }
    }

    #[test]
    fn headers_determine_the_expiry() {
        const DATE: (&str, &str) = ("Date", "Thu, 01 Jan 1970 00:00:10 GMT");
        const SECOND: i64 = 1_000_000_000;
        for (headers, expected) in [
            (
                &[DATE, ("cache-control", "public, max-age=5")][..],
                15 * SECOND,
            ),
            (&[("cache-control", "max-age=5")], STALE),
            (&[DATE, ("cache-control", "max-age=x")], STALE),
            (&[DATE, ("cache-control", "max-age")], STALE),
            (
                &[DATE, ("cache-control", "max-age=99999999999999999999")],
                (10 + i64::from(i32::MAX)) * SECOND,
            ),
            (
                &[("expires", "Thursday, 01-Jan-70 00:00:07 GMT")],
                7 * SECOND,
            ),
            (&[("expires", "Thu Jan  1 00:00:07 1970")], 7 * SECOND),
            (&[("expires", "0")], STALE),
            (&[], STALE),
        ] {
            assert_eq!(expires(&response_with(headers)), expected, "{headers:?}");
        }
    }

    #[test]
    fn servers_may_forbid_to_keep() {
        assert!(!may_keep(&response_with(&[(
            "Cache-Control",
            "max-age=5, no-store"
        )])));
        assert!(may_keep(&response_with(&[("Cache-Control", "no-cache")])));
    }
}
