//! Downloads of archives, as policy servers request bundles.

use std::time::Duration;

use http::HeaderMap;
use http::header::{IF_RANGE, RANGE};

use super::answer::Answer;
use super::service::Context;
use crate::access::AccessRequest;
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::Kind;
use crate::storage::LongPoll;

/// Content type by which policy servers recognize that a service supports long polling.
const LONG_POLLING: &str = "application/vnd.openpolicyagent.bundles";

/// Returns the archive of the active revision of a bundle, or a range of it. The tag is the digest of the archive.
pub async fn get(context: &mut Context<'_>, name: &str) -> Result<Answer, ApiError> {
    let head = context.transaction.head(Kind::Bundle, name).await?;
    let head = head.ok_or_else(ApiError::not_found)?;
    context.check(AccessRequest::Download, Some(&head))?;
    let transaction = &mut *context.transaction;
    let changes = transaction.publication_changes().await?;
    let active = match transaction.publication(head.id).await? {
        Some(publication) => transaction.artifact(head.id, publication.artifact).await?,
        None => None,
    };
    let active = active.ok_or_else(|| {
        let message = "no revision of the bundle is stored here";
        ApiError::new(ApiErrorKind::NotFound, message)
    })?;
    let headers = &context.request.headers;
    let wait = waiting_time(headers);
    let kind = if wait.is_some() {
        LONG_POLLING
    } else {
        "application/gzip"
    };
    let artifacts = &context.state.artifacts;
    let response = match range(headers, &active.digest, active.size) {
        Requested::Whole => {
            let reader = artifacts.open(&active, 0, active.size).await?;
            Answer::archive(kind, reader, None)
        }
        Requested::Part(from, to) => {
            let reader = artifacts.open(&active, from, to).await?;
            let range = format!("bytes {from}-{}/{}", to.saturating_sub(1), active.size);
            Answer::archive(kind, reader, Some(range))
        }
        Requested::Outside => {
            let empty_archive = artifacts.open(&active, 0, 0).await?;
            Answer::unsatisfiable(active.size, empty_archive)
        }
    };
    let watch = artifacts.watch();
    let wait = wait.filter(|wait| !wait.is_zero());
    let long_poll = wait.map(|wait| LongPoll::new(watch.clone(), head.id, changes, wait));
    Ok(response.tagged(active.digest).waiting(long_poll))
}

/// Returns the waiting time of `Prefer: modes=snapshot,delta;wait=30`. Policy servers separate the preferences by semicolons,
/// and RFC 7240 by commas.
fn waiting_time(headers: &HeaderMap) -> Option<Duration> {
    let lines = headers.get_all("prefer").iter();
    let mut parts = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split([',', ';']));
    let seconds = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        let digits = value.trim().trim_matches('"');
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // a number that is too large is clamped like any other
        (is_wait && is_number).then(|| digits.parse().unwrap_or(u64::MAX))
    })?;
    Some(Duration::from_secs(seconds.min(limits::LONG_POLL_SECONDS)))
}

/// The requested part of an archive.
#[derive(Debug, PartialEq, Eq)]
enum Requested {
    Whole,
    /// First byte and the byte after the last one.
    Part(u64, u64),
    Outside,
}

/// Returns the range of a request. Several ranges, other units and invalid ones are ignored, as RFC 9110 permits.
fn range(headers: &HeaderMap, tag: &str, size: u64) -> Requested {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key(IF_RANGE)
        && text(IF_RANGE).map(str::trim) != Some(format!("\"{tag}\"").as_str())
    {
        return Requested::Whole;
    }
    let Some((unit, set)) = text(RANGE).and_then(|range| range.split_once('=')) else {
        return Requested::Whole;
    };
    let Some((first, last)) = set.trim().split_once('-') else {
        return Requested::Whole;
    };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Requested::Whole;
    }
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last), first, last) {
        // the last bytes
        (None, Some(0), "", _) => Requested::Outside,
        (None, Some(_), "", _) if size == 0 => Requested::Outside,
        (None, Some(length), "", _) => Requested::Part(size.saturating_sub(length), size),
        (Some(from), None, _, "") if from < size => Requested::Part(from, size),
        (Some(from), Some(last), ..) if from > last => Requested::Whole,
        (Some(from), Some(last), ..) if from < size => {
            Requested::Part(from, last.saturating_add(1).min(size))
        }
        (Some(_), None, _, "") | (Some(_), Some(_), ..) => Requested::Outside,
        _ => Requested::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::{Requested, range, waiting_time};
    use http::HeaderMap;
    use http::header::HeaderName;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |&(name, value): &(&str, &str)| {
            let name: HeaderName = name.parse().unwrap();
            (name, value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn preferences_of_waiting() {
        for (line, seconds) in [
            ("modes=snapshot,delta;wait=10", Some(10)),
            ("wait=0", Some(0)),
            ("respond-async, Wait = 7", Some(7)),
            ("wait=\"3\"", Some(3)),
            ("wait=99999999999999999999999", Some(600)),
            ("wait=-1", None),
            ("wait=1.5", None),
            ("wait=", None),
            ("wait", None),
            ("awaits=3", None),
            ("modes=snapshot,delta", None),
        ] {
            let actual = waiting_time(&headers(&[("prefer", line)]));
            assert_eq!(actual.map(|time| time.as_secs()), seconds, "{line}");
        }
    }

    #[test]
    fn ranges() {
        use Requested::{Outside, Part, Whole};
        for (line, expected) in [
            ("bytes=0-0", Part(0, 1)),
            ("bytes=0-9", Part(0, 10)),
            ("bytes=3-", Part(3, 10)),
            ("bytes=3-99", Part(3, 10)),
            ("Bytes=3-4", Part(3, 5)),
            ("bytes=-3", Part(7, 10)),
            ("bytes=-99", Part(0, 10)),
            ("bytes=9-", Part(9, 10)),
            ("bytes=0-18446744073709551615", Part(0, 10)),
            ("bytes=10-", Outside),
            ("bytes=10-12", Outside),
            ("bytes=99999999999999999999-", Outside),
            ("bytes=-0", Outside),
            ("bytes=5-3", Whole),
            ("bytes=0-1,3-4", Whole),
            ("bytes=-", Whole),
            ("bytes=a-b", Whole),
            ("bytes=+1-2", Whole),
            ("bytes", Whole),
            ("lines=0-1", Whole),
        ] {
            assert_eq!(
                range(&headers(&[("range", line)]), "t", 10),
                expected,
                "{line}"
            );
        }
        assert_eq!(range(&headers(&[]), "t", 10), Whole);
        assert_eq!(range(&headers(&[("range", "bytes=-1")]), "t", 0), Outside);
        for (tag, expected) in [("\"t\"", Part(1, 10)), ("\"u\"", Whole), ("W/\"t\"", Whole)] {
            let headers = headers(&[("range", "bytes=1-"), ("if-range", tag)]);
            assert_eq!(range(&headers, "t", 10), expected, "{tag}");
        }
    }
}
