//! States that cannot be.
//!
//! A slot that a plan does not have, a rule with an unknown number, a result in the wrong place: none of them can be, and
//! none may pass for an answer, since in a policy nothing found may mean *allow*. Whoever meets one notes it here and goes
//! on with something harmless; the evaluation, or the compilation, then ends with an internal error.

use std::cell::Cell;
use std::slice::SliceIndex;

thread_local! {
    /// What this thread met first since it was last asked.
    static MET: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Notes a state that cannot be, and gives something to go on with until the evaluation ends.
///
/// Under a fuzzer it panics at once.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "what stands for the value is made where it is needed; a call would write it in parts"
)]
pub fn impossible<T: Default>(what: &'static str) -> T {
    note(what);
    T::default()
}

#[cold]
#[inline(never)]
fn note(what: &'static str) {
    #[cfg(fuzzing)]
    #[expect(clippy::panic, reason = "a fuzzer finds panics")]
    {
        panic!("impossible: {what}");
    }
    #[cfg(not(fuzzing))]
    if MET.get().is_none() {
        MET.set(Some(what));
    }
}

/// Whether this thread met such a state.
#[inline]
pub fn is_met() -> bool {
    MET.get().is_some()
}

/// What this thread met, if anything; forgotten from now on.
#[inline]
pub fn take() -> Option<&'static str> {
    // most often there is nothing to write
    if is_met() { MET.take() } else { None }
}

/// Runs something that may evaluate on its own, and ends with what it meets itself. What was met before is not its own,
/// and is not lost to it.
pub fn apart<R>(run: impl FnOnce() -> R) -> R {
    let before = take();
    let made = run();
    if before.is_some() {
        MET.set(before);
    }
    made
}

/// Parts of lists and of texts, at places that were found in them.
pub trait Within {
    /// The part at a range. One that lies beyond the end is a state that cannot be.
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self;
}

/// The same for what is to be changed.
pub trait WithinMut<T> {
    /// The part at a range. One that lies beyond the end is a state that cannot be.
    fn within_mut<I: SliceIndex<[T], Output = [T]>>(&mut self, range: I) -> &mut [T];
}

impl<T> WithinMut<T> for [T] {
    #[inline]
    fn within_mut<I: SliceIndex<[T], Output = [T]>>(&mut self, range: I) -> &mut [T] {
        self.get_mut(range).unwrap_or_else(|| impossible(BEYOND))
    }
}

const BEYOND: &str = "a place that was found in a list or a text lies beyond its end";

impl<T> Within for [T] {
    #[inline]
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        self.get(range).unwrap_or_else(|| impossible(BEYOND))
    }
}

impl Within for str {
    #[inline]
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        self.get(range).unwrap_or_else(|| impossible(BEYOND))
    }
}
