//! Which stack an evaluation is on. Deep evaluations go on on another one, which newer interpreters take for an overflow: code
//! of Python runs on stacks that they know.

use std::cell::Cell;

use pyo3::Python;

thread_local! {
    /// Where an evaluation of this thread began: an address on its stack, and how much was left below it.
    static BASE: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Runs an evaluation, which may come to run code of Python.
#[inline]
pub fn begin<R>(evaluate: impl FnOnce() -> R) -> R {
    let here = 0_u8;
    let left = stacker::remaining_stack().unwrap_or(0);
    let before = BASE.replace(Some((std::ptr::from_ref(&here).addr(), left)));
    let result = evaluate();
    BASE.set(before);
    result
}

/// Whether this is the stack that the thread began the evaluation on.
pub fn is_own() -> bool {
    let here = 0_u8;
    let here = std::ptr::from_ref(&here).addr();
    BASE.get()
        .is_none_or(|(base, left)| base.checked_sub(here).is_some_and(|used| used < left))
}

/// Whether the interpreter looks at the address of the stack that it runs on.
pub fn is_looked_at(py: Python<'_>) -> bool {
    py.version_info() >= (3, 14)
}

/// Runs code of Python: here, or on a thread of its own where this is not the stack of an interpreter's. `None` when there is
/// no interpreter any more.
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
