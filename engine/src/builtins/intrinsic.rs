//! Answers at a glance: what a call makes of the bytes of its strings where they lie, without gathering operands.

/// What kind of value an answer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicResult {
    /// Nothing else than zero is `true`.
    Bool,
    /// The integer itself.
    Int,
}

/// The answer of a function for its strings, in the forms that nearly all have. `None` tells nothing: others may be
/// sound, too, and the function finds words for those that are not.
#[derive(Clone, Copy)]
pub enum IntrinsicFunction {
    /// Of one string.
    One(IntrinsicResult, fn(&[u8]) -> Option<i64>),
    /// Of two.
    Two(IntrinsicResult, fn(&[u8], &[u8]) -> Option<i64>),
}

impl IntrinsicFunction {
    /// What its answers stand for.
    pub fn result_kind(self) -> IntrinsicResult {
        match self {
            Self::One(answer, _) | Self::Two(answer, _) => answer,
        }
    }

    /// How many strings it is of.
    pub fn arity(self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Two(..) => 2,
        }
    }
}
