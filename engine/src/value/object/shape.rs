//! The keys that objects of one form share.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use solon_syntax::stack;

use crate::value::{Value, ValueRef, search};

/// Keys up to which a scan beats a binary search.
pub(super) const SCANNED: usize = 16;

/// The sorted keys that objects of one form share.
#[derive(Debug)]
pub struct Shape {
    pub(super) keys: Box<[Value]>,
    /// No other shape of the process has or had it, so that inline caches outlive the shapes that they know.
    pub(super) number: u64,
}

/// Numbers that a thread takes at once.
const BLOCK: u64 = 1 << 10;

/// A number for a shape, from one on.
#[inline]
fn next_number() -> u64 {
    /// The first number that no thread has taken.
    static FREE: AtomicU64 = AtomicU64::new(BLOCK);
    thread_local! {
        /// The next number of this thread; where a block would begin, all numbers of the last one are given.
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
    /// Takes keys that are in order and distinct.
    pub fn new(keys: Box<[Value]>) -> Self {
        Self {
            keys,
            number: next_number(),
        }
    }

    /// The keys in order.
    pub fn keys(&self) -> &[Value] {
        &self.keys
    }

    /// The position of a key.
    #[inline]
    pub fn slot(&self, key: ValueRef<'_>) -> Option<usize> {
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
