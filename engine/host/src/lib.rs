//! The real effects behind [`solon::Host`]: the system's clock and its random source.

use std::time::{SystemTime, UNIX_EPOCH};

use solon::Host;

/// The system that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now_ns(&self) -> i64 {
        let past =
            |passed: std::time::Duration| i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(passed) => past(passed),
            Err(before) => -past(before.duration()),
        }
    }

    fn fill_random(&self, buffer: &mut [u8]) {
        // a system without a random source cannot run programs either: this ends the evaluation, not the process
        if let Err(error) = getrandom::fill(buffer) {
            std::panic::resume_unwind(Box::new(error.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_and_random_bytes_differ() {
        let host = SystemHost;
        assert!(host.now_ns() > 1_700_000_000_000_000_000);
        let (mut a, mut b) = ([0; 32], [0; 32]);
        host.fill_random(&mut a);
        host.fill_random(&mut b);
        assert_ne!(a, b);
    }
}
