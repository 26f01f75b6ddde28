//! The clock and the random source of the system, and nothing else of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Host;

/// The system's clock and random source, without network, files and environment: what engines use unless told otherwise.
///
/// A policy that asks the network ends with an error that names this host's larger twin, `solon_host::SystemHost`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineHost;

impl Host for OfflineHost {
    fn now_ns(&self) -> i64 {
        let past = |passed: Duration| i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(passed) => past(passed),
            Err(before) => -past(before.duration()),
        }
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), String> {
        getrandom::fill(buffer).map_err(|error| error.to_string())
    }
}
