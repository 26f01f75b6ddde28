//! Searches that end with their first solution.

use super::each_lowered;
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::{Effects, Operand, Plan, Program, Rule, RuleId, RuleKind, Step};

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
        Step::Not(_) | Step::Any(_) | Step::Inlined(_) => step.all_within(is_unseen),
        step => {
            let allowed = Effects::PURE.or(Effects::LOOPS).or(Effects::REPLACEABLE);
            step.effects().is_within(allowed)
        }
    }
}
