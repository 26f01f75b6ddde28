//! Estimates of how long decisions of a document take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::LONG;
use crate::system::thread_time;

/// Measures an evaluation for its [`LatencyEstimate`].
///
/// Passed time would be wrong: it includes the time in which other threads have the processor, and in which the evaluation waits for
/// host calls. Short decisions that are measured as long wait for all long ones.
pub enum Stopwatch {
    /// Passed time, but at most a limit. The evaluation ends there, so a longer time was spent on other threads.
    Limited(Instant, Duration),
    /// Processor time of the calling thread.
    Processor(Duration),
}

impl Stopwatch {
    /// Measures an evaluation that began at `start` and ends after `limit`. It costs less than [`Self::of_thread`], which calls the
    /// system.
    pub fn limited(start: Instant, limit: Duration) -> Self {
        Self::Limited(start, limit)
    }

    /// Starts to measure an evaluation on the calling thread.
    pub fn of_thread() -> Self {
        Self::Processor(thread_time())
    }

    /// Returns what has been measured so far.
    pub fn took(&self) -> Duration {
        match self {
            Self::Limited(start, limit) => start.elapsed().min(*limit),
            Self::Processor(start) => thread_time().saturating_sub(*start),
        }
    }
}

/// How long decisions of a document take: an exponentially weighted moving average, shared by all threads.
///
/// Threads that note a time at once may lose one of the two, which the next ones make up for.
#[derive(Debug)]
pub struct LatencyEstimate {
    /// The average in nanoseconds; [`Self::UNKNOWN`] before the first decision.
    mean_ns: AtomicU64,
    /// The generation of the engine at the last decision.
    generation: AtomicU64,
    /// The last generation in which a decision took longer than a reactor may wait, though it was estimated to be short.
    misjudged: AtomicU64,
    /// Number of decisions that are running and have taken longer than [`LONG`].
    overruns: AtomicUsize,
}

impl Default for LatencyEstimate {
    fn default() -> Self {
        Self {
            mean_ns: AtomicU64::new(Self::UNKNOWN),
            generation: AtomicU64::new(u64::MAX),
            misjudged: AtomicU64::new(u64::MAX),
            overruns: AtomicUsize::new(0),
        }
    }
}

impl LatencyEstimate {
    const UNKNOWN: u64 = u64::MAX;

    /// Adds the time of a decision at a generation. It counts for a quarter of the average.
    pub fn note(&self, generation: u64, took: Duration) {
        let took = nanoseconds(took);
        // most often the generation stays, and threads do not contend for it
        if self.generation.load(Ordering::Relaxed) != generation {
            self.generation.store(generation, Ordering::Relaxed);
        }
        let mean = match self.mean_ns.load(Ordering::Relaxed) {
            Self::UNKNOWN => took,
            mean => mean - mean / 4 + took / 4,
        };
        self.mean_ns.store(mean, Ordering::Relaxed);
    }

    /// Returns `true` if the last decision was made at this generation.
    pub fn is_of(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
    }

    /// Notes that a decision took too long for a reactor.
    pub fn misjudged(&self, generation: u64) {
        self.misjudged.store(generation, Ordering::Relaxed);
    }

    /// Returns `true` if decisions at this generation take less than `time` and none took longer than a reactor may wait.
    pub fn is_under(&self, generation: u64, time: Duration) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
            && self.misjudged.load(Ordering::Relaxed) != generation
            && self.mean_ns.load(Ordering::Relaxed) < nanoseconds(time)
    }

    /// Returns `true` if a decision was made before.
    pub(super) fn is_known(&self) -> bool {
        self.mean_ns.load(Ordering::Relaxed) != Self::UNKNOWN
    }

    /// Returns `true` if decisions take longer than [`LONG`], or one that is running has.
    pub(super) fn is_long(&self) -> bool {
        let mean = self.mean_ns.load(Ordering::Relaxed);
        mean != Self::UNKNOWN && mean > nanoseconds(LONG)
            || self.overruns.load(Ordering::Relaxed) > 0
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(LatencyEstimate::UNKNOWN - 1)
}

/// A running decision that has taken longer than estimated. It makes its document a long one until it ends and its time is noted.
pub(super) struct Overrun(Arc<LatencyEstimate>);

impl Overrun {
    pub fn new(estimate: Arc<LatencyEstimate>) -> Self {
        estimate.overruns.fetch_add(1, Ordering::Relaxed);
        Self(estimate)
    }
}

impl Drop for Overrun {
    fn drop(&mut self) {
        self.0.overruns.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/estimate.rs"]
mod tests;
