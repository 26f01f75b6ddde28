//! Declared effects of instructions.
//!
//! Optimisations decide by masks over these effects whether they may skip, repeat or move an instruction, so an
//! instruction that declares an effect unknown to a mask is left alone.

/// Effects and other properties of an instruction, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(u16);

impl Effects {
    /// No effect: the instruction may be moved, repeated or skipped.
    pub const NONE: Self = Self(0);
    /// The rest of the block runs once for each of several values.
    pub const LOOPS: Self = Self(1);
    /// Ends a block: the instruction is a terminator.
    pub const ENDS: Self = Self(1 << 1);
    /// Runs blocks.
    pub const NESTS: Self = Self(1 << 2);
    /// Makes a value in the arena.
    pub const ALLOCATES: Self = Self(1 << 3);
    /// Calls a built-in, which `with` may replace.
    pub const REPLACEABLE: Self = Self(1 << 4);
    /// Evaluates rules, or a function of the policy or of the host.
    pub const CALLS: Self = Self(1 << 5);
    /// May end the evaluation with an error. Errors of replacements are not included.
    pub const ERRS: Self = Self(1 << 6);
    /// Begins or ends the replacement of documents or functions.
    pub const SCOPE: Self = Self(1 << 7);
    /// Reads documents, which `with` may replace.
    pub const READS: Self = Self(1 << 8);
    /// The cost depends on the size of a collection.
    pub const LINEAR: Self = Self(1 << 9);
    /// Equal instructions of a scope have equal results, so the second is not needed.
    pub const SHAREABLE: Self = Self(1 << 10);
    /// The fast path evaluates it. A plan with any other instruction leaves the fast path.
    pub const FAST_PATH: Self = Self(1 << 11);

    /// Never continues, so the following instructions may read slots that nothing fills.
    pub const FAILS: Self = Self(1 << 12);

    /// Effects that matter to no optimisation that moves or repeats an instruction within its scope.
    pub const PURE: Self = Self::READS
        .or(Self::LINEAR)
        .or(Self::SHAREABLE)
        .or(Self::FAST_PATH);

    /// Returns the union of the effects.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if all of `effects` are declared. `NONE` always is.
    #[inline]
    pub const fn has(self, effects: Self) -> bool {
        effects.is_within(self)
    }

    /// Returns `true` if no other effects than these are declared.
    #[inline]
    pub const fn is_within(self, allowed: Self) -> bool {
        self.0 & !allowed.0 == 0
    }
}
