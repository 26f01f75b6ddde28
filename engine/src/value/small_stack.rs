//! Small stacks, as callers may have them, for tests.

/// Runs a function on a thread with a small stack and waits for it, to test that recursion grows the stack.
pub fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    // stack frames of a build without optimisation are several times larger
    let size = if cfg!(debug_assertions) {
        1536 << 10
    } else {
        256 << 10
    };
    let thread = std::thread::Builder::new().stack_size(size);
    thread.spawn(work).unwrap().join().unwrap();
}
