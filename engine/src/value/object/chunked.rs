//! Large objects: sorted runs behind shared pointers, so that a change copies one run, not the object.

use std::sync::Arc;

use crate::value::{V, Value, search};

/// Pairs in a full run.
const RUN: usize = 512;

/// A large object.
#[derive(Clone)]
pub struct Chunked {
    /// The first key of each run, side by side: finding a run touches no run.
    firsts: Vec<Value>,
    /// The runs in key order, none empty.
    runs: Vec<Arc<Run>>,
    len: usize,
}

/// Sorted pairs.
#[derive(Clone, Default)]
pub struct Run {
    keys: Vec<Value>,
    values: Vec<Value>,
}

impl Run {
    /// The pairs in key order.
    pub fn iter(&self) -> std::iter::Zip<std::slice::Iter<'_, Value>, std::slice::Iter<'_, Value>> {
        self.keys.iter().zip(self.values.iter())
    }

    #[inline]
    fn find(&self, key: V<'_>) -> Result<usize, usize> {
        search::find(&self.keys, key)
    }
}

impl Chunked {
    /// Takes pairs whose keys are in order and distinct.
    pub fn from_sorted(pairs: Vec<(Value, Value)>) -> Self {
        let len = pairs.len();
        Self::collect(pairs.into_iter(), len)
    }

    /// Takes so many pairs whose keys are in order and distinct.
    pub fn collect(mut pairs: impl Iterator<Item = (Value, Value)>, len: usize) -> Self {
        let count = len.div_ceil(RUN);
        let mut all = Self {
            firsts: Vec::with_capacity(count),
            runs: Vec::with_capacity(count),
            len: 0,
        };
        loop {
            let room = RUN.min(len.saturating_sub(all.len));
            let (mut keys, mut values) = (Vec::with_capacity(room), Vec::with_capacity(room));
            for (key, value) in pairs.by_ref().take(RUN) {
                keys.push(key);
                values.push(value);
            }
            let Some(first) = keys.first() else {
                return all;
            };
            all.firsts.push(first.clone());
            all.len += keys.len();
            all.runs.push(Arc::new(Run { keys, values }));
        }
    }

    /// Drops all pairs.
    #[cfg(debug_assertions)]
    pub fn clear(&mut self) {
        self.firsts.clear();
        self.runs.clear();
        self.len = 0;
    }

    /// Number of keys.
    #[expect(
        clippy::len_without_is_empty,
        reason = "only large objects are kept so"
    )]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The runs in key order.
    pub fn runs(&self) -> std::slice::Iter<'_, Arc<Run>> {
        self.runs.iter()
    }

    /// The run that would hold a key.
    #[inline]
    fn run_of(&self, key: V<'_>) -> usize {
        search::not_greater(&self.firsts, key).saturating_sub(1)
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: V<'_>) -> Option<&Value> {
        let run = self.runs.get(self.run_of(key))?;
        run.values.get(run.find(key).ok()?)
    }

    /// The value under a key, to be changed in place.
    pub fn get_mut(&mut self, key: V<'_>) -> Option<&mut Value> {
        let at = self.run_of(key);
        let run = self.runs.get_mut(at)?;
        let slot = run.find(key).ok()?;
        Arc::make_mut(run).values.get_mut(slot)
    }

    /// Sets the value under a key; returns the earlier one.
    pub fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        let at = self.run_of(key.borrow());
        let run = Arc::make_mut(self.runs.get_mut(at)?);
        let slot = match run.find(key.borrow()) {
            Ok(slot) => {
                return run
                    .values
                    .get_mut(slot)
                    .map(|old| std::mem::replace(old, value));
            }
            Err(slot) => slot,
        };
        if slot == 0
            && let Some(first) = self.firsts.get_mut(at)
        {
            *first = key.clone();
        }
        run.keys.insert(slot, key);
        run.values.insert(slot, value);
        self.len += 1;
        if run.keys.len() > 2 * RUN {
            let (keys, values) = (run.keys.split_off(RUN), run.values.split_off(RUN));
            if let Some(first) = keys.first() {
                self.firsts.insert(at + 1, first.clone());
                self.runs.insert(at + 1, Arc::new(Run { keys, values }));
            }
        }
        None
    }

    /// Takes a key out; returns its value.
    pub fn remove(&mut self, key: V<'_>) -> Option<Value> {
        let at = self.run_of(key);
        let run = self.runs.get_mut(at)?;
        let slot = run.find(key).ok()?;
        let run = Arc::make_mut(run);
        run.keys.remove(slot);
        let old = run.values.remove(slot);
        match run.keys.first() {
            Some(first) => {
                if let Some(place) = self.firsts.get_mut(at) {
                    *place = first.clone();
                }
            }
            None => {
                self.runs.remove(at);
                self.firsts.remove(at);
            }
        }
        self.len -= 1;
        Some(old)
    }
}
