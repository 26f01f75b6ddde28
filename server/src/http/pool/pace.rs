//! What is known of how long something takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::TURN;
use crate::system::thread_time;

/// Measures an evaluation for its [`Pace`].
///
/// Passed time would be wrong: on a loaded machine a thread of the pool, whose priority is low, waits for a processor longer than a
/// turn. A small decision that is measured as a slow one queues up after all slow ones.
pub enum Stopwatch {
    /// Passed time, but at most a limit. The evaluation ends there, so a longer time was spent on other threads.
    Limited(Instant, Duration),
    /// Passed time, which includes waiting for others.
    Passed(Instant),
    /// Processor time of the calling thread.
    Processor(Duration),
}

impl Stopwatch {
    /// Measures an evaluation that began at `start` and ends after `limit`. It costs less than [`Self::of_thread`], which calls the
    /// system.
    pub fn limited(start: Instant, limit: Duration) -> Self {
        Self::Limited(start, limit)
    }

    /// Starts to measure an evaluation on the calling thread, with the time that it waits for others if it may block.
    pub fn of_thread(may_block: bool) -> Self {
        if may_block {
            Self::Passed(Instant::now())
        } else {
            Self::Processor(thread_time())
        }
    }

    /// Returns what has been measured so far.
    pub fn took(&self) -> Duration {
        match self {
            Self::Limited(start, limit) => start.elapsed().min(*limit),
            Self::Passed(start) => start.elapsed(),
            Self::Processor(start) => thread_time().saturating_sub(*start),
        }
    }
}

/// What is known of how long something takes, shared by all that ask for it.
#[derive(Debug)]
pub struct Pace {
    /// Nanoseconds of the last time; [`Self::UNKNOWN`] before the first.
    last: AtomicU64,
    /// The generation of the engine that `last` belongs to.
    generation: AtomicU64,
    /// The generation in which it took longer than a reactor may wait, though it was not thought to.
    misjudged: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            last: AtomicU64::new(Self::UNKNOWN),
            generation: AtomicU64::new(u64::MAX),
            misjudged: AtomicU64::new(u64::MAX),
        }
    }
}

impl Pace {
    const UNKNOWN: u64 = u64::MAX;

    /// Notes how long it took in a generation.
    pub fn note(&self, generation: u64, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(Self::UNKNOWN - 1);
        // most often the generation stays, and threads do not meet here
        if self.generation.load(Ordering::Relaxed) != generation {
            self.generation.store(generation, Ordering::Relaxed);
        }
        self.last.store(took, Ordering::Relaxed);
    }

    /// Whether it was last asked in a generation.
    pub fn is_of(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
    }

    /// Notes that it took too long for a reactor.
    pub fn misjudged(&self, generation: u64) {
        self.misjudged.store(generation, Ordering::Relaxed);
    }

    /// Whether it took less than `time` when it was last asked in a generation, and never more than a reactor may wait.
    pub fn is_under(&self, generation: u64, time: Duration) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
            && self.misjudged.load(Ordering::Relaxed) != generation
            && self.last.load(Ordering::Relaxed) < u64::try_from(time.as_nanos()).unwrap_or(0)
    }

    /// Notes that it takes longer than a turn, before it is known how long.
    pub(super) fn is_long(&self) {
        if !self.is_slow() {
            let long = u64::try_from(TURN.as_nanos()).unwrap_or(u64::MAX);
            self.last.store(long.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// Whether it is known, of any generation, to take longer than a turn.
    pub(super) fn is_slow(&self) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        last != Self::UNKNOWN && u128::from(last) > TURN.as_nanos()
    }

    /// Whether it is known, of any generation, to end within a turn.
    pub(super) fn is_quick(&self) -> bool {
        u128::from(self.last.load(Ordering::Relaxed)) <= TURN.as_nanos()
    }
}
