//! Shapes (hidden classes): the sorted keys that objects share.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use solon_syntax::stack;

use crate::value::{Value, ValueRef, search};

/// Maximum number of keys for a linear scan, which then beats a binary search.
pub(super) const SCANNED: usize = 16;

/// The sorted keys that objects share.
#[derive(Debug)]
pub struct Shape {
    pub(super) keys: Box<[Value]>,
    /// Unique among all shapes of the process, past ones included, so that inline caches may outlive their shapes.
    pub(super) number: u64,
}

/// Number of shape numbers that a thread reserves at once.
const BLOCK: u64 = 1 << 10;

/// Returns a number that no other call returns, at least 1. Threads reserve numbers in blocks.
#[inline]
fn next_number() -> u64 {
    /// The first number that no thread has reserved.
    static FREE: AtomicU64 = AtomicU64::new(BLOCK);
    thread_local! {
        /// The next number of this thread. At a multiple of [`BLOCK`] its reserved numbers are used up.
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    let mut number = NEXT.get();
    if number.is_multiple_of(BLOCK) {
        number = FREE.fetch_add(BLOCK, Ordering::Relaxed);
    }
    NEXT.set(number + 1);
    number
}

impl Shape {
    /// Creates a shape from sorted distinct keys.
    pub fn new(keys: Box<[Value]>) -> Self {
        Self {
            keys,
            number: next_number(),
        }
    }

    /// Returns the keys in order, without duplicates.
    pub fn keys(&self) -> &[Value] {
        &self.keys
    }

    /// Returns the position of a key, or `None`. Compares with each of a few keys, otherwise searches.
    #[inline]
    pub fn slot(&self, key: ValueRef<'_>) -> Option<usize> {
        // for a few keys, comparisons for equality are cheaper than an ordered search
        if self.keys.len() <= SCANNED {
            return search::position(&self.keys, key);
        }
        search::find(&self.keys, key).ok()
    }
}

/// Drops deeply nested keys on a larger stack.
impl Drop for Shape {
    #[inline]
    fn drop(&mut self) {
        stack::level(|| self.keys = Box::default());
    }
}
