//! The default host: clock and random source of the system only.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Host, HostError};

/// The system's clock and random source, without network, files and environment variables. The default host of an
/// engine.
///
/// A policy that uses the network fails with an error whose message names `solon_host::SystemHost`, which has a
/// network.
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

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        getrandom::fill(buffer).map_err(|error| HostError::new(ErrorKind::Other, error.to_string()))
    }
}
