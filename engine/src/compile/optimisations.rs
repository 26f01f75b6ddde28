//! Optimisations that do not change results; each can be disabled by its name in [`Options::skipped_passes`].
//!
//! Transformations that decide which errors and prints are observable cannot be disabled: guards before a body, the end
//! of a search at its first solution, plans for known head terms, memoisation of bodies that print.

use super::compilation::Options;

macro_rules! optimisations {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Transformations that can be disabled without changing results.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Optimisation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Optimisation {
            /// All optimisations, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name for disabling it, that of the variant.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

optimisations! {
    /// Evaluates arrays, objects and sets of constants at compile time.
    FoldConstants,
    /// Specialises calls of built-ins for constant operands: patterns, layouts, units.
    SpecialiseCalls,
    /// Passes values to `sprintf` without building an array.
    SpreadArrays,
    /// Evaluates `startswith`, `endswith`, `contains` and common calls on strings in place (intrinsics).
    TestTexts,
    /// Does not memoise functions that cost less than the lookup.
    RepeatCheapCalls,
    /// Shares the keys of objects with known keys (shapes).
    ShapeObjects,
    /// Passes the elements of a comprehension to its aggregate one by one.
    FuseAggregates,
    /// Shares lookups within a body, and moves them out of loops.
    ShareLookups,
    /// Does not store unused keys of loops and unused orders of arrays.
    ForgetKeys,
    /// Turns repeated loops over one collection into hash joins.
    HashJoins,
    /// Inlines rules that are `true` or undefined.
    InlineRules,
    /// Inlines functions that only do lookups, comparisons and calls of built-ins.
    InlineCalls,
    /// Does not build sets with a single consumer.
    FuseSets,
    /// Ends loops for a constant member of a set at the first match.
    EndSearches,
    /// Selects rules with a decision tree over the input and arguments.
    IndexRules,
}

#[derive(Clone, Copy)]
pub(super) struct Optimisations(u32);

impl Optimisations {
    /// Returns all optimisations that the options do not disable.
    pub fn new(options: &Options) -> Self {
        let enabled = Optimisation::ALL
            .iter()
            .filter(|optimisation| !options.skips(optimisation.name()));
        Self(enabled.fold(0, |set, optimisation| set | bit(*optimisation)))
    }

    pub fn make(self, optimisation: Optimisation) -> bool {
        self.0 & bit(optimisation) != 0
    }
}

fn bit(optimisation: Optimisation) -> u32 {
    1 << optimisation as u32
}
