//! Large objects: sorted runs with shared ownership, so that a change copies one run instead of the object.

mod run;

use std::sync::Arc;

use crate::index::Indexed as _;
use crate::value::{Value, ValueRef, search};
pub(super) use run::FULL;
pub use run::SortedRun;

/// A large object: sorted runs of pairs, which copies share.
#[derive(Clone)]
pub struct Chunked {
    /// The first key of each run. They are contiguous, so that a search for a run reads no run.
    firsts: Vec<Value>,
    /// Invariant: the runs are in key order, and none is empty.
    runs: Vec<Arc<SortedRun>>,
    len: usize,
}

impl Chunked {
    /// Creates an object from pairs with sorted distinct keys.
    pub fn from_sorted(pairs: Vec<(Value, Value)>) -> Self {
        let len = pairs.len();
        Self::collect(pairs.into_iter(), len)
    }

    /// Creates an object from `len` pairs with sorted distinct keys.
    pub fn collect(mut pairs: impl Iterator<Item = (Value, Value)>, len: usize) -> Self {
        let count = len.div_ceil(FULL);
        let mut all = Self {
            firsts: Vec::with_capacity(count),
            runs: Vec::with_capacity(count),
            len: 0,
        };
        loop {
            let room = FULL.min(len.saturating_sub(all.len));
            let (mut keys, mut values) = (Vec::with_capacity(room), Vec::with_capacity(room));
            for (key, value) in pairs.by_ref().take(FULL) {
                keys.push(key);
                values.push(value);
            }
            let Some(first) = keys.first() else {
                return all;
            };
            all.firsts.push(first.clone());
            all.len += keys.len();
            all.runs.push(Arc::new(SortedRun::new(keys, values)));
        }
    }

    /// Creates an object from runs in key order with distinct keys. None may be empty.
    pub fn from_runs(runs: Vec<SortedRun>) -> Self {
        Self {
            firsts: runs.iter().filter_map(SortedRun::first).cloned().collect(),
            len: runs.iter().map(SortedRun::len).sum(),
            runs: runs.into_iter().map(Arc::new).collect(),
        }
    }

    /// Removes all pairs. Shared runs are not changed.
    #[cfg(debug_assertions)]
    pub fn clear(&mut self) {
        self.firsts.clear();
        self.runs.clear();
        self.len = 0;
    }

    /// Returns the number of keys. O(1).
    #[expect(
        clippy::len_without_is_empty,
        reason = "only large objects are kept so"
    )]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the runs in key order.
    pub fn runs(&self) -> std::slice::Iter<'_, Arc<SortedRun>> {
        self.runs.iter()
    }

    /// Returns the position of the run for a key: the last one that does not start after it.
    #[inline]
    fn run_of(&self, key: ValueRef<'_>) -> usize {
        search::not_greater(&self.firsts, key).saturating_sub(1)
    }

    /// Returns the value under a key, or `None`. O(log n).
    #[inline]
    pub fn get(&self, key: ValueRef<'_>) -> Option<&Value> {
        self.runs.get(self.run_of(key))?.get(key)
    }

    /// Returns the position of a key in key order, or `None`. O(number of runs).
    pub fn position(&self, key: ValueRef<'_>) -> Option<usize> {
        let run_index = self.run_of(key);
        let slot = self.runs.get(run_index)?.find(key).ok()?;
        let before = self.runs.iter().take(run_index).map(|run| run.len());
        Some(before.sum::<usize>() + slot)
    }

    /// Returns the value under a key for modification, or `None`. Copies the run if it is shared.
    pub fn get_mut(&mut self, key: ValueRef<'_>) -> Option<&mut Value> {
        let run_index = self.run_of(key);
        let run = self.runs.get_mut(run_index)?;
        let slot = run.find(key).ok()?;
        Arc::make_mut(run).value_mut(slot)
    }

    /// Sets the value under a key. Copies the run if it is shared.
    pub fn insert(&mut self, key: Value, value: Value) {
        let run_index = self.run_of(key.borrow());
        let Some(run) = self.runs.get_mut(run_index).map(Arc::make_mut) else {
            return;
        };
        let slot = match run.find(key.borrow()) {
            Ok(slot) => {
                if let Some(old) = run.value_mut(slot) {
                    *old = value;
                }
                return;
            }
            Err(slot) => slot,
        };
        if slot == 0
            && let Some(first) = self.firsts.get_mut(run_index)
        {
            *first = key.clone();
        }
        run.insert(slot, key, value);
        self.len += 1;
        if let Some(overflow) = run.overflow()
            && let Some(first) = overflow.first()
        {
            self.firsts.insert(run_index + 1, first.clone());
            self.runs.insert(run_index + 1, Arc::new(overflow));
        }
    }

    /// Removes a key, if it exists. Copies its run if it is shared.
    pub fn remove(&mut self, key: ValueRef<'_>) {
        let run_index = self.run_of(key);
        let Some(run) = self.runs.get_mut(run_index) else {
            return;
        };
        let Ok(slot) = run.find(key) else {
            return;
        };
        let run = Arc::make_mut(run);
        run.remove(slot);
        match run.first() {
            Some(first) => {
                *self.firsts.item_mut(run_index) = first.clone();
            }
            None => {
                self.runs.remove(run_index);
                self.firsts.remove(run_index);
            }
        }
        self.len -= 1;
    }
}
