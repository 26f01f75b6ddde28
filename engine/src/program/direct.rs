//! Calls that are none for the most common operands.

/// What a call does that needs none for the most common operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Looks for a constant string in an object, as a step of a path does, but for its default.
    Get,
    /// Adds.
    Plus,
    /// Takes away.
    Minus,
    /// Multiplies.
    Times,
}
