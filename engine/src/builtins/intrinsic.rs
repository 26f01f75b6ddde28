//! Intrinsics: fast paths of calls that work on the bytes of strings in place, without collecting the operands.

/// Type of an intrinsic's result, which is computed as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicResult {
    /// `true` if the result is not zero.
    Bool,
    /// The integer itself.
    Int,
}

/// Fast path of a function for strings in common formats. A result of `None` has no meaning: the full function must be
/// called, since the string may be valid in another format, and only the full function reports errors.
#[derive(Clone, Copy)]
pub enum IntrinsicFunction {
    /// Function of the bytes of one string.
    One(IntrinsicResult, fn(&[u8]) -> Option<i64>),
    /// Function of the bytes of two strings.
    Two(IntrinsicResult, fn(&[u8], &[u8]) -> Option<i64>),
}

impl IntrinsicFunction {
    /// Returns the type of its result.
    pub fn result_kind(self) -> IntrinsicResult {
        match self {
            Self::One(run, _) | Self::Two(run, _) => run,
        }
    }

    /// Returns the number of strings that it takes: 1 or 2.
    pub fn arity(self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Two(..) => 2,
        }
    }
}
