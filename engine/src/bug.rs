//! Violated invariants.
//!
//! Examples: a slot that a plan does not have, a rule with an unknown number, a result of the wrong kind. Such a defect
//! must never become a result, because an undefined document of a policy may mean *allow*. [`bug!`] panics where the
//! invariant is violated, so that nothing is computed from an invalid value. Each entry point of the public API catches
//! the panic and returns [`Error::Internal`](crate::Error::Internal).

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::SliceIndex;

/// Panics because an invariant of this crate is violated. The operand is a `&str` that describes the violation.
macro_rules! bug {
    ($what:expr) => {
        $crate::bug::violated($what)
    };
}
pub(crate) use bug;

/// The panic of [`bug!`], out of line so that a check costs its caller a jump.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(
    clippy::panic,
    reason = "a violated invariant ends the evaluation, and its entry point reports an internal error"
)]
pub fn violated(what: &str) -> ! {
    panic!("invariant violated: {what}")
}

/// Calls `run`; a panic within it becomes an error with its message.
///
/// Everything that a panic interrupts is dropped: an evaluation with its memory, or the next state of an engine, which
/// is published only at the end of a change. So callers never see a half-finished state.
pub fn catch<R>(run: impl FnOnce() -> R) -> Result<R, InternalError> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.map_err(|payload| InternalError::new(panic_message(payload)))
}

/// A violated invariant, or a panic of a host function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError {
    message: String,
}

impl InternalError {
    /// Creates an error with the message of a panic, which [`panic_message`] returns.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Returns the message without `internal error: `.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error: {}", self.message)
    }
}

impl std::error::Error for InternalError {}

/// Returns the message of a caught panic, for hosts that report a panic as an error.
///
/// The payload is leaked, because its destructor may panic as well.
///
/// ```
/// let payload = std::panic::catch_unwind(|| panic!("out of range")).unwrap_err();
/// assert_eq!(solon::panic_message(payload), "out of range");
/// ```
#[cold]
pub fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let text = match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "panic without a message".to_owned(),
    };
    // The payload of a host function's panic may panic itself when it is dropped.
    std::mem::forget(payload);
    text
}

/// Ranges of slices and texts whose bounds were computed from the same slice or text.
pub trait Within {
    /// Returns the part of the slice or text in `range`.
    ///
    /// # Panics
    /// Panics with [`bug!`] if the range exceeds the bounds.
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self;
}

/// Ranges of slices that are modified. Bounds are computed from the same slice.
pub trait WithinMut<T> {
    /// Returns the part of the slice in `range`.
    ///
    /// # Panics
    /// Panics with [`bug!`] if the range exceeds the bounds.
    fn within_mut<I: SliceIndex<[T], Output = [T]>>(&mut self, range: I) -> &mut [T];
}

impl<T> WithinMut<T> for [T] {
    #[inline]
    fn within_mut<I: SliceIndex<[T], Output = [T]>>(&mut self, range: I) -> &mut [T] {
        self.get_mut(range).unwrap_or_else(|| bug!(OUT_OF_BOUNDS))
    }
}

const OUT_OF_BOUNDS: &str = "a range exceeds the bounds of the slice or text it was computed from";

impl<T> Within for [T] {
    #[inline]
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        self.get(range).unwrap_or_else(|| bug!(OUT_OF_BOUNDS))
    }
}

impl Within for str {
    #[inline]
    fn within<I: SliceIndex<Self, Output = Self>>(&self, range: I) -> &Self {
        self.get(range).unwrap_or_else(|| bug!(OUT_OF_BOUNDS))
    }
}
