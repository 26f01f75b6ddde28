//! What there is in plans, by name, and a walk over all steps: for censuses and whoever looks for a step.

use super::plan::{Block, Callee, Collector, Comparison, Plan, Step, Target};
use super::rules::{Index, Rule, RuleKind, RuleSet};

macro_rules! kinds {
    ($type:ident: $($kind:ident)*) => {
        impl $type {
            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$(stringify!($kind)),*];

            /// The name of its kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => stringify!($kind),)*
                }
            }
        }
    };
}

kinds! { Step:
    Input Walk Each Base Rule Keyed Document Keys Call Custom Function Descend
    Holds Equal Compare Screen Fail IsArray IsObject
    Array Set Object Collect Aggregate Not Every And Or With EndWith
    Exists Value Append Insert Put Produce Solution
}
kinds! { Comparison: NotEqual Less LessOrEqual Greater GreaterOrEqual }
kinds! { Collector: Array Set Object }
kinds! { Target: Input Data ByRule ByBuiltin ByValue }
kinds! { Callee: Rule Builtin Custom }
kinds! { RuleKind: Complete Function Set Object }
kinds! { Index: All By }

impl Step {
    /// The blocks that the step runs itself; what follows it is not among them.
    pub fn blocks(&self) -> impl Iterator<Item = &[Self]> {
        let (first, second) = match self {
            Self::Collect { block, .. } | Self::Not(block) => (Some(block), None),
            Self::Aggregate(aggregate) => (Some(&aggregate.block), None),
            Self::Every(every) => (Some(&every.block), None),
            Self::And(pair) | Self::Or(pair) => (Some(&pair.0), Some(&pair.1)),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(|block| &**block)
    }
}

impl Step {
    /// Visits the blocks that the step runs itself, to change them.
    pub fn blocks_mut(&mut self, see: &mut impl FnMut(&mut Block)) {
        match self {
            Self::Collect { block, .. } | Self::Not(block) => see(block),
            Self::Aggregate(aggregate) => see(&mut aggregate.block),
            Self::Every(every) => see(&mut every.block),
            Self::And(pair) | Self::Or(pair) => {
                see(&mut pair.0);
                see(&mut pair.1);
            }
            _ => {}
        }
    }
}

impl Plan {
    /// Visits every step, those of inner blocks too.
    pub fn visit<'p>(&'p self, see: &mut impl FnMut(&'p Step)) {
        let mut open: Vec<&[Step]> = vec![&self.steps];
        while let Some(block) = open.pop() {
            for step in block {
                see(step);
                open.extend(step.blocks());
            }
        }
    }
}

impl RuleSet {
    /// All its plans: each rule's, the ones for known head terms, and the default's.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        let members = self.rules.iter().flat_map(Rule::members);
        members
            .flat_map(|rule| std::iter::once(&rule.plan).chain(&rule.keyed))
            .chain(&self.default)
    }
}
