//! Names of variants, and traversal of all instructions.

use super::index::Index;
use super::instructions::Step;
use super::plan::{Callee, Collector, Comparison, ModifierTarget, Operand, Plan};
use super::rules::{Rule, RuleKind, RuleSet};

macro_rules! kinds {
    ($type:ident: $($kind:ident)*) => {
        impl $type {
            /// Names of all kinds, in the order of declaration.
            pub const KINDS: &[&str] = &[$(stringify!($kind)),*];

            /// Name of the kind, that of the variant.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => stringify!($kind),)*
                }
            }
        }
    };
}

kinds! { Comparison: NotEqual Less LessOrEqual Greater GreaterOrEqual }
kinds! { Collector: Array Bag Set Object }
kinds! { ModifierTarget: Input Data ByRule ByBuiltin ByValue Nowhere }
kinds! { Callee: Rule Builtin HostFunction }
kinds! { RuleKind: Complete Function Set Object }
kinds! { Index: All By }

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
            block.iter().any(|step| {
                wanted(step)
                    || step
                        .blocks()
                        .iter()
                        .any(|inner| contains_step(inner, wanted))
            })
        }
        contains_step(&self.steps, wanted)
    }

    /// Visits every step, including inner blocks.
    pub fn visit<'p>(&'p self, see: &mut impl FnMut(&'p Step)) {
        let mut open: Vec<&[Step]> = vec![&self.steps];
        while let Some(block) = open.pop() {
            for step in block {
                see(step);
                open.extend(step.blocks().iter().map(|block| &**block));
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
