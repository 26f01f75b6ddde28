//! Cache of responses across evaluations.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::host::HttpResponse;
use crate::limits::RESPONSE_CACHE_BYTES;
use crate::value::Value;

/// Responses by request, shared by all evaluations of an engine. If it exceeds its size, the oldest entries are
/// evicted.
pub struct ResponseCache {
    most_bytes: usize,
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    entries: HashMap<Arc<[u8]>, CacheEntry, foldhash::fast::RandomState>,
    /// Keys in the order of insertion.
    order: BTreeMap<u64, Arc<[u8]>>,
    next: u64,
    bytes: usize,
}

struct CacheEntry {
    number: u64,
    bytes: usize,
    response: Arc<CachedResponse>,
}

pub struct CachedResponse {
    pub response: HttpResponse,
    /// Decoded body, if it is cached, too.
    pub decoded: Option<Value>,
    /// Expiry time, in nanoseconds since 1970.
    pub expires: i64,
}

impl CachedResponse {
    /// Returns the approximate memory size in bytes.
    fn bytes(&self) -> usize {
        let headers = self.response.headers.iter();
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        let body = self.response.body.len();
        // a decoded body is assumed to be as large as its text
        headers + body * (1 + usize::from(self.decoded.is_some()))
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        Self::new(RESPONSE_CACHE_BYTES)
    }
}

impl ResponseCache {
    /// Returns an empty cache. Entries are evicted so that keys and responses stay within `most_bytes`.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            state: Mutex::default(),
        }
    }

    /// Returns the size of all entries in bytes.
    pub fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Removes all entries. Takes the lock of the cache.
    pub fn clear(&self) {
        *self.state.lock() = CacheState::default();
    }

    /// Returns the cached response to a request, even if it has expired. Takes the lock of the cache.
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<CachedResponse>> {
        let state = self.state.lock();
        state.entries.get(key).map(|entry| entry.response.clone())
    }

    /// Caches a response, unless it is larger than the whole cache.
    pub(super) fn put(&self, key: &[u8], response: CachedResponse) {
        let bytes = key.len() + response.bytes();
        let mut state = self.state.lock();
        state.remove(key);
        if bytes > self.most_bytes {
            return;
        }
        while state.bytes + bytes > self.most_bytes && state.evict() {}
        state.insert(key.into(), response, bytes);
    }

    /// Removes a response, if it is cached. Takes the lock of the cache.
    pub(super) fn remove(&self, key: &[u8]) {
        self.state.lock().remove(key);
    }
}

impl CacheState {
    fn insert(&mut self, key: Arc<[u8]>, response: CachedResponse, bytes: usize) {
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        self.bytes += bytes;
        let response = Arc::new(response);
        let entry = CacheEntry {
            number,
            bytes,
            response,
        };
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.number);
            self.bytes -= entry.bytes;
        }
    }

    /// Evicts the oldest entry. Returns `false` if the cache is empty.
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
    fn the_oldest_entry_is_evicted_first() {
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
