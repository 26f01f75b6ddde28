//! Latency estimates of documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::LONG;
use crate::system::thread_time;

/// Time during which a document is not evaluated on a reactor after a decision that took too long there. The reason may have been
/// that the system paused the thread, so the document gets another chance; a document with rare long decisions blocks a reactor once
/// in this time.
const PENALTY: Duration = Duration::from_millis(500);

/// Measures an evaluation for its [`LatencyEstimate`].
///
/// Elapsed time would be wrong: it includes the time in which other threads use the processor, and in which the evaluation waits
/// for host calls. Short decisions that are measured as long would wait for all long ones.
pub enum Stopwatch {
    /// Elapsed time, but at most a limit. The evaluation ends there, so a longer time was spent on other threads.
    Limited(Instant, Duration),
    /// Processor time of the calling thread.
    Processor(Duration),
}

impl Stopwatch {
    /// Measures an evaluation that started at `start` and ends after `limit`. It is cheaper than [`Self::of_thread`], which is a
    /// system call.
    pub fn limited(start: Instant, limit: Duration) -> Self {
        Self::Limited(start, limit)
    }

    /// Starts to measure an evaluation on the calling thread.
    pub fn of_thread() -> Self {
        Self::Processor(thread_time())
    }

    /// Returns the time measured so far.
    pub fn took(&self) -> Duration {
        match self {
            Self::Limited(start, limit) => start.elapsed().min(*limit),
            Self::Processor(start) => thread_time().saturating_sub(*start),
        }
    }
}

/// Latency estimate of a document: an exponentially weighted moving average, shared by all threads.
///
/// Concurrent updates may lose one of the two times, which does not matter because later ones correct the average.
#[derive(Debug)]
pub struct LatencyEstimate {
    /// The average in nanoseconds; [`Self::UNKNOWN`] before the first decision.
    mean_ns: AtomicU64,
    /// Engine generation of the last decision.
    generation: AtomicU64,
    /// Last generation in which a decision took longer than a reactor may block, though it was estimated to be short.
    misjudged: AtomicU64,
    /// Time of that decision, in milliseconds after `created`.
    misjudged_ms: AtomicU64,
    created: Instant,
    /// Number of running decisions that have taken longer than [`LONG`].
    overruns: AtomicUsize,
}

impl Default for LatencyEstimate {
    fn default() -> Self {
        Self {
            mean_ns: AtomicU64::new(Self::UNKNOWN),
            generation: AtomicU64::new(u64::MAX),
            misjudged: AtomicU64::new(u64::MAX),
            misjudged_ms: AtomicU64::new(0),
            created: Instant::now(),
            overruns: AtomicUsize::new(0),
        }
    }
}

impl LatencyEstimate {
    const UNKNOWN: u64 = u64::MAX;

    /// Adds the time of a decision at a generation, with a weight of a quarter.
    pub fn note(&self, generation: u64, took: Duration) {
        let took = nanoseconds(took);
        // the generation rarely changes, so a load avoids contention
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

    /// Records that a decision took too long for a reactor.
    pub fn misjudged(&self, generation: u64) {
        self.misjudged_ms.store(self.age_ms(), Ordering::Relaxed);
        self.misjudged.store(generation, Ordering::Relaxed);
    }

    /// Returns `true` if decisions at this generation take less than `time` and none took longer than a reactor may block within the
    /// last [`PENALTY`].
    pub fn is_under(&self, generation: u64, time: Duration) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
            && self.mean_ns.load(Ordering::Relaxed) < nanoseconds(time)
            && (self.misjudged.load(Ordering::Relaxed) != generation
                || self.is_penalty_over(self.age_ms()))
    }

    fn is_penalty_over(&self, now_ms: u64) -> bool {
        let since_ms = now_ms.saturating_sub(self.misjudged_ms.load(Ordering::Relaxed));
        Duration::from_millis(since_ms) >= PENALTY
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns `true` if a decision was made before.
    pub(super) fn is_measured(&self) -> bool {
        self.mean_ns.load(Ordering::Relaxed) != Self::UNKNOWN
    }

    /// Returns `true` if the estimate, or the time of a running decision, is longer than [`LONG`].
    pub(super) fn is_long(&self) -> bool {
        let mean = self.mean_ns.load(Ordering::Relaxed);
        mean != Self::UNKNOWN && mean > nanoseconds(LONG)
            || self.overruns.load(Ordering::Relaxed) > 0
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(LatencyEstimate::UNKNOWN - 1)
}

/// A running decision that has taken longer than estimated. Its document is classified as long until it ends and its time is
/// recorded.
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
