//! Large objects in the making: a reader puts pairs aside in the order of its source, so that it never holds all of them
//! a second time.

use super::chunked::{Chunked, FULL, Run};
use super::{Object, Value};

/// Pairs in the order of a source.
#[derive(Default)]
pub struct Growing {
    /// Each in the order of its keys, and all but the last full.
    runs: Vec<Run>,
    len: usize,
}

impl Growing {
    /// Pairs that are put aside at once.
    pub const PART: usize = FULL;

    /// Puts pairs aside: [`Self::PART`] of them, or the last ones.
    pub fn add(&mut self, pairs: impl ExactSizeIterator<Item = (Value, Value)>) {
        let count = pairs.len();
        let (mut keys, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (key, value) in pairs {
            keys.push(key);
            values.push(value);
        }
        self.len += count;
        if !keys.is_sorted() {
            let mut pairs: Vec<_> = keys.drain(..).zip(values.drain(..)).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            for (key, value) in pairs {
                keys.push(key);
                values.push(value);
            }
        }
        self.runs.push(Run::new(keys, values));
    }

    /// The object; of equal keys the last counts.
    pub fn finish(mut self) -> Object {
        if !self.is_in_order() {
            let mut order: Vec<u32> = (0..).take(self.len).collect();
            // the runs are found to be in order, and merged
            order.sort_by(|a, b| self.key(*a).cmp(&self.key(*b)));
            order.dedup_by(|later, first| {
                let same = self.key(*later) == self.key(*first);
                if same {
                    *first = *later;
                }
                same
            });
            if order.len() < self.len {
                return self.picked(&order);
            }
            self.arrange(&mut order);
        }
        if self.len <= Object::SHAPED {
            let pairs = self.runs.into_iter().flat_map(Run::into_pairs);
            return Object::from_sorted(pairs.collect());
        }
        Object::chunked(Chunked::from_runs(self.runs))
    }

    fn is_in_order(&self) -> bool {
        let keys = self.runs.iter().flat_map(Run::keys);
        keys.is_sorted_by(|a, b| a < b)
    }

    fn place(at: u32) -> (usize, usize) {
        let at = at as usize;
        (at / FULL, at % FULL)
    }

    fn key(&self, at: u32) -> Option<&Value> {
        let (run, slot) = Self::place(at);
        self.runs.get(run)?.keys().get(slot)
    }

    fn take(&mut self, at: u32) -> Option<(Value, Value)> {
        let (run, slot) = Self::place(at);
        self.runs.get_mut(run)?.take(slot)
    }

    fn put(&mut self, at: u32, pair: (Value, Value)) {
        let (run, slot) = Self::place(at);
        if let Some(run) = self.runs.get_mut(run) {
            run.put(slot, pair);
        }
    }

    /// The object of the pairs at some places.
    fn picked(mut self, order: &[u32]) -> Object {
        let pairs = order.iter().filter_map(|at| self.take(*at));
        if order.len() <= Object::SHAPED {
            return Object::from_sorted(pairs.collect());
        }
        Object::chunked(Chunked::collect(pairs, order.len()))
    }

    /// Brings the pairs into an order, circle by circle, without a second place for them.
    fn arrange(&mut self, order: &mut [u32]) {
        for start in (0..).take(order.len()) {
            let mut at = start;
            let Some(first) = Self::settle(order, at).filter(|from| *from != at) else {
                continue;
            };
            let Some(pair) = self.take(start) else {
                continue;
            };
            let mut from = first;
            while from != start {
                let moved = self.take(from);
                self.put(at, moved.unwrap_or_default());
                at = from;
                from = Self::settle(order, at).unwrap_or(start);
            }
            self.put(at, pair);
        }
    }

    /// From where the pair at a place comes; from then on it counts as being there.
    fn settle(order: &mut [u32], at: u32) -> Option<u32> {
        let from = order.get_mut(at as usize)?;
        Some(std::mem::replace(from, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The object of so many pairs, whose keys are made of their places.
    fn grown(count: usize, key: impl Fn(usize) -> usize) -> (Object, Vec<(Value, Value)>) {
        let number = |n: usize| Value::from(i64::try_from(n).unwrap());
        let pairs: Vec<_> = (0..count).map(|at| (number(key(at)), number(at))).collect();
        let mut growing = Growing::default();
        for part in pairs.chunks(Growing::PART) {
            growing.add(part.iter().cloned());
        }
        (growing.finish(), pairs)
    }

    #[test]
    fn pairs_come_into_the_order_of_their_keys() {
        let keys: [fn(usize) -> usize; 6] = [
            |at| at,
            |at| 10_000 - at,
            |at| at * 7919 % 10_007,
            |at| at / 2,
            |at| at % 600,
            |at| at % 3,
        ];
        for count in [0, 1, 64, 65, 511, 512, 513, 1024, 1500, 5000] {
            for key in keys {
                let (grown, pairs) = grown(count, key);
                let plain = Object::from_pairs(pairs);
                assert!(grown.iter().eq(plain.iter()), "{count}");
                assert_eq!(grown.len(), plain.len());
                assert_eq!(grown.shaped().is_some(), plain.shaped().is_some());
            }
        }
    }
}
