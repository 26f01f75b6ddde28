//! Inlining of functions.
//!
//! A function that only does lookups, comparisons and calls of built-ins costs less than its call: a frame, copied
//! arguments, a memoised result. The first body that holds provides the result, so a function is inlined only if no
//! body has two solutions and at most one value is possible.

use super::inline::shift;
use super::joins;
use crate::program::{
    Block, Effects, FunctionCall, Index, Inlined, Operand, Plan, Program, Rule, RuleKind, RuleSet,
    Slot, Step,
};

/// Maximum number of bodies of an inlined function.
const BODIES: usize = 4;

/// Maximum number of steps of an inlined function.
const STEPS: usize = 24;

/// Replaces calls of functions by their bodies.
pub fn inline(plan: &mut Plan, program: &Program) {
    if !plan.contains_step(|step| matches!(step, Step::Function { .. })) {
        return;
    }
    // calls run one after the other, so their bodies can share slots
    let base = plan.slots;
    let mut needed = 0;
    inline_in(&mut plan.steps, program, base, &mut needed);
    plan.slots = base + needed;
}

fn inline_in(block: &mut Block, program: &Program, base: Slot, needed: &mut Slot) {
    for step in block {
        for inner in step.blocks_mut() {
            inline_in(inner, program, base, needed);
        }
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

/// Iterates over the bodies of a function in order of precedence.
fn bodies(set: &RuleSet) -> impl Iterator<Item = &Rule> {
    set.rules.iter().flat_map(Rule::members)
}

/// Returns the replacement of a call. Returns `None` if the function is too long, or has an index or a default.
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

/// Returns `true` if the bodies of a function can be inlined, apart from their length, which may still change.
pub fn is_inlinable(set: &RuleSet) -> bool {
    // several rules may have different values, which conflict
    let has_one_value = set.rules.len() == 1 || set.early_exit;
    let has_elses = set.rules.iter().any(|rule| rule.otherwise.is_some());
    matches!(set.kind, RuleKind::Function(_))
        && has_one_value
        && (set.rules.len() == 1 || !has_elses)
        && set.rules.iter().all(|rule| !rule.fallback)
        && (1..=BODIES).contains(&bodies(set).count())
}

/// Returns `true` if a step is cheap, has at most one solution, and has no observable effects.
fn is_short(step: &Step) -> bool {
    match step {
        Step::Rule { .. } => true,
        Step::Call { call, .. } => {
            let builtin = call.entry.builtin;
            !builtin.waits && !builtin.nondeterministic && builtin.observed.is_none()
        }
        Step::Not(_) | Step::Any(_) | Step::Inlined(_) => step.all_within(is_short),
        step => {
            let allowed = Effects::PURE
                .or(Effects::REPLACEABLE)
                .or(Effects::ALLOCATES);
            step.effects().is_within(allowed)
        }
    }
}
