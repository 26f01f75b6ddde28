//! Grows the stack for recursion over trees and values: their depth is limited, but exceeds what small stacks can hold.

/// Bytes that must remain for one level, including all functions that it calls.
const RED_ZONE: usize = if cfg!(debug_assertions) {
    96 << 10
} else {
    48 << 10
};

/// Bytes allocated when the stack runs short: enough for all levels.
const MORE: usize = if cfg!(debug_assertions) {
    4 << 20
} else {
    1 << 20
};

/// Returns `true` if the stack is too short for one more level. Checking this first avoids the cost of [`level`].
#[inline]
pub fn is_short() -> bool {
    stacker::remaining_stack().is_none_or(|remaining| remaining < RED_ZONE)
}

/// Runs one level of a recursion, on a new stack if the current one runs short.
#[inline]
pub fn level<R>(visit: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, MORE, visit)
}

/// Runs a recursion over the operands of a call, which nest as deep as chains of operators are long. Nodes below them,
/// which nest up to [`ParseOptions::NESTING`](crate::ParseOptions::NESTING) levels and do not check the stack, fit into
/// the remaining stack.
#[inline]
pub fn operands<R>(visit: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(8 * RED_ZONE, 4 * MORE, visit)
}
