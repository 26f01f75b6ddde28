//! Times and counts of the operations of a search.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use super::statistics::Statistics;

/// Maximum number of samples kept for an operation; later samples replace the oldest.
const MAX_SAMPLES: usize = 1028;

/// An operation whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeasuredOperation {
    /// Conversion of terms to values.
    Plug,
    /// Lookup of base documents.
    Resolve,
    /// Lookup in the rule index.
    RuleIndex,
    /// Call of a built-in function.
    BuiltinCall,
}

impl MeasuredOperation {
    const ALL: [Self; 4] = [
        Self::Plug,
        Self::Resolve,
        Self::RuleIndex,
        Self::BuiltinCall,
    ];

    /// Returns OPA's name of the operation, such as `eval_op_plug`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plug => "eval_op_plug",
            Self::Resolve => "eval_op_resolve",
            Self::RuleIndex => "eval_op_rule_index",
            Self::BuiltinCall => "eval_op_builtin_call",
        }
    }
}

/// A counted event of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// A base document was read.
    BaseCacheMiss,
    /// The result of a rule was cached.
    VirtualCacheHit,
    /// The result of a rule was not cached.
    VirtualCacheMiss,
    /// A comprehension was evaluated without an index.
    ComprehensionCacheSkip,
}

impl Count {
    const ALL: [Self; 4] = [
        Self::BaseCacheMiss,
        Self::VirtualCacheHit,
        Self::VirtualCacheMiss,
        Self::ComprehensionCacheSkip,
    ];

    /// Returns OPA's name of the counter, such as `eval_op_base_cache_miss`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BaseCacheMiss => "eval_op_base_cache_miss",
            Self::VirtualCacheHit => "eval_op_virtual_cache_hit",
            Self::VirtualCacheMiss => "eval_op_virtual_cache_miss",
            Self::ComprehensionCacheSkip => "eval_op_comprehension_cache_skip",
        }
    }
}

/// Collector for the times and counts of a search.
///
/// ```
/// use solon::trace::Instruments;
/// use solon::{Engine, Request, SearchOptions};
///
/// let query = Engine::new().prepare_query("count([1, 2]) == 2")?;
/// let instruments = Instruments::default();
/// query.search(&Request::new(), SearchOptions::default().instruments(&instruments))?;
/// assert!(!instruments.times().is_empty());
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Default)]
pub struct Instruments {
    times: [RefCell<Times>; 4],
    counts: [Cell<u64>; 4],
}

#[derive(Default)]
struct Times {
    total: Duration,
    count: u64,
    samples: Vec<u64>,
}

impl Times {
    fn add(&mut self, took: Duration) {
        let sample = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if self.samples.len() < MAX_SAMPLES {
            self.samples.push(sample);
        } else if let Ok(oldest) = usize::try_from(self.count % MAX_SAMPLES as u64)
            && let Some(oldest) = self.samples.get_mut(oldest)
        {
            *oldest = sample;
        }
        self.total += took;
        self.count += 1;
    }
}

impl Instruments {
    /// Adds the time from `start` until now.
    pub fn took(&self, operation: MeasuredOperation, start: Instant) {
        let is_operation =
            |(candidate, _): &(MeasuredOperation, &RefCell<Times>)| *candidate == operation;
        if let Some((_, times)) = MeasuredOperation::ALL
            .into_iter()
            .zip(&self.times)
            .find(is_operation)
        {
            times.borrow_mut().add(start.elapsed());
        }
    }

    /// Increments a counter. Not atomic: one thread evaluates.
    pub fn count(&self, counted: Count) {
        let is_count = |(candidate, _): &(Count, &Cell<u64>)| *candidate == counted;
        if let Some((_, count)) = Count::ALL.into_iter().zip(&self.counts).find(is_count) {
            count.set(count.get() + 1);
        }
    }

    /// Returns each operation that occurred, with its total time and the distribution of its samples.
    pub fn times(&self) -> Vec<(&'static str, Duration, Statistics)> {
        let times = MeasuredOperation::ALL.into_iter().zip(&self.times);
        let times = times.map(|(operation, times)| {
            let times = times.borrow();
            let statistics = Statistics::of_samples(&times.samples, times.count);
            (operation.name(), times.total, statistics)
        });
        times
            .filter(|(_, _, statistics)| statistics.count > 0)
            .collect()
    }

    /// Returns the counters that are not zero, with their names.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = Count::ALL.into_iter().zip(&self.counts);
        let counts = counts.map(|(counted, count)| (counted.name(), count.get()));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}
