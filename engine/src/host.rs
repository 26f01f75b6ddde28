//! The one way out: every effect of a policy goes through [`Host`].

use crate::value::Value;

/// What a policy may ask of the world.
pub trait Host: Send + Sync {
    /// Nanoseconds since the Unix epoch.
    fn now_ns(&self) -> i64;

    /// Fills a buffer with random bytes.
    fn fill_random(&self, buffer: &mut [u8]);

    /// What the program around the engine tells of itself (`opa.runtime`): configuration, environment, version.
    fn runtime(&self) -> Value {
        Value::object(Vec::new())
    }
}

/// A world that stands still, for tests and for embedders that allow no effects.
#[derive(Clone, Debug, Default)]
pub struct FixedHost {
    /// What the clock shows.
    pub now_ns: i64,
}

impl Host for FixedHost {
    fn now_ns(&self) -> i64 {
        self.now_ns
    }

    fn fill_random(&self, buffer: &mut [u8]) {
        for (at, byte) in (0_u8..=255).cycle().zip(buffer) {
            *byte = at;
        }
    }
}
