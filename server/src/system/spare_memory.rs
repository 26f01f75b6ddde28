//! Memory that is free, given back to the system.

use std::time::Duration;

/// What the allocator has to fetch from where it keeps what is free.
const BLOCK: usize = 64 << 20;

/// Has the allocator give back what was freed some time ago. It looks after that only where large blocks come and go, which
/// may be hours after the last one; this one is never written to.
pub fn give_back() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// The same for what was freed just now. Threads that start before it is given back take their memory out of it, and use
/// little of what they take.
pub fn give_back_all() {
    /// The allocator waits for a tenth of a second.
    const WAIT: Duration = Duration::from_millis(110);
    std::thread::sleep(WAIT);
    give_back();
}
