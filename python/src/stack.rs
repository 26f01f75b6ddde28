//! Stack of an evaluation. Deep evaluations continue on another stack, which newer interpreters treat as a stack overflow. Python
//! code therefore runs only on stacks that the interpreter knows.

use std::cell::Cell;

use pyo3::Python;

thread_local! {
    /// Start of an evaluation of this thread: an address on its stack, and the remaining bytes below it.
    static BASE: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Runs an evaluation that may call Python code.
#[inline]
pub fn begin<R>(evaluate: impl FnOnce() -> R) -> R {
    let marker = 0_u8;
    let remaining = stacker::remaining_stack().unwrap_or(0);
    let before = BASE.replace(Some((std::ptr::from_ref(&marker).addr(), remaining)));
    let result = evaluate();
    BASE.set(before);
    result
}

/// Returns `true` if this is the stack on which the thread started the evaluation.
pub fn is_own() -> bool {
    let marker = 0_u8;
    let address = std::ptr::from_ref(&marker).addr();
    BASE.get().is_none_or(|(base, remaining)| {
        base.checked_sub(address)
            .is_some_and(|used_bytes| used_bytes < remaining)
    })
}

/// Returns `true` if the interpreter checks the address of its stack.
pub fn is_looked_at(py: Python<'_>) -> bool {
    py.version_info() >= (3, 14)
}

/// Runs Python code: directly, or on a new thread if this is not a stack that the interpreter knows. Returns `None` if the
/// interpreter has shut down.
pub fn on_own<R: Send>(run: impl FnOnce() -> R + Send) -> Option<R> {
    if is_own() {
        Some(run())
    } else {
        elsewhere(run)
    }
}

#[cold]
fn elsewhere<R: Send>(run: impl FnOnce() -> R + Send) -> Option<R> {
    let spawned = || std::thread::scope(|scope| scope.spawn(run).join().ok());
    // the other thread needs the lock, which this one may hold
    Python::try_attach(|py| py.detach(spawned)).flatten()
}
