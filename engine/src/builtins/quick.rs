//! Answers at a glance: what a call makes of the bytes of its strings where they lie, without gathering operands.

/// What kind of value an answer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing else than zero is `true`.
    Bool,
    /// The integer itself.
    Int,
}

/// The answer of a function for its strings, in the forms that nearly all have. `None` tells nothing: others may be
/// sound, too, and the function finds words for those that are not.
#[derive(Clone, Copy)]
pub enum Quick {
    /// Of one string.
    One(Answer, fn(&[u8]) -> Option<i64>),
    /// Of two.
    Two(Answer, fn(&[u8], &[u8]) -> Option<i64>),
}

impl Quick {
    /// What its answers stand for.
    pub fn answer(self) -> Answer {
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
