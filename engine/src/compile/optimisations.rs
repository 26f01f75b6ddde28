//! Optimisations that no answer shows; each can be left out by its name in [`Options::skipped_passes`].
//!
//! What looks like one but decides which errors and prints are seen is no option: guards in front of a body, the first
//! solution that ends a search, plans for known head terms, results kept where a body prints.

use super::compilation::Options;

macro_rules! optimisations {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// What can be left out without a change in answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Optimisation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Optimisation {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name that leaves it out.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

optimisations! {
    /// Arrays, objects and sets of constants are constants.
    FoldConstants,
    /// Calls of built-ins are specialised for their constant operands: patterns, layouts, units.
    SpecialiseCalls,
    /// `sprintf` takes its values without an array around them.
    SpreadArrays,
    /// `startswith`, `endswith`, `contains` and calls of strings in usual forms are tested and answered where they stand.
    TestTexts,
    /// Results of functions that cost less than finding them again are not kept.
    RepeatCheapCalls,
    /// Objects whose keys are known share them.
    ShapeObjects,
    /// Aggregates take the elements of a comprehension one by one.
    FuseAggregates,
    /// A body looks a place up once, and outside of the loops that do not change it.
    ShareLookups,
    /// Loops do not note the keys that nobody reads, nor arrays an order that nobody sees.
    ForgetKeys,
    /// Loops that ask one collection again and again for elements with a known value find them by hash.
    HashJoins,
    /// Rules that are `true` or nothing are tested where they are asked.
    InlineRules,
    /// Functions that only look up, compare and call built-ins stand where they are called.
    InlineCalls,
    /// Sets that only one loop asks for are not made.
    FuseSets,
    /// Loops for a constant member of a set end with the first solution.
    EndSearches,
    /// Rules are found by a decision tree over what the input or an argument holds.
    IndexRules,
}

/// The optimisations that are made.
#[derive(Clone, Copy)]
pub(super) struct Optimisations(u32);

impl Optimisations {
    /// All that the options do not leave out.
    pub fn new(options: &Options) -> Self {
        let made = Optimisation::ALL
            .iter()
            .filter(|one| !options.skips(one.name()));
        Self(made.fold(0, |set, one| set | bit(*one)))
    }

    /// Whether one is made.
    pub fn make(self, one: Optimisation) -> bool {
        self.0 & bit(one) != 0
    }
}

fn bit(one: Optimisation) -> u32 {
    1 << one as u32
}
