//! What all connections together may hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Amounts of up to this many bytes are not counted: connections are, and each holds one of them at a time.
pub const SMALL: usize = 16 << 10;

/// A number of bytes that are shared by all. Clones are the same budget.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    held: AtomicUsize,
    limit: usize,
}

/// Nothing is left of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

/// A part of a budget, given back when it is dropped.
#[derive(Debug)]
pub struct Held {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Shared {
            held: AtomicUsize::new(0),
            limit,
        }))
    }

    /// Nothing yet, to be added to.
    pub fn none(&self) -> Held {
        Held {
            budget: self.clone(),
            bytes: 0,
        }
    }

    /// A part of it.
    pub fn take(&self, bytes: usize) -> Result<Held, Spent> {
        let mut held = self.none();
        held.add(bytes).map(|()| held)
    }

    /// How many bytes are held now.
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// How many bytes may be held.
    pub fn limit(&self) -> usize {
        self.0.limit
    }
}

impl Held {
    /// Takes more.
    pub fn add(&mut self, bytes: usize) -> Result<(), Spent> {
        let shared = &self.budget.0;
        let before = shared.held.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > shared.limit {
            shared.held.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Spent);
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Gives some of it back.
    pub fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        if bytes == 0 {
            return;
        }
        self.budget.0.held.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }

    /// Takes more or gives back, so that `bytes` are held.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Spent> {
        match bytes.checked_sub(self.bytes) {
            // threads would meet here for nothing
            Some(0) => Ok(()),
            Some(more) => self.add(more),
            None => {
                let shared = &self.budget.0;
                shared.held.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
                self.bytes = bytes;
                Ok(())
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.0.held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Spent};

    #[test]
    fn what_is_dropped_comes_back() {
        let budget = Budget::new(100);
        let mut one = budget.take(60).unwrap();
        assert_eq!(budget.take(41).err(), Some(Spent));
        assert_eq!(one.add(40), Ok(()));
        assert_eq!(one.add(1), Err(Spent));
        assert_eq!(one.resize(10), Ok(()));
        assert_eq!(budget.held(), 10);
        drop(one);
        assert_eq!(budget.held(), 0);
    }
}
