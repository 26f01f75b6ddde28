//! Answers that outlive the evaluation which asked for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::host::HttpResponse;
use crate::limits::RESPONSE_CACHE_BYTES;
use crate::value::Value;

/// Answers by request, shared by all evaluations of an engine. What came first goes first when they get too many.
pub struct ResponseCache {
    most_bytes: usize,
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    entries: HashMap<Arc<[u8]>, CacheEntry, foldhash::fast::RandomState>,
    /// The keys in the order they came.
    order: BTreeMap<u64, Arc<[u8]>>,
    next: u64,
    bytes: usize,
}

struct CacheEntry {
    number: u64,
    bytes: usize,
    response: Arc<CachedResponse>,
}

/// A kept answer.
pub struct CachedResponse {
    /// The answer.
    pub response: HttpResponse,
    /// What its body decodes to, if that is kept as well.
    pub decoded: Option<Value>,
    /// When it becomes stale, in nanoseconds since 1970.
    pub expires: i64,
}

impl CachedResponse {
    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        let headers = self.response.headers.iter();
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        let body = self.response.body.len();
        // a decoded body is taken for as large as its text
        headers + body * (1 + usize::from(self.decoded.is_some()))
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        Self::new(RESPONSE_CACHE_BYTES)
    }
}

impl ResponseCache {
    /// A cache of at most so many bytes.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            state: Mutex::default(),
        }
    }

    /// Bytes of all that is kept.
    pub fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.state.lock() = CacheState::default();
    }

    /// What is kept for a request.
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<CachedResponse>> {
        let held = self.state.lock();
        held.entries.get(key).map(|entry| entry.response.clone())
    }

    /// Keeps an answer, unless it alone is too large.
    pub(super) fn put(&self, key: &[u8], kept: CachedResponse) {
        let bytes = key.len() + kept.bytes();
        let mut held = self.state.lock();
        held.remove(key);
        if bytes > self.most_bytes {
            return;
        }
        while held.bytes + bytes > self.most_bytes && held.evict() {}
        held.insert(key.into(), kept, bytes);
    }

    /// Forgets an answer.
    pub(super) fn remove(&self, key: &[u8]) {
        self.state.lock().remove(key);
    }
}

impl CacheState {
    fn insert(&mut self, key: Arc<[u8]>, kept: CachedResponse, bytes: usize) {
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        self.bytes += bytes;
        let kept = Arc::new(kept);
        let entry = CacheEntry {
            number,
            bytes,
            response: kept,
        };
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.number);
            self.bytes -= entry.bytes;
        }
    }

    /// Forgets what came first; `false` when there is nothing.
    fn evict(&mut self) -> bool {
        let Some((_, key)) = self.order.pop_first() else {
            return false;
        };
        if let Some(entry) = self.entries.remove(&*key) {
            self.bytes -= entry.bytes;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached_response(body: usize) -> CachedResponse {
        CachedResponse {
            response: HttpResponse {
                body: vec![0; body],
                ..HttpResponse::default()
            },
            decoded: None,
            expires: 0,
        }
    }

    #[test]
    fn what_came_first_goes_first() {
        let cache = ResponseCache::new(100);
        cache.put(b"a", cached_response(39));
        cache.put(b"b", cached_response(39));
        assert_eq!(cache.bytes(), 80);
        cache.put(b"a", cached_response(49));
        assert_eq!(cache.bytes(), 90);
        cache.put(b"c", cached_response(39));
        assert!(cache.get(b"b").is_none());
        assert!(cache.get(b"a").is_some() && cache.get(b"c").is_some());
        cache.put(b"c", cached_response(200));
        assert!(cache.get(b"c").is_none());
        assert_eq!(cache.bytes(), 50);
        cache.remove(b"a");
        assert_eq!(cache.bytes(), 0);
    }
}
