//! Inlining of rules.
//!
//! A rule that is `true` or undefined is tested in place, without a frame and a memoised result. A set with a single
//! consumer, a loop, is not built: the loop's body runs inside the bodies that produce the members (fused producer).

use std::sync::Arc;

use super::calls;
use super::constants::Constants;
use super::joins;
use super::lookups::hoist;
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::index::Indexed as _;
use crate::program::{
    Block, Effects, FusedSet, Index, InlinedRule, Operand, PartMut, Plan, Program, Rule, RuleId,
    RuleKind, RuleSet, Slot, Step,
};
use crate::value::{Repr, Value};

/// Maximum number of rules of an inlined document.
const RULES: usize = 4;

/// Maximum number of steps of an inlined document.
const STEPS: usize = 24;

/// Replaces documents by the bodies of their rules, in the rule sets that were lowered now and refer to such documents.
/// `use_counts` has the number of uses of each set.
pub fn rules(
    program: &mut Program,
    callers: &[RuleId],
    use_counts: &[u32],
    constants: &Constants,
    optimisations: Optimisations,
) {
    let (inlines, splices, calls) = (
        optimisations.make(Optimisation::InlineRules),
        optimisations.make(Optimisation::FuseSets),
        optimisations.make(Optimisation::InlineCalls),
    );
    if !inlines && !splices && !calls {
        return;
    }
    for id in callees_first(program, callers) {
        // other sets are shared with an earlier program
        let set = program.rules.get_mut(id as usize);
        let Some(set) = set.and_then(Arc::get_mut) else {
            continue;
        };
        let once = !matches!(set.kind, RuleKind::Function(_));
        let early = set.early_exit && set.kind == RuleKind::Complete;
        let mut rules = std::mem::take(&mut set.rules);
        let inliner = Inliner {
            program,
            constants,
            use_counts,
        };
        for (plan, keyed) in rules.iter_mut().flat_map(Rule::plans_mut) {
            if splices && early {
                inliner.fuse(plan);
            }
            if inlines {
                inliner.inline(plan, once);
                for plan in keyed.iter_mut() {
                    inliner.inline(plan, false);
                }
            }
            if calls {
                for plan in std::iter::once(plan).chain(keyed) {
                    calls::inline(plan, inliner.program);
                }
            }
        }
        let set = program.rules.get_mut(id as usize);
        if let Some(set) = set.and_then(Arc::get_mut) {
            set.rules = rules;
        }
    }
}

/// Returns rule sets in an order in which each set follows the sets that it uses.
fn callees_first(program: &Program, sets: &[RuleId]) -> Vec<RuleId> {
    let mut seen = vec![true; program.rules.len()];
    for id in sets {
        *seen.item_mut(*id) = false;
    }
    let mut order = Vec::with_capacity(sets.len());
    // rules to visit; `true` once their callees were visited
    let mut open: Vec<(RuleId, bool)> = Vec::new();
    for root in sets {
        open.push((*root, false));
        while let Some((id, ready)) = open.pop() {
            if ready {
                order.push(id);
                continue;
            }
            match seen.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            open.push((id, true));
            let set = program.rules.get(id as usize).into_iter();
            for plan in set.flat_map(|set| set.plans()) {
                plan.visit(&mut |step| {
                    if let Some(rule) = used_rule(step) {
                        open.push((rule, false));
                    }
                });
            }
        }
    }
    order
}

/// Returns the document or function that a step uses, if inlining can replace the step. Otherwise returns `None`.
pub fn used_rule(step: &Step) -> Option<RuleId> {
    match step {
        Step::Rule { rule, .. } => Some(*rule),
        Step::Function { call, .. } => Some(call.rule),
        _ => None,
    }
}

/// Returns `true` if a plan uses the document of a rule, also in inner blocks.
fn uses_rule(plan: &Plan) -> bool {
    plan.contains_step(|step| matches!(step, Step::Rule { .. }))
}

/// Context of a set's members in the plan that loops over it.
struct Follow<'s> {
    /// Lookups and tests between the set and the loop.
    before: &'s [Step],
    /// Body of the loop.
    rest: &'s [Step],
    /// Slots of the loop for the member, `None` if it does not use them.
    member: [Option<Slot>; 2],
}

struct Inliner<'p> {
    program: &'p Program,
    constants: &'p Constants,
    use_counts: &'p [u32],
}

