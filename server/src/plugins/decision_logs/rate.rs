//! Rate limit of events.

use std::time::Instant;

use parking_lot::Mutex;

/// A token bucket. Its capacity is the tokens of one second, but at least one.
pub struct RateLimit {
    per_second: f64,
    state: Mutex<(f64, Instant)>,
}

impl RateLimit {
    /// Creates a full bucket.
    pub fn new(per_second: f64) -> Self {
        Self {
            per_second,
            state: Mutex::new((per_second.max(1.0), Instant::now())),
        }
    }

    /// Takes a token. Returns `false` if there is none.
    pub fn allows(&self, now: Instant) -> bool {
        let (tokens, last) = &mut *self.state.lock();
        let elapsed = now.saturating_duration_since(*last).as_secs_f64();
        *tokens = (*tokens + elapsed * self.per_second).min(self.per_second.max(1.0));
        *last = now.max(*last);
        let is_allowed = *tokens >= 1.0;
        if is_allowed {
            *tokens -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::RateLimit;

    #[test]
    fn tokens_return_with_time() {
        let start = Instant::now();
        let limit = RateLimit::new(2.0);
        let time_after = |milliseconds| start + Duration::from_millis(milliseconds);
        let now = time_after(100);
        assert_eq!([(); 3].map(|()| limit.allows(now)), [true, true, false]);
        assert!(!limit.allows(time_after(300)));
        assert!(limit.allows(time_after(700)));
        assert!(!limit.allows(time_after(700)));
        // the capacity is the tokens of one second
        let allowed = (0..10).filter(|_| limit.allows(time_after(60_000))).count();
        assert_eq!(allowed, 2);
    }
}
