//! Stack for walks over trees and values: their depth is bounded, but not by what small stacks bear.

/// What must be left for one level, and for whatever it calls.
const RED_ZONE: usize = if cfg!(debug_assertions) {
    96 << 10
} else {
    48 << 10
};

/// What is taken when the stack runs short: enough for all levels.
const MORE: usize = if cfg!(debug_assertions) {
    4 << 20
} else {
    1 << 20
};

/// Whether too little is left for one more level: what looks first pays for nothing else.
#[inline]
pub fn is_short() -> bool {
    stacker::remaining_stack().is_none_or(|left| left < RED_ZONE)
}

/// Runs one level of a recursive walk, on more stack when little is left.
#[inline]
pub fn level<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, MORE, walk)
}

/// Runs a walk over the operands of a call, which nest as deep as chains of operators are long. What nests below them
/// without looking at the stack, up to [`ParseOptions::NESTING`](crate::ParseOptions::NESTING) levels, fits into what is
/// left here.
#[inline]
pub fn operands<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(8 * RED_ZONE, 4 * MORE, walk)
}
