//! Verification of programs: invariants of plans that the evaluators rely on.
//!
//! In builds with debug assertions and for fuzzing, each program and query is verified after lowering. The census of the
//! agreement tests verifies those of its record in each build. The verifier checks that
//!
//! - each slot is within the frame, and filled on every path before an instruction reads it,
//! - each block ends with the one terminator that the consumer of its solutions expects, and each `With` is closed,
//! - constants, rule sets, rules and arguments of an index, and functions of the host exist,
//! - calls have the arity of the callee, and each rule has a plan for each number of known head terms,
//! - instructions have no effects that they do not declare.

mod callees;
mod ending;
mod index;
mod plan;
#[cfg(test)]
mod tests;

use super::Program;
use super::plan::Plan;
use super::rules::{Rule, RuleKind, RuleSet};
use crate::bug::bug;
use ending::Ending;
use plan::PlanVerifier;

/// Success, or the description of a violated invariant.
type Check<T = ()> = Result<T, String>;

/// Panics if an invariant is violated, in builds with debug assertions and for fuzzing. Other builds do not call
/// `check`.
pub fn require(check: impl FnOnce() -> Check) {
    if cfg!(any(test, debug_assertions, fuzzing))
        && let Err(violation) = check()
    {
        bug!(&violation);
    }
}

/// Verifies all rule sets and the tree of a program. Errors name the rule set and the instruction.
pub fn program(program: &Program) -> Check {
    index::tree(program)?;
    let mut sets = program.rules.iter();
    sets.try_for_each(|set| rule_set(program, set))
}

/// Verifies a rule set against its program. Errors name the rule set and the instruction.
pub fn rule_set(program: &Program, set: &RuleSet) -> Check {
    check_rule_set(program, set).map_err(|violation| format!("{}: {violation}", set.name))
}

/// Verifies the plan of a query with `constants` constants of its own. Errors name the instruction.
pub fn query(program: &Program, plan: &Plan, constants: usize) -> Check {
    let constants = program.constants.len() + constants;
    let verifier = PlanVerifier { program, constants };
    let verified = verifier.plan(plan, 0, Ending::Row);
    verified.map_err(|violation| format!("query: {violation}"))
}

fn check_rule_set(program: &Program, set: &RuleSet) -> Check {
    let constants = program.constants.len();
    let verifier = PlanVerifier { program, constants };
    let arguments = match set.kind {
        RuleKind::Function(arity) => arity,
        RuleKind::Complete | RuleKind::Set | RuleKind::Object => 0,
    };
    index::selects(&set.index, set.rules.len(), arguments)?;
    for rule in &set.rules {
        if let Some(chain) = &rule.otherwise {
            index::selects(&chain.index, 1 + chain.elses.len(), arguments)?;
        }
        for member in rule.members() {
            keyed_plans(member, set)?;
            verifier.rule(member, set.kind, arguments)?;
        }
    }
    match &set.default {
        Some(plan) => verifier.plan(plan, arguments, Ending::Value),
        None => Ok(()),
    }
}

/// Checks that a partial rule has a plan for each number of known head terms. The last one serves longer paths.
fn keyed_plans(rule: &Rule, set: &RuleSet) -> Check {
    let plans = rule.keyed.len();
    let terms = match set.kind {
        RuleKind::Complete | RuleKind::Function(_) => 0,
        RuleKind::Set | RuleKind::Object => rule.tail as usize + usize::from(rule.member),
    };
    if plans != terms {
        return Err(format!("a rule has {plans} plans for {terms} head terms"));
    }
    if plans > set.depth {
        let depth = set.depth;
        return Err(format!("a rule has {plans} head terms of at most {depth}"));
    }
    Ok(())
}
