//! Delays between requests to services.

use std::time::Duration;

/// Delay before the first retry of a failed request.
const FIRST: Duration = Duration::from_millis(100);

/// Ratio of consecutive delays.
const FACTOR: f64 = 1.6;

/// Maximum random deviation, as a fraction of a delay.
const JITTER: f64 = 0.2;

/// Returns the delay before the retry after `failures` consecutive failures: exponential, at most `most`.
pub fn after_failures(failures: u32, most: Duration) -> Duration {
    let repetitions = i32::try_from(failures.saturating_sub(1).min(64)).unwrap_or(0);
    let seconds = FIRST.as_secs_f64() * FACTOR.powi(repetitions);
    // a server that polls without delay does not retry without one
    let most = most.max(FIRST).as_secs_f64();
    let jitter = 1.0 + JITTER * (2.0 * random() - 1.0);
    Duration::from_secs_f64(seconds.min(most) * jitter)
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
    use std::time::Duration;

    use super::{after_failures, between};

    #[test]
    fn delays_grow_up_to_their_bound() {
        let most = Duration::from_secs(2);
        for (failures, from, to) in [
            (1, 80, 120),
            (2, 128, 192),
            (4, 327, 492),
            (20, 1600, 2400),
            (u32::MAX, 1600, 2400),
        ] {
            for _ in 0..50 {
                let delay = after_failures(failures, most).as_millis();
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