impl Inliner<'_> {
    /// Tests rules in place. `once` means that the plan runs at most once, since its result is memoised.
    fn inline(&self, plan: &mut Plan, once: bool) {
        if !uses_rule(plan) {
            return;
        }
        let reads = plan.reads();
        let mut slots = plan.slots;
        self.inline_in(&mut plan.steps, once, &reads, &mut slots);
        plan.slots = slots;
    }

    fn inline_in(&self, block: &mut Block, mut once: bool, reads: &[u32], slots: &mut Slot) {
        if !block.iter().any(|step| matches!(step, Step::Rule { .. })) {
            let inner = block.iter_mut().flat_map(Step::blocks_mut);
            return inner.for_each(|inner| self.inline_in(inner, false, reads, slots));
        }
        let mut steps: Vec<Step> = Vec::with_capacity(block.len());
        for mut step in std::mem::take(block) {
            for inner in step.blocks_mut() {
                self.inline_in(inner, false, reads, slots);
            }
            let rule = match (steps.last(), &step) {
                (Some(Step::Rule { rule, out }), Step::IsTruthy(Operand::Slot(slot)))
                    if out == slot && reads.get(*slot as usize) == Some(&1) =>
                {
                    Some(*rule)
                }
                _ => None,
            };
            if let Some(rule) = rule
                && let Some(blocks) = self.bodies_of(rule, once, *slots)
            {
                *slots += self.room(rule);
                steps.pop();
                step = Step::Any(Box::new(InlinedRule { rule, blocks }));
            }
            once &= !step.is_generator();
            steps.push(step);
        }
        *block = steps.into();
    }

    /// Returns the bodies of a rule that is `true` or undefined. Returns `None` if the rule is not simple, or has a default
    /// other than `false`.
    fn bodies_of(&self, rule: RuleId, once: bool, base: Slot) -> Option<Box<[Block]>> {
        let set = self.program.rules.get(rule as usize)?;
        let simple = set.kind == RuleKind::Complete && set.early_exit && is_simple(set);
        let is_false =
            |operand: Operand| self.constants.get(operand) == Some(&Value(Repr::Bool(false)));
        let no_default = set
            .default
            .as_ref()
            .is_none_or(|plan| matches!(*plan.steps, [Step::Value(operand)] if is_false(operand)));
        if !simple || !no_default {
            return None;
        }
        let only_here = once && self.use_counts.get(rule as usize) == Some(&1);
        let mut blocks = Vec::with_capacity(set.rules.len());
        for rule in &set.rules {
            let (leaf, steps) = rule.plan.steps.split_last()?;
            let holds = matches!(leaf, Step::Value(value)
                if self.constants.get(*value).is_some() && !is_false(*value));
            if !holds || !(only_here || steps.iter().all(is_cheap)) {
                return None;
            }
            let mut body = joins::without(steps);
            body.push(Step::Exists);
            let mut body = body.into();
            shift(&mut body, base, &behind(base));
            blocks.push(body);
        }
        Some(blocks.into())
    }

    /// Number of slots that the bodies of a rule need.
    fn room(&self, rule: RuleId) -> Slot {
        let set = self.program.rules.get(rule as usize);
        let rules = set.into_iter().flat_map(|set| &set.rules);
        rules.map(|rule| rule.plan.slots).max().unwrap_or(0)
    }

    /// Fuses a plan that loops over a set and then only tests with the bodies that produce the members.
    fn fuse(&self, plan: &mut Plan) {
        if !uses_rule(plan) {
            return;
        }
        let reads = plan.reads();
        let steps = &plan.steps;
        let start = steps.iter().position(|step| match step {
            Step::Rule { out, .. } => reads.get(*out as usize) == Some(&1),
            _ => false,
        });
        let Some(start) = start else { return };
        let (before, plain) = steps.split_at_checked(start).unwrap_or((&[], &[]));
        let Some((Step::Rule { rule, out }, behind)) = plain.split_first() else {
            return;
        };
        // lookups that were hoisted out of the loop
        let gap = behind.iter().take_while(|step| is_test(step)).count();
        let (gap, behind) = behind.split_at_checked(gap).unwrap_or((behind, &[]));
        let Some((
            Step::Scan {
                from,
                key,
                out: member,
                ..
            },
            rest,
        )) = behind.split_first()
        else {
            return;
        };
        let only_tests = match rest.split_last() {
            Some((Step::Value(Operand::Const(_)), tests)) => tests.iter().all(is_test),
            _ => false,
        };
        let looped =
            *from == Operand::Slot(*out) && self.use_counts.get(*rule as usize) == Some(&1);
        if !only_tests || !looped || before.iter().any(Step::is_generator) {
            return;
        }
        let follow = Follow {
            before: gap,
            rest,
            member: [Some(*member), *key],
        };
        let Some(fused) = self.fused_bodies(*rule, plan.slots, &follow) else {
            return;
        };
        let blocks = std::iter::once(plain.into()).chain(fused).collect();
        let mut steps = before.to_vec();
        steps.push(Step::Fused(Box::new(FusedSet { blocks })));
        plan.slots += self.room(*rule);
        plan.steps = steps.into();
    }

    /// Returns the bodies of a set, each combined with the context of its members. Bodies and the tests before the loop
    /// have no observable effects, so their order does not matter.
    fn fused_bodies(&self, rule: RuleId, base: Slot, follow: &Follow<'_>) -> Option<Vec<Block>> {
        let set = self.program.rules.get(rule as usize)?;
        if set.kind != RuleKind::Set || !is_simple(set) {
            return None;
        }
        let bodies = set.rules.iter().map(|rule| {
            let (leaf, steps) = rule.plan.steps.split_last()?;
            let (Step::SetAdd(found) | Step::SetAddOnce(found)) = leaf else {
                return None;
            };
            if !steps.iter().all(Step::is_pure) {
                return None;
            }
            let mut body: Block = joins::without(steps).into();
            let moved = behind(base);
            shift(&mut body, base, &moved);
            let found = moved(*found);
            let mut rest: Block = follow.rest.into();
            replace(&mut rest, follow.member, found);
            let before = follow.before.iter().cloned();
            let mut body = before.chain(body).chain(rest).collect();
            hoist(&mut body);
            Some(body)
        });
        bodies.collect()
    }
}

