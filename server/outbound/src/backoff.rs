//! Pauses between attempts.

use std::future::Future;
use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::error::Error;

/// Pauses that grow exponentially up to a maximum. Each is shortened by a random share, so that clients of a server that
/// was down do not all return at the same time.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    factor: f64,
    jitter: f64,
    failures: u32,
}

impl Backoff {
    /// Returns pauses that begin with `first`, double after each failure, and are never longer than `max`. Half of each pause is random.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self {
            first: first.min(max),
            max,
            factor: 2.0,
            jitter: 0.5,
            failures: 0,
        }
    }

    /// Sets the ratio of a pause to the one before.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor.max(1.0);
        self
    }

    /// Sets the random share of each pause, from 0 to 1.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.jitter = jitter.clamp(0.0, 1.0);
        self
    }

    /// Returns the number of failures since the start or the last reset.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Counts a failure and returns the pause before the next attempt.
    pub fn next_pause(&mut self) -> Duration {
        let exponent = i32::try_from(self.failures).unwrap_or(i32::MAX);
        self.failures = self.failures.saturating_add(1);
        let longest = self.max.as_secs_f64();
        // an overflow results in infinity, which `min` limits to the maximum
        let pause = (self.first.as_secs_f64() * self.factor.powi(exponent)).min(longest);
        Duration::from_secs_f64(pause * (1.0 - self.jitter * random_share()))
    }

    /// Begins with the first pause again, after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure and waits before the next attempt: at least as long as the server said, if it did.
    pub async fn wait(&mut self, retry_after: Option<Duration>) {
        let pause = self.next_pause();
        tokio::time::sleep(retry_after.map_or(pause, |wanted| pause.max(wanted))).await;
    }
}

/// Returns the pause that a response requests in `Retry-After`, if it is a number of seconds, at most `max`.
pub fn retry_after(headers: &HeaderMap, max: Duration) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = !seconds.is_empty() && seconds.bytes().all(|byte| byte.is_ascii_digit());
    // an overflowing number exceeds any maximum
    let seconds = is_number.then(|| seconds.parse().unwrap_or(u64::MAX))?;
    Some(Duration::from_secs(seconds).min(max))
}

/// Calls `attempt` until it succeeds, fails for good, or has failed `attempts` times. Pauses of `backoff` are between the calls.
///
/// # Errors
/// The last error.
pub async fn retry<T, F: Future<Output = Result<T, Error>>>(
    mut backoff: Backoff,
    attempts: u32,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Error> {
    loop {
        match attempt().await {
            Err(error) if error.is_transient() && backoff.failures() + 1 < attempts => {
                backoff.wait(None).await;
            }
            result => return result,
        }
    }
}

/// Returns a random number from 0 to 1. Without a random source it is 0, so that pauses are the longest.
fn random_share() -> f64 {
    let random = getrandom::u32().unwrap_or(0);
    f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use http::HeaderMap;
    use tokio::time::Instant;

    use super::{Backoff, retry, retry_after};
    use crate::error::{Error, ErrorKind};

    fn seconds(number: f64) -> Duration {
        Duration::from_secs_f64(number)
    }

    #[test]
    fn pauses_grow_up_to_the_maximum() {
        let mut backoff = Backoff::new(seconds(0.5), seconds(10.0)).jitter(0.0);
        let pauses: Vec<Duration> = (0..7).map(|_| backoff.next_pause()).collect();
        let want = [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0].map(seconds);
        assert_eq!(pauses, want);
        backoff.reset();
        assert_eq!(backoff.next_pause(), seconds(0.5));
        let mut slow = Backoff::new(seconds(1.0), seconds(1e9))
            .factor(1.6)
            .jitter(0.0);
        assert_eq!(slow.next_pause(), seconds(1.0));
        assert_eq!(slow.next_pause(), seconds(1.6));
        // neither a huge number of failures nor unusual settings overflow
        let mut odd = Backoff::new(seconds(100.0), seconds(5.0))
            .factor(f64::MAX)
            .jitter(9.0);
        odd.failures = u32::MAX;
        assert!(odd.next_pause() <= seconds(5.0));
        assert_eq!(odd.failures(), u32::MAX);
    }

    #[test]
    fn pauses_are_random() {
        let pauses: Vec<Duration> = (0..200)
            .map(|_| Backoff::new(seconds(1.0), seconds(1.0)).next_pause())
            .collect();
        assert!(
            pauses
                .iter()
                .all(|pause| (seconds(0.5)..=seconds(1.0)).contains(pause))
        );
        let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
        assert!(*most > *least + seconds(0.1), "{least:?} {most:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_retried_with_pauses() {
        let calls = Cell::new(0);
        let count = || calls.set(calls.get() + 1);
        let failed = |kind| Err::<u32, _>(Error::new(kind, "x"));
        let backoff = || Backoff::new(seconds(1.0), seconds(3.0)).jitter(0.0);
        let start = Instant::now();
        let result = retry(backoff(), 10, || async {
            count();
            if calls.get() < 4 {
                failed(ErrorKind::Connect)
            } else {
                Ok(7)
            }
        });
        assert_eq!(result.await, Ok(7));
        assert_eq!(calls.get(), 4);
        // one, two and three seconds
        assert_eq!(start.elapsed().as_secs(), 6);
        calls.set(0);
        let result = retry(backoff(), 3, || async {
            count();
            failed(ErrorKind::Timeout)
        });
        assert!(result.await.is_err());
        assert_eq!(calls.get(), 3);
        calls.set(0);
        let result = retry(backoff(), 3, || async {
            count();
            failed(ErrorKind::Denied)
        });
        assert!(result.await.is_err());
        assert_eq!(calls.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn servers_may_request_a_pause() {
        let header = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", text.parse().unwrap());
            retry_after(&headers, seconds(60.0))
        };
        assert_eq!(header("7"), Some(seconds(7.0)));
        assert_eq!(header("0"), Some(seconds(0.0)));
        assert_eq!(header("3600"), Some(seconds(60.0)));
        assert_eq!(header("99999999999999999999999"), Some(seconds(60.0)));
        for text in ["", "-1", "1.5", "soon", "Fri, 27 Nov 2026 10:00:00 GMT"] {
            assert_eq!(header(text), None, "{text}");
        }
        let start = Instant::now();
        let mut backoff = Backoff::new(seconds(1.0), seconds(3.0));
        backoff.wait(header("7")).await;
        assert_eq!(start.elapsed().as_secs(), 7);
    }
}
