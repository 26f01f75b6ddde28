//! Terminators that the consumers of a block's solutions expect.

use crate::program::{Collector, Rule, RuleKind, Step};

/// Terminator that the consumer of a block's solutions expects.
#[derive(Clone, Copy)]
pub enum Ending {
    /// The block is a test.
    Exists,
    /// The value of a complete rule or function.
    Value,
    Element(Collector),
    Member,
    /// A value under that many further keys of a partial rule, or a member of a set there.
    Below {
        keys: u32,
        member: bool,
    },
    /// A solution of a query.
    Row,
}

impl Ending {
    /// Returns the terminator of a rule's plan with `known` known head terms.
    pub fn of_rule(rule: &Rule, kind: RuleKind, known: u32) -> Self {
        match kind {
            RuleKind::Complete | RuleKind::Function(_) => Self::Value,
            RuleKind::Set | RuleKind::Object if rule.member && known > rule.tail => Self::Member,
            RuleKind::Set => Self::Element(Collector::Set),
            RuleKind::Object => Self::Below {
                keys: rule.tail.saturating_sub(known),
                member: rule.member,
            },
        }
    }

    /// Returns the terminator of an instruction's inner blocks. Those of a fused set continue the outer block.
    pub fn of_inner(self, step: &Step) -> Self {
        match step {
            Step::Collect { into, .. } => Self::Element(*into),
            Step::Aggregate(aggregate) => Self::Element(aggregate.into),
            Step::Fused(_) => self,
            _ => Self::Exists,
        }
    }

    /// Returns `true` if the last instruction of a block is the expected terminator.
    pub fn is_met_by(self, step: &Step) -> bool {
        match step {
            Step::Fused(_) => true,
            Step::Exists => matches!(self, Self::Exists),
            Step::Value(_) => matches!(self, Self::Value),
            Step::ArrayAppend(_) => {
                matches!(self, Self::Element(Collector::Array | Collector::Bag))
            }
            Step::SetAdd(_) | Step::SetAddOnce(_) => matches!(self, Self::Element(Collector::Set)),
            Step::ObjectInsert { .. } => matches!(self, Self::Element(Collector::Object)),
            Step::MemberFound => matches!(self, Self::Member),
            Step::Produce { path, member, .. } => matches!(
                self,
                Self::Below { keys, member: expected }
                    if keys as usize == path.len() && expected == *member
            ),
            Step::ResultSetAdd(_) => matches!(self, Self::Row),
            _ => false,
        }
    }
}