/// Returns `true` if a set has few, short rules and nothing else.
fn is_simple(set: &RuleSet) -> bool {
    let steps: usize = set.rules.iter().map(|rule| rule.plan.len()).sum();
    matches!(set.index, Index::All) && has_few_rules(set) && steps <= STEPS
}

fn has_few_rules(set: &RuleSet) -> bool {
    let mut rules = set.rules.iter();
    (1..=RULES).contains(&set.rules.len())
        && rules.all(|rule| rule.otherwise.is_none() && !rule.fallback)
}

/// Returns `true` if the bodies of a set can be inlined, apart from their length, which may still change.
pub fn is_inlinable(set: &RuleSet) -> bool {
    match set.kind {
        RuleKind::Complete => set.early_exit && has_few_rules(set),
        RuleKind::Set => has_few_rules(set),
        RuleKind::Function(_) => calls::is_inlinable(set),
        RuleKind::Object => false,
    }
}

/// Returns `true` if a step costs less than memoising its result, and the number of its runs is not observable.
fn is_cheap(step: &Step) -> bool {
    match step {
        Step::Any(_) => step.all_within(is_cheap),
        step => step.is_pure() && !step.effects().has(Effects::LINEAR),
    }
}

/// Returns `true` if a step only does lookups and tests, without a loop.
fn is_test(step: &Step) -> bool {
    step.is_pure() && !step.is_generator()
}

/// Adds `base` to the slots that a block fills, and maps its operands with `moved`.
pub fn shift(block: &mut Block, base: Slot, moved: &impl Fn(Operand) -> Operand) {
    for step in block {
        step.parts_mut(&mut |part| match part {
            PartMut::Use(operand) => *operand = moved(*operand),
            PartMut::Def(slot) => *slot += base,
            PartMut::Spare(slot) => *slot = slot.map(|slot| slot + base),
        });
        for inner in step.blocks_mut() {
            shift(inner, base, moved);
        }
    }
}

/// Returns a mapping of operands that adds `base` to slots.
fn behind(base: Slot) -> impl Fn(Operand) -> Operand {
    move |operand| match operand {
        Operand::Slot(slot) => Operand::Slot(slot + base),
        constant @ Operand::Const(_) => constant,
    }
}

/// Replaces reads of some slots by another operand.
fn replace(block: &mut Block, slots: [Option<Slot>; 2], by: Operand) {
    for step in block {
        step.operands_mut(&mut |operand| {
            if let Operand::Slot(slot) = operand
                && slots.contains(&Some(*slot))
            {
                *operand = by;
            }
        });
        for inner in step.blocks_mut() {
            replace(inner, slots, by);
        }
    }
}
