//! Searches that end with their first solution.

use super::each_lowered;
use super::lookups::{are_all, is_pure_step};
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::{Operand, Plan, Program, Rule, RuleId, RuleKind, Step};

/// Ends the loops of set rules that test for one constant member at the first match, in the rule sets that were lowered
/// now.
pub fn of_rules(program: &mut Program, lowered: &[RuleId], optimisations: Optimisations) {
    if !optimisations.make(Optimisation::EndSearches) {
        return;
    }
    each_lowered(program, lowered, |set| {
        if set.kind == RuleKind::Set {
            let plans = set.rules.iter_mut().flat_map(Rule::plans_mut);
            plans.for_each(|(plan, _)| end(plan));
        }
    });
}

/// Ends a search whose further solutions add nothing, if the rest is not observable.
fn end(plan: &mut Plan) {
    let Some((leaf, steps)) = plan.steps.split_last_mut() else {
        return;
    };
    let loops = steps.iter().any(Step::is_generator);
    if let Step::SetAdd(constant @ Operand::Const(_)) = leaf
        && loops
        && steps.iter().all(is_unseen)
    {
        *leaf = Step::SetAddOnce(*constant);
    }
}

/// Returns `true` if a step cannot end an evaluation. Other effects are decided at run time.
fn is_unseen(step: &Step) -> bool {
    match step {
        Step::Compare(..) | Step::Test(..) => true,
        Step::Not(block) => are_all([block], is_unseen),
        Step::Any(any) => are_all(&any.blocks, is_unseen),
        Step::Inlined(inlined) => are_all(&inlined.blocks, is_unseen),
        step => is_pure_step(step),
    }
}
