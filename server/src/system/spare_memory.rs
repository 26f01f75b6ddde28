//! Memory that is free, given back to the system.

use std::time::Duration;
use std::{io, thread};

use super::huge_pages;

/// What the allocator has to fetch from where it keeps what is free.
const BLOCK: usize = 64 << 20;

/// Has the allocator give back what was freed some time ago. It looks after that only where large blocks come and go, which
/// may be hours after the last one; this one is never written to.
pub fn give_back() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Runs work that leaves much free memory behind, on a thread of its own, and gives that back before other threads start:
/// they would take theirs out of it, and use little of what they take. What lies between parts that stay goes back when
/// the thread ends.
///
/// # Errors
/// That there is no such thread, or that it ended early.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    /// The allocator waits for a tenth of a second.
    const WAIT: Duration = Duration::from_millis(110);
    let run = || {
        let done = work();
        if huge_pages::are_taken() {
            thread::sleep(WAIT);
            give_back();
        }
        done
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, run)?;
        worker
            .join()
            .map_err(|_| io::Error::other("a thread ended early"))
    })
}
