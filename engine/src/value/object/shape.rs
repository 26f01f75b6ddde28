//! The keys that objects of one form share.

use solon_syntax::stack;

use crate::value::{V, Value, search};

/// Keys up to which a scan beats a binary search.
pub(super) const SCANNED: usize = 16;

/// The sorted keys that objects of one form share.
#[derive(Debug)]
pub struct Shape {
    pub(super) keys: Box<[Value]>,
}

impl Shape {
    /// Takes keys that are in order and distinct.
    pub fn new(keys: Box<[Value]>) -> Self {
        Self { keys }
    }

    /// The keys in order.
    pub fn keys(&self) -> &[Value] {
        &self.keys
    }

    /// The position of a key.
    #[inline]
    pub fn slot(&self, key: V<'_>) -> Option<usize> {
        // for a few keys comparing for equality is cheaper than ordering
        if self.keys.len() <= SCANNED {
            return search::position(&self.keys, key);
        }
        search::find(&self.keys, key).ok()
    }
}

/// As for objects, with the keys of one form.
impl Drop for Shape {
    #[inline]
    fn drop(&mut self) {
        stack::level(|| self.keys = Box::default());
    }
}
