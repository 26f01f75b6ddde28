//! Maps of a few entries.

use std::hash::Hash;

use hashbrown::HashMap;

/// Number of entries up to which a linear scan is faster than hashing.
const SCANNED: usize = 16;

/// A map in insertion order. Bodies have few variables and few lookups: up to `SCANNED` entries, keys are compared one
/// by one.
#[derive(Clone, Debug)]
pub struct SmallMap<K, V> {
    entries: Vec<(K, V)>,
    /// Index of each key, once there are more than `SCANNED`.
    positions: Option<Box<HashMap<K, usize>>>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            positions: None,
        }
    }
}

impl<K: Clone + Eq + Hash, V> SmallMap<K, V> {
    #[inline]
    fn find(&self, key: &K) -> Option<usize> {
        match &self.positions {
            Some(positions) => positions.get(key).copied(),
            // recent entries are looked up most often
            None => self
                .entries
                .iter()
                .rposition(|(entry_key, _)| entry_key == key),
        }
    }

    /// Returns the value of a key, or `None`. Scans few entries, and hashes otherwise.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        let (_, value) = self.entries.get(self.find(key)?)?;
        Some(value)
    }

    /// Mutable version of [`Self::get`], or `None`.
    #[inline]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let position = self.find(key)?;
        let (_, value) = self.entries.get_mut(position)?;
        Some(value)
    }

    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.find(key).is_some()
    }

    /// Sets the value of a key and returns the previous one, if there was one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(slot) = self.get_mut(&key) {
            return Some(std::mem::replace(slot, value));
        }
        let position = self.entries.len();
        if let Some(positions) = &mut self.positions {
            positions.insert(key.clone(), position);
        }
        self.entries.push((key, value));
        if self.positions.is_none() && position == SCANNED {
            let keys = self.entries.iter().map(|(key, _)| key.clone());
            self.positions = Some(Box::new(keys.zip(0..).collect()));
        }
        None
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries except the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if let Some(positions) = &mut self.positions {
            for (key, _) in self.entries.iter().skip(len) {
                positions.remove(key);
            }
        }
        self.entries.truncate(len);
    }

    /// Iterates over the entries in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_few_and_many_keys() {
        let mut map = SmallMap::default();
        for number in 0..40 {
            assert_eq!(map.insert(number, number), None);
            assert!((0..=number).all(|smaller| map.get(&smaller) == Some(&smaller)));
            assert_eq!(map.get(&(number + 1)), None);
        }
        assert_eq!(map.insert(20, 0), Some(20));
        for len in (0..40).rev() {
            map.truncate(len);
            assert_eq!(map.len(), len);
            assert!((0..40).all(|number| map.contains(&number) == (number < len)));
        }
        assert!(map.is_empty());
    }
}
