//! Intrinsics: fast paths of calls that work on the bytes of strings in place, without collecting the operands.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicResult {
    /// `true` if the result is not zero.
    Bool,
    Int,
}

/// Fast path of a function for strings in common formats. A result of `None` has no meaning: the full function must be
/// called, since the string may be valid in another format, and only the full function reports errors.
#[derive(Clone, Copy)]
pub enum IntrinsicFunction {
    One(IntrinsicResult, fn(&[u8]) -> Option<i64>),
    Two(IntrinsicResult, fn(&[u8], &[u8]) -> Option<i64>),
}

impl IntrinsicFunction {
    pub fn result_kind(self) -> IntrinsicResult {
        match self {
            Self::One(run, _) | Self::Two(run, _) => run,
        }
    }

    pub fn arity(self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Two(..) => 2,
        }
    }
}
