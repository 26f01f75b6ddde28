//! Functions whose bodies stand where they are called.
//!
//! A function that only looks up, compares and calls built-ins costs less than its call: a frame, arguments in it, a
//! result that is kept. Its first body that holds gives the result, so only functions stand in for their calls none of
//! whose bodies has two solutions, and of which at most one value can come.

use super::inline::shift;
use super::joins;
use super::lookups::{are_all, is_pure_step};
use crate::program::{
    Block, FunctionCall, Index, Inlined, Operand, Plan, Program, Rule, RuleKind, RuleSet, Slot,
    Step,
};

/// Most bodies of a function that stand in for a call.
const BODIES: usize = 4;

/// Most steps that stand in for one.
const STEPS: usize = 24;

/// Puts the bodies of functions in the places of their calls.
pub fn inline(plan: &mut Plan, program: &Program) {
    if !plan.holds(|step| matches!(step, Step::Function { .. })) {
        return;
    }
    // calls come one after the other, so that their bodies may share their slots
    let base = plan.slots;
    let mut needed = 0;
    inline_in(&mut plan.steps, program, base, &mut needed);
    plan.slots = base + needed;
}

fn inline_in(block: &mut Block, program: &Program, base: Slot, needed: &mut Slot) {
    for step in block {
        step.blocks_mut()
            .for_each(|inner| inline_in(inner, program, base, needed));
        if let Step::Function { call, out } = step
            && let Some(set) = program.rules.get(call.rule as usize)
            && let Some(inlined) = inlined(call, *out, set, base)
        {
            let slots = bodies(set).map(|rule| rule.plan.slots).max();
            *needed = slots.unwrap_or(0).max(*needed);
            *step = Step::Inlined(Box::new(inlined));
        }
    }
}

/// The bodies of a function, the first that holds first.
fn bodies(set: &RuleSet) -> impl Iterator<Item = &Rule> {
    set.rules.iter().flat_map(Rule::members)
}

/// What stands for a call, if the function's bodies may.
fn inlined(call: &FunctionCall, out: Slot, set: &RuleSet, base: Slot) -> Option<Inlined> {
    let steps: usize = bodies(set).map(|rule| rule.plan.len()).sum();
    let has_indexes = bodies(set).any(|rule| {
        let chain = rule.otherwise.as_ref();
        chain.is_some_and(|chain| !matches!(chain.index, Index::All))
    });
    let is_plain = matches!(set.index, Index::All) && !has_indexes && set.default.is_none();
    if !is_inlinable(set) || !is_plain || steps > STEPS {
        return None;
    }
    let (mut blocks, mut values) = (Vec::new(), Vec::new());
    for rule in bodies(set) {
        let (Step::Value(value), steps) = rule.plan.steps.split_last()? else {
            return None;
        };
        if !steps.iter().all(is_short) {
            return None;
        }
        let mut body = joins::without(steps);
        body.push(Step::Exists);
        let mut body = body.into();
        let placed = |operand: Operand| match operand {
            Operand::Slot(slot) => match call.args.get(slot as usize) {
                Some(arg) => *arg,
                None => Operand::Slot(slot + base),
            },
            constant @ Operand::Const(_) => constant,
        };
        shift(&mut body, base, &placed);
        blocks.push(body);
        values.push(placed(*value));
    }
    Some(Inlined {
        call: call.clone(),
        blocks: blocks.into(),
        values: values.into(),
        out,
    })
}

/// Whether the bodies of a function may ever stand where it is called. How long they are may still change.
pub fn is_inlinable(set: &RuleSet) -> bool {
    // of several rules each may have a value, which clash
    let has_one_value = set.rules.len() == 1 || set.early_exit;
    let has_elses = set.rules.iter().any(|rule| rule.otherwise.is_some());
    matches!(set.kind, RuleKind::Function(_))
        && has_one_value
        && (set.rules.len() == 1 || !has_elses)
        && set.rules.iter().all(|rule| !rule.fallback)
        && (1..=BODIES).contains(&bodies(set).count())
}

/// Whether a step takes little time, has one solution at most, and is not seen.
fn is_short(step: &Step) -> bool {
    match step {
        Step::Compare(..)
        | Step::Test(..)
        | Step::Array { .. }
        | Step::Object { .. }
        | Step::Rule { .. } => true,
        Step::Call { call, .. } => {
            let builtin = call.entry.builtin;
            !builtin.waits && !builtin.nondeterministic && builtin.observed.is_none()
        }
        Step::Not(block) => are_all([block], is_short),
        Step::Any(any) => are_all(&any.blocks, is_short),
        Step::Inlined(inlined) => are_all(&inlined.blocks, is_short),
        step => is_pure_step(step) && !step.is_generator(),
    }
}
