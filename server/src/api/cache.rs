//! Bounded cache that evicts the least recently used entry.

use std::borrow::Borrow;
use std::hash::{BuildHasher as _, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::{DefaultHashBuilder, HashMap};
use parking_lot::Mutex;

/// Number of shards, each with a lock, which keeps contention low.
const PARTS: usize = 16;

/// Values by key. A lookup is short enough for a reactor.
pub struct Cache<K, V> {
    shards: [Mutex<HashMap<K, CacheEntry<V>>>; PARTS],
    /// Maximum number of values of a shard.
    most: usize,
    hasher: DefaultHashBuilder,
    /// Number of insertions so far, used as a clock. Lookups do not advance it, because they would contend for it. All entries that
    /// were used since the last insertion therefore have the same age.
    insertions: AtomicU64,
}

struct CacheEntry<V> {
    value: Arc<V>,
    /// Clock value of the last use.
    used: u64,
}

impl<K: Hash + Eq + Clone, V> Cache<K, V> {
    /// Creates a cache of about `max` values; a few more are possible.
    pub fn new(max: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            most: max.div_ceil(PARTS).max(1),
            hasher: DefaultHashBuilder::default(),
            insertions: AtomicU64::new(0),
        }
    }

    fn part<Q: Hash + ?Sized>(&self, key: &Q) -> Option<&Mutex<HashMap<K, CacheEntry<V>>>> {
        let hash = usize::try_from(self.hasher.hash_one(key) % PARTS as u64);
        self.shards.get(hash.unwrap_or_default())
    }

    /// Returns the value of a key, if it is cached, and marks it as used. Takes the lock of one part of the cache.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        let mut part = self.part(key)?.lock();
        let entry = part.get_mut(key)?;
        entry.used = self.insertions.load(Ordering::Relaxed);
        Some(entry.value.clone())
    }

    /// Inserts a value unless the key is present, and returns the cached value.
    pub fn keep(&self, key: K, value: Arc<V>) -> Arc<V> {
        let Some(part) = self.part(&key) else {
            return value;
        };
        let mut part = part.lock();
        if let Some(entry) = part.get(&key) {
            return entry.value.clone();
        }
        if part.len() >= self.most
            && let Some(oldest) = part.iter().min_by_key(|(_, entry)| entry.used)
        {
            let oldest = oldest.0.clone();
            part.remove(&oldest);
        }
        let last_use = self.insertions.fetch_add(1, Ordering::Relaxed);
        part.insert(
            key,
            CacheEntry {
                value: value.clone(),
                used: last_use,
            },
        );
        value
    }

    /// Removes all entries.
    pub fn clear(&self) {
        for part in &self.shards {
            part.lock().clear();
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|part| part.lock().len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Cache;

    #[test]
    fn the_least_used_goes_first() {
        let cache: Cache<String, usize> = Cache::new(160);
        cache.keep("kept".to_owned(), Arc::new(7));
        for number in 0..10_000 {
            cache.keep(number.to_string(), Arc::new(number));
            assert_eq!(cache.get("kept").as_deref(), Some(&7));
        }
        assert!(cache.len() <= 160, "{}", cache.len());
        assert!(cache.get("9999").is_some());
        assert!(cache.get("0").is_none());
        assert_eq!(*cache.keep("kept".to_owned(), Arc::new(8)), 7);
        cache.clear();
        assert_eq!(cache.len(), 0);
    }
}
