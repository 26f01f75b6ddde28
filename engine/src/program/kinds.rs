//! Kinds of steps by name, and traversal of all steps.

use super::index::Index;
use super::plan::{Block, Callee, Collector, Comparison, ModifierTarget, Operand, Plan, Step};
use super::rules::{Rule, RuleKind, RuleSet};

macro_rules! kinds {
    ($type:ident: $($kind:ident)*) => {
        impl $type {
            /// Names of all kinds.
            pub const KINDS: &[&str] = &[$(stringify!($kind)),*];

            /// Name of the kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => stringify!($kind),)*
                }
            }
        }
    };
}

kinds! { Step:
    Input Dot Scan Join Base BaseChild Rule Keyed Document Keys Call HostCall Function Descend
    IsTruthy Equal Compare Member Among Test Precheck Fail MayEqual IsArray IsObject
    MakeArray MakeSet MakeObject Collect Aggregate Not Every And Or Any Inlined Fused With EndWith
    Exists MemberFound Value ArrayAppend SetAdd SetAddOnce ObjectInsert Produce ResultSetAdd
}
kinds! { Comparison: NotEqual Less LessOrEqual Greater GreaterOrEqual }
kinds! { Collector: Array Bag Set Object }
kinds! { ModifierTarget: Input Data ByRule ByBuiltin ByValue Nowhere }
kinds! { Callee: Rule Builtin HostFunction }
kinds! { RuleKind: Complete Function Set Object }
kinds! { Index: All By }

impl Step {
    /// Iterates over the nested blocks of a step; the steps after it are not included.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, more): (Option<&Block>, &[Block]) = match self {
            Self::Collect { block, .. } | Self::Not(block) => (Some(block), &[]),
            Self::Aggregate(aggregate) => (Some(&aggregate.block), &[]),
            Self::Every(every) => (Some(&every.block), &[]),
            Self::And(pair) | Self::Or(pair) => (Some(&pair.0), std::slice::from_ref(&pair.1)),
            Self::Any(any) => (None, &any.blocks),
            Self::Inlined(inlined) => (None, &inlined.blocks),
            Self::Fused(fused) => (Some(&fused.plain), &fused.fused),
            _ => (None, &[]),
        };
        first.into_iter().chain(more)
    }

    /// Mutable version of [`Self::blocks`].
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (first, more): (Option<&mut Block>, &mut [Block]) = match self {
            Self::Collect { block, .. } | Self::Not(block) => (Some(block), &mut []),
            Self::Aggregate(aggregate) => (Some(&mut aggregate.block), &mut []),
            Self::Every(every) => (Some(&mut every.block), &mut []),
            Self::And(pair) | Self::Or(pair) => {
                (Some(&mut pair.0), std::slice::from_mut(&mut pair.1))
            }
            Self::Any(any) => (None, &mut any.blocks),
            Self::Inlined(inlined) => (None, &mut inlined.blocks),
            Self::Fused(fused) => (Some(&mut fused.plain), &mut fused.fused),
            _ => (None, &mut []),
        };
        first.into_iter().chain(more)
    }
}

impl Step {
    /// Returns `true` if the following steps run once for each of several values.
    pub fn is_generator(&self) -> bool {
        matches!(
            self,
            Self::Scan { .. }
                | Self::Join(_)
                | Self::Keys { .. }
                | Self::Descend { .. }
                | Self::Fused(_)
        )
    }
}

impl Plan {
    /// Number of reads of each slot.
    pub fn reads(&self) -> Vec<u32> {
        let mut reads = vec![0_u32; self.slots as usize];
        self.visit(&mut |step| {
            step.operands(&mut |operand| {
                if let Operand::Slot(slot) = operand
                    && let Some(count) = reads.get_mut(slot as usize)
                {
                    *count += 1;
                }
            });
        });
        reads
    }

    /// Number of steps, including inner blocks.
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.visit(&mut |_| len += 1);
        len
    }

    /// Returns `true` if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns `true` if a step matches, including inner blocks.
    pub fn contains_step(&self, wanted: fn(&Step) -> bool) -> bool {
        fn contains_step(block: &[Step], wanted: fn(&Step) -> bool) -> bool {
            block
                .iter()
                .any(|step| wanted(step) || step.blocks().any(|inner| contains_step(inner, wanted)))
        }
        contains_step(&self.steps, wanted)
    }

    /// Visits every step, including inner blocks.
    pub fn visit<'p>(&'p self, see: &mut impl FnMut(&'p Step)) {
        let mut open: Vec<&[Step]> = vec![&self.steps];
        while let Some(block) = open.pop() {
            for step in block {
                see(step);
                open.extend(step.blocks().map(|block| &**block));
            }
        }
    }
}

impl RuleSet {
    /// Iterates over all plans: each rule's, those for known head terms, and the default's.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        let members = self.rules.iter().flat_map(Rule::members);
        members
            .flat_map(|rule| std::iter::once(&rule.plan).chain(&rule.keyed))
            .chain(&self.default)
    }
}
