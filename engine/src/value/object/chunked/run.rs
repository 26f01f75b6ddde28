//! Sorted pairs with a lazily built hash table of their keys.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::index::Indexed as _;
use crate::value::order::hash;
use crate::value::{RefRepr, Repr, Value, ValueRef, search};

/// Maximum number of pairs of a run.
pub const FULL: usize = 512;

/// Number of lookups by binary search after which the hash table is built.
const SEARCHES: u8 = 16;

/// Sorted pairs, with a hash table once searches are frequent.
#[derive(Default)]
pub struct SortedRun {
    keys: Vec<Value>,
    values: Vec<Value>,
    table: OnceLock<KeyTable>,
    /// Number of lookups by binary search, up to [`SEARCHES`].
    searches: AtomicU8,
}

/// Hash table of positions plus one, with linear probing. 0 is a free slot.
struct KeyTable(Box<[u16]>);

impl KeyTable {
    fn new(keys: &[Value]) -> Self {
        let mut slots = vec![0; (2 * keys.len()).next_power_of_two()];
        let mask = slots.len() - 1;
        for (key, number) in keys.iter().zip(1_u16..) {
            let mut slot = start(key.borrow(), mask);
            while slots
                .get(slot)
                .is_some_and(|number_in_slot| *number_in_slot != 0)
            {
                slot = (slot + 1) & mask;
            }
            *slots.item_mut(slot) = number;
        }
        Self(slots.into())
    }

    #[inline]
    fn find(&self, keys: &[Value], key: ValueRef<'_>) -> Option<usize> {
        let mask = self.0.len().wrapping_sub(1);
        let mut slot = start(key, mask);
        loop {
            let position = usize::from(*self.0.get(slot)?).checked_sub(1)?;
            let candidate = keys.get(position)?;
            let is_same = match (candidate, &key) {
                (Value(Repr::Short(candidate_key)), ValueRef(RefRepr::Short(key))) => {
                    candidate_key == key
                }
                (candidate_key, key) => candidate_key.borrow() == *key,
            };
            if is_same {
                return Some(position);
            }
            slot = (slot + 1) & mask;
        }
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the lowest bits are wanted"
)]
fn start(key: ValueRef<'_>, mask: usize) -> usize {
    hash(key) as usize & mask
}

/// A copy has no hash table, because it is made for a change of its keys.
impl Clone for SortedRun {
    fn clone(&self) -> Self {
        Self::new(self.keys.clone(), self.values.clone())
    }
}

impl SortedRun {
    /// Creates a run from sorted distinct keys and as many values.
    pub fn new(keys: Vec<Value>, values: Vec<Value>) -> Self {
        Self {
            keys,
            values,
            table: OnceLock::new(),
            searches: AtomicU8::new(0),
        }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn keys(&self) -> &[Value] {
        &self.keys
    }

    pub fn into_pairs(self) -> impl Iterator<Item = (Value, Value)> {
        self.keys.into_iter().zip(self.values)
    }

    /// Takes the pair at a position out of a run that is being consumed. Returns `None` after the last.
    pub fn take(&mut self, position: usize) -> Option<(Value, Value)> {
        let key = self.keys.get_mut(position).map(std::mem::take)?;
        Some((key, self.values.get_mut(position).map(std::mem::take)?))
    }

    /// Returns the first key, or `None` if the run is empty.
    pub fn first(&self) -> Option<&Value> {
        self.keys.first()
    }

    /// Returns the pairs in key order.
    pub fn iter(&self) -> std::iter::Zip<std::slice::Iter<'_, Value>, std::slice::Iter<'_, Value>> {
        self.keys.iter().zip(self.values.iter())
    }

    /// Returns the position of a key, or as an error that for its insertion.
    pub fn find(&self, key: ValueRef<'_>) -> Result<usize, usize> {
        search::find(&self.keys, key)
    }

    /// Returns the value under a key, or `None`. Uses the table if there is one.
    #[inline]
    pub fn get(&self, key: ValueRef<'_>) -> Option<&Value> {
        let position = match self.table.get() {
            Some(table) => table.find(&self.keys, key)?,
            None => self.search(key)?,
        };
        self.values.get(position)
    }

    /// Finds a key by binary search, and builds the hash table after many searches.
    fn search(&self, key: ValueRef<'_>) -> Option<usize> {
        let searches = self.searches.load(Ordering::Relaxed);
        if searches < SEARCHES {
            self.searches.store(searches + 1, Ordering::Relaxed);
        } else if self.keys.len() < usize::from(u16::MAX) {
            self.table.get_or_init(|| KeyTable::new(&self.keys));
        }
        self.find(key).ok()
    }

    /// Returns a value for modification, or `None` for a position after the last.
    pub fn value_mut(&mut self, position: usize) -> Option<&mut Value> {
        self.values.get_mut(position)
    }

    /// Inserts a pair at a position and drops the table. The caller keeps the order.
    pub fn insert(&mut self, position: usize, key: Value, value: Value) {
        self.forget();
        self.keys.insert(position, key);
        self.values.insert(position, value);
    }

    /// Removes the pair at a position and drops the table.
    pub fn remove(&mut self, position: usize) {
        self.forget();
        self.keys.remove(position);
        self.values.remove(position);
    }

    /// Splits off the pairs after the first [`FULL`] ones, if there are as many again.
    pub fn overflow(&mut self) -> Option<Self> {
        if self.keys.len() <= 2 * FULL {
            return None;
        }
        self.forget();
        Some(Self::new(
            self.keys.split_off(FULL),
            self.values.split_off(FULL),
        ))
    }

    fn forget(&mut self) {
        self.table.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::RefRepr;
    use crate::value::Repr;

    fn run(keys: impl Iterator<Item = i64>) -> SortedRun {
        let keys: Vec<Value> = keys.map(|number| Value(Repr::Int(number))).collect();
        SortedRun::new(keys.clone(), keys)
    }

    fn look_up_all(run: &SortedRun, key: i64) -> Option<i64> {
        match run.get(ValueRef(RefRepr::Int(key))) {
            Some(Value(Repr::Int(number))) => Some(*number),
            _ => None,
        }
    }

    #[test]
    fn keys_are_found_by_search_and_by_table() {
        let run = run((0..600).map(|n| 3 * n));
        for round in 0..2 {
            for key in 0..1800 {
                assert_eq!(
                    look_up_all(&run, key),
                    (key % 3 == 0).then_some(key),
                    "{round}"
                );
            }
        }
        assert!(run.table.get().is_some());
        assert_eq!(
            run.get(ValueRef(RefRepr::Decimal(1, 30))).map(Value::kind),
            Some(crate::value::Kind::Number)
        );
    }

    #[test]
    fn changes_drop_the_table() {
        let mut run = run(0..600);
        (0..100).for_each(|key| assert_eq!(look_up_all(&run, key), Some(key)));
        run.remove(7);
        assert_eq!(
            (look_up_all(&run, 7), look_up_all(&run, 8)),
            (None, Some(8))
        );
        (0..100).for_each(|_| assert_eq!(look_up_all(&run, 599), Some(599)));
        run.insert(7, Value(Repr::Int(7)), Value(Repr::Int(70)));
        assert_eq!(
            (look_up_all(&run, 7), look_up_all(&run, 8)),
            (Some(70), Some(8))
        );
        (0..100).for_each(|_| assert_eq!(look_up_all(&run.clone(), 599), Some(599)));
    }
}
