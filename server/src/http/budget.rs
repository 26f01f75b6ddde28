//! Memory budget of all connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size in bytes up to which buffers are not counted. The number of connections is limited, and each has one such buffer at a time.
pub const SMALL: usize = 16 << 10;

/// A shared number of bytes. Clones are the same budget.
#[derive(Clone, Debug)]
pub struct Budget(Arc<BudgetState>);

#[derive(Debug)]
struct BudgetState {
    reserved: AtomicUsize,
    limit: usize,
}

/// The budget is exhausted. Nothing was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded;

/// A reserved part of a budget, released on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    /// Creates a budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(BudgetState {
            reserved: AtomicUsize::new(0),
            limit,
        }))
    }

    /// Returns an empty reservation, which never fails.
    pub fn none(&self) -> Reservation {
        Reservation {
            budget: self.clone(),
            bytes: 0,
        }
    }

    pub fn take(&self, bytes: usize) -> Result<Reservation, BudgetExceeded> {
        let mut reservation = self.none();
        reservation.add(bytes).map(|()| reservation)
    }

    /// Returns the number of reserved bytes.
    pub fn reserved(&self) -> usize {
        self.0.reserved.load(Ordering::Relaxed)
    }

    /// Returns the limit in bytes, whatever is reserved.
    pub fn limit(&self) -> usize {
        self.0.limit
    }
}

impl Reservation {
    /// Reserves more bytes. Fails, and reserves none, if the budget is exhausted.
    pub fn add(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        let shared = &self.budget.0;
        let before = shared.reserved.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > shared.limit {
            shared.reserved.fetch_sub(bytes, Ordering::Relaxed);
            return Err(BudgetExceeded);
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Releases bytes, at most those that are reserved.
    pub fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        if bytes == 0 {
            return;
        }
        self.budget.0.reserved.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }

    /// Reserves or releases bytes, so that `bytes` are reserved. Fails, and changes nothing, if the budget is exhausted.
    pub fn resize(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        match bytes.checked_sub(self.bytes) {
            // avoids contention for no change
            Some(0) => Ok(()),
            Some(additional) => self.add(additional),
            None => {
                let shared = &self.budget.0;
                shared
                    .reserved
                    .fetch_sub(self.bytes - bytes, Ordering::Relaxed);
                self.bytes = bytes;
                Ok(())
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget
                .0
                .reserved
                .fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, BudgetExceeded};

    #[test]
    fn a_dropped_reservation_is_returned() {
        let budget = Budget::new(100);
        let mut first = budget.take(60).unwrap();
        assert_eq!(budget.take(41).err(), Some(BudgetExceeded));
        assert_eq!(first.add(40), Ok(()));
        assert_eq!(first.add(1), Err(BudgetExceeded));
        assert_eq!(first.resize(10), Ok(()));
        assert_eq!(budget.reserved(), 10);
        drop(first);
        assert_eq!(budget.reserved(), 0);
    }
}
