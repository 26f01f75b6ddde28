//! What is kept because it may be asked for again: a bounded number, of which the least used goes first.

use std::borrow::Borrow;
use std::hash::{BuildHasher as _, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::{DefaultHashBuilder, HashMap};
use parking_lot::Mutex;

/// Parts with a lock each, so that threads seldom meet.
const PARTS: usize = 16;

/// Values by key. A lookup is short, so that a reactor may make it.
pub struct Cache<K, V> {
    parts: [Mutex<HashMap<K, Kept<V>>>; PARTS],
    /// Most values of a part.
    most: usize,
    hasher: DefaultHashBuilder,
    /// How many values were kept so far. Those that were used since the last one count as used at once: lookups of
    /// several threads would otherwise meet at this number.
    kept: AtomicU64,
}

struct Kept<V> {
    value: Arc<V>,
    /// When it was used last.
    used: u64,
}

impl<K: Hash + Eq + Clone, V> Cache<K, V> {
    /// A cache of at most so many values, or a few more.
    pub fn new(most: usize) -> Self {
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
            most: most.div_ceil(PARTS).max(1),
            hasher: DefaultHashBuilder::default(),
            kept: AtomicU64::new(0),
        }
    }

    fn part<Q: Hash + ?Sized>(&self, key: &Q) -> Option<&Mutex<HashMap<K, Kept<V>>>> {
        let hash = usize::try_from(self.hasher.hash_one(key) % PARTS as u64);
        self.parts.get(hash.unwrap_or_default())
    }

    /// The value of a key, if it is kept.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        let mut part = self.part(key)?.lock();
        let kept = part.get_mut(key)?;
        kept.used = self.kept.load(Ordering::Relaxed);
        Some(kept.value.clone())
    }

    /// Keeps a value, unless there is one of the key by now, and gives the one that is kept.
    pub fn keep(&self, key: K, value: Arc<V>) -> Arc<V> {
        let Some(part) = self.part(&key) else {
            return value;
        };
        let mut part = part.lock();
        if let Some(known) = part.get(&key) {
            return known.value.clone();
        }
        if part.len() >= self.most
            && let Some(oldest) = part.iter().min_by_key(|(_, kept)| kept.used)
        {
            let oldest = oldest.0.clone();
            part.remove(&oldest);
        }
        let used = self.kept.fetch_add(1, Ordering::Relaxed);
        part.insert(
            key,
            Kept {
                value: value.clone(),
                used,
            },
        );
        value
    }

    /// Forgets everything.
    pub fn clear(&self) {
        for part in &self.parts {
            part.lock().clear();
        }
    }

    /// How many values are kept.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.lock().len()).sum()
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
