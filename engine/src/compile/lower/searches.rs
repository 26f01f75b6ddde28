//! Searches that end with their first solution.

use std::sync::Arc;

use super::lookups::is_quiet;
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::{Block, Operand, Plan, Program, Rule, RuleId, RuleKind, Step};

/// Ends the loops of rules of sets that look for one constant member, in the sets of rules that were lowered now.
pub fn of_rules(program: &mut Program, lowered: &[RuleId], optimisations: Optimisations) {
    if !optimisations.make(Optimisation::EndSearches) {
        return;
    }
    for id in lowered {
        let set = program.rules.get_mut(*id as usize);
        // the others are shared with an earlier program
        let Some(set) = set.and_then(Arc::get_mut) else {
            continue;
        };
        if set.kind == RuleKind::Set {
            let plans = set.rules.iter_mut().flat_map(Rule::plans_mut);
            plans.for_each(|(plan, _)| end(plan));
        }
    }
}

/// Ends a search whose further solutions add nothing, if nobody sees that it goes on.
fn end(plan: &mut Plan) {
    let Some((leaf, steps)) = plan.steps.split_last_mut() else {
        return;
    };
    let loops = steps.iter().any(Step::is_generator);
    if let Step::Insert(constant @ Operand::Const(_)) = leaf
        && loops
        && steps.iter().all(is_unseen)
    {
        *leaf = Step::InsertOnce(*constant);
    }
}

/// Whether a step cannot end an evaluation. What else can be seen of it is known when it runs.
fn is_unseen(step: &Step) -> bool {
    let are_unseen = |block: &Block| {
        let mut steps = block.iter();
        steps.all(|step| is_unseen(step) || matches!(step, Step::Exists))
    };
    match step {
        Step::Compare(..) | Step::Test(..) => true,
        Step::Not(block) => are_unseen(block),
        Step::Any(any) => any.blocks.iter().all(are_unseen),
        Step::Inlined(inlined) => inlined.blocks.iter().all(are_unseen),
        step => is_quiet(step),
    }
}
