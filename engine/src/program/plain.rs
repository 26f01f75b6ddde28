//! Plans that the fast path can evaluate.

use super::plan::{Block, Plan, Step};

impl Plan {
    /// Steps and the size of their frame.
    pub fn new(slots: u32, steps: Block) -> Self {
        Self {
            slots,
            steps,
            ..Self::default()
        }
    }

    /// Returns `true` if the plan has only lookups, comparisons, loops, and calls of functions and rules.
    #[inline]
    pub fn is_plain(&self) -> bool {
        *self.plain.get_or_init(|| are_plain(&self.steps))
    }
}

fn are_plain(steps: &[Step]) -> bool {
    steps.iter().all(|step| {
        let is_plain = match step {
            Step::Input { .. }
            | Step::Dot { .. }
            | Step::Base { .. }
            | Step::BaseChild { .. }
            | Step::Scan { .. }
            | Step::Join(_)
            | Step::IsTruthy(_)
            | Step::IsArray(..)
            | Step::IsObject(..)
            | Step::Rule { .. }
            | Step::Function { .. }
            | Step::Equal(..)
            | Step::Compare(..)
            | Step::Member(..)
            | Step::Among(..)
            | Step::Test(..)
            | Step::Not(_)
            | Step::Any(_)
            | Step::Inlined(_)
            | Step::Value(_)
            | Step::Exists => true,
            Step::Call { call, .. } => call.intrinsic.is_some(),
            Step::Precheck(precheck) => !precheck.always,
            _ => false,
        };
        is_plain && step.blocks().all(|block| are_plain(block))
    })
}
