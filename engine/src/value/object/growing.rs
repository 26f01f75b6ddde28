//! Builder of large objects. A parser moves pairs into runs in the order of its source, so that it never stores all of
//! them twice.

use super::chunked::{Chunked, FULL, SortedRun};
use super::{Object, Value};

/// Pairs in the order of a source.
#[derive(Default)]
pub struct Growing {
    /// Invariant: each run is sorted, and all but the last are full.
    runs: Vec<SortedRun>,
    len: usize,
}

impl Growing {
    /// Number of pairs that are moved at once.
    pub const PART: usize = FULL;

    /// Moves pairs into a run: [`Self::PART`] of them, or the last ones.
    pub fn add(&mut self, pairs: impl ExactSizeIterator<Item = (Value, Value)>) {
        self.len += pairs.len();
        let (mut keys, mut values): (Vec<_>, Vec<_>) = pairs.unzip();
        if !keys.is_sorted() {
            let mut pairs: Vec<_> = keys.into_iter().zip(values).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            (keys, values) = pairs.into_iter().unzip();
        }
        self.runs.push(SortedRun::new(keys, values));
    }

    /// Returns the object. The last of pairs with equal keys wins.
    pub fn finish(self) -> Object {
        if !self.is_in_order() {
            let mut order: Vec<u32> = (0..).take(self.len).collect();
            // the sort detects the sorted runs and merges them
            order.sort_by(|a, b| self.key(*a).cmp(&self.key(*b)));
            order.dedup_by(|later, first| {
                let same_key = self.key(*later) == self.key(*first);
                if same_key {
                    *first = *later;
                }
                same_key
            });
            return self.in_order(&order);
        }
        if self.len <= Object::SHAPED {
            let pairs = self.runs.into_iter().flat_map(SortedRun::into_pairs);
            return Object::from_sorted(pairs.collect());
        }
        Object::chunked(Chunked::from_runs(self.runs))
    }

    fn is_in_order(&self) -> bool {
        let keys = self.runs.iter().flat_map(SortedRun::keys);
        keys.is_sorted_by(|a, b| a < b)
    }

    fn find_position(position: u32) -> (usize, usize) {
        let index = position as usize;
        (index / FULL, index % FULL)
    }

    fn key(&self, position: u32) -> Option<&Value> {
        let (run, slot) = Self::find_position(position);
        self.runs.get(run)?.keys().get(slot)
    }

    /// Takes a pair out. The memory of a run that is used up is kept for a new run of this object.
    fn take(&mut self, position: u32, pairs_left: &mut [usize]) -> Option<(Value, Value)> {
        let (run_index, slot) = Self::find_position(position);
        let run = self.runs.get_mut(run_index)?;
        let pair = run.take(slot);
        let pairs_left_in_run = pairs_left.get_mut(run_index)?;
        *pairs_left_in_run = pairs_left_in_run.saturating_sub(1);
        if *pairs_left_in_run == 0 {
            *run = SortedRun::default();
        }
        pair
    }

    /// Returns the object of the pairs at these positions.
    fn in_order(mut self, order: &[u32]) -> Object {
        let mut pairs_left: Vec<usize> = self.runs.iter().map(SortedRun::len).collect();
        let pairs = order
            .iter()
            .filter_map(|position| self.take(*position, &mut pairs_left));
        if order.len() <= Object::SHAPED {
            return Object::from_sorted(pairs.collect());
        }
        Object::chunked(Chunked::collect(pairs, order.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an object of `count` pairs whose keys are computed from their positions.
    fn grow(count: usize, key: impl Fn(usize) -> usize) -> (Object, Vec<(Value, Value)>) {
        let number = |n: usize| Value::from(i64::try_from(n).unwrap());
        let pairs: Vec<_> = (0..count)
            .map(|index| (number(key(index)), number(index)))
            .collect();
        let mut growing = Growing::default();
        for part in pairs.chunks(Growing::PART) {
            growing.add(part.iter().cloned());
        }
        (growing.finish(), pairs)
    }

    #[test]
    fn pairs_are_sorted_by_key() {
        let keys: [fn(usize) -> usize; 6] = [
            |index| index,
            |index| 10_000 - index,
            |index| index * 7919 % 10_007,
            |index| index / 2,
            |index| index % 600,
            |index| index % 3,
        ];
        for count in [0, 1, 64, 65, 511, 512, 513, 1024, 1500, 5000] {
            for key in keys {
                let (object, pairs) = grow(count, key);
                let plain = Object::from_pairs(pairs);
                assert!(object.iter().eq(plain.iter()), "{count}");
                assert_eq!(object.len(), plain.len());
                assert_eq!(object.shaped().is_some(), plain.shaped().is_some());
            }
        }
    }
}
