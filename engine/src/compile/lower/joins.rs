//! Hash joins: loops and memberships over one collection that run repeatedly find matching elements by hash.
//!
//! A loop becomes a hash join if its collection is invariant in an enclosing loop and its body starts with tests. One of
//! them must compare a value in the element with a value known outside. No step before that test may fail or
//! be observable, so skipping elements without the value is not observable. The test itself stays.

use super::constants::Constants;
use super::each_lowered;
use super::lookups::is_pure;
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::index::Indexed as _;
use crate::program::{
    Block, Join, Operand, Plan, Program, Rule, RuleId, RuleKind, RuleSet, Slot, Step,
};
use crate::runtime::base_index;
use crate::value::{Kind, Value};

/// Maximum distance of the test from the beginning of the loop, in steps.
const MAX_DISTANCE: usize = 64;

/// Finds joins in the rule sets that were lowered now.
pub fn of_rules(
    program: &mut Program,
    lowered: &[RuleId],
    constants: &Constants,
    optimisations: Optimisations,
) {
    if !optimisations.make(Optimisation::HashJoins) {
        return;
    }
    each_lowered(program, lowered, |set| of_set(set, constants));
}

fn of_set(set: &mut RuleSet, constants: &Constants) {
    let called = matches!(set.kind, RuleKind::Function(_));
    for (plan, keyed) in set.rules.iter_mut().flat_map(Rule::plans_mut) {
        find(plan, called, constants);
        for plan in keyed {
            find(plan, true, constants);
        }
    }
    if let Some(default) = &mut set.default {
        find(default, called, constants);
    }
}

/// Finds joins in the plan of a query, unless the optimisation is disabled.
pub fn of_query(plan: &mut Plan, constants: &Constants, optimisations: Optimisations) {
    if optimisations.make(Optimisation::HashJoins) {
        find(plan, false, constants);
    }
}

/// Returns steps as they are before join detection, for inlining: the context decides which joins apply.
pub fn without(steps: &[Step]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    steps.iter_mut().for_each(undo);
    steps
}

fn undo(step: &mut Step) {
    match step {
        Step::Join(join) => {
            *step = Step::Scan {
                from: join.from,
                key: join.key,
                out: join.out,
                base: join.base.take(),
            };
        }
        Step::Among(value, collection) => *step = Step::Member(*value, *collection),
        step => step.blocks_mut().iter_mut().flatten().for_each(undo),
    }
}

/// Finds the joins of a plan. The plan of a function (`called`) runs repeatedly itself.
fn find(plan: &mut Plan, called: bool, constants: &Constants) {
    if !plan.contains_step(|step| matches!(step, Step::Scan { .. } | Step::Member(..))) {
        return;
    }
    let mut search = JoinSearch {
        constants,
        depths: vec![0; plan.slots as usize],
    };
    search.block(&mut plan.steps, u32::from(called));
}

/// The loop's element, or a value below it.
struct JoinedPath {
    slot: Slot,
    by_key: bool,
    path: Vec<Operand>,
    is_base: bool,
}

struct JoinSearch<'c> {
    constants: &'c Constants,
    /// For each slot, the number of enclosing loops in which its value changes.
    depths: Vec<u32>,
}

impl JoinSearch<'_> {
    fn block(&mut self, block: &mut Block, mut depth: u32) {
        let mut steps: &mut [Step] = block;
        while let Some((step, rest)) = steps.split_first_mut() {
            match step {
                Step::Scan {
                    from,
                    key,
                    out,
                    base,
                } if self.stays(*from, depth) => {
                    if let Some(mut join) = self.join(*from, *key, *out, rest) {
                        join.base = base.take();
                        *step = Step::Join(Box::new(join));
                    }
                }
                Step::Member(value, collection) if self.stays(*collection, depth) => {
                    *step = Step::Among(*value, *collection);
                }
                _ => {}
            }
            depth += u32::from(step.is_generator());
            let found = match step {
                Step::Input { .. } | Step::Base { .. } | Step::Rule { .. } => 0,
                Step::Dot { from, .. } | Step::BaseChild { from, .. } => self.depth(*from),
                _ => depth,
            };
            step.results(&mut |slot| *self.depths.item_mut(slot) = found);
            let inner = depth + u32::from(matches!(step, Step::Every(_)));
            if let Step::Every(every) = step {
                for slot in every.key.iter().chain([&every.value]) {
                    *self.depths.item_mut(*slot) = inner;
                }
            }
            for block in step.blocks_mut() {
                self.block(block, inner);
            }
            steps = rest;
        }
    }

    /// Returns `true` for a string that is the same key in any value, base document or not.
    fn is_field(&self, key: Operand) -> bool {
        self.constants.get(key).is_some_and(|key| {
            let key = key.borrow();
            key.is_string() && base_index(key).is_none()
        })
    }

    /// Number of enclosing loops in which an operand changes.
    fn depth(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Slot(slot) => self.depths.get(slot as usize).copied().unwrap_or(0),
            Operand::Const(_) => 0,
        }
    }

    /// Number of enclosing loops in which the results of lookups change.
    fn depth_of(&self, lookups: &[Step]) -> u32 {
        let mut depth = 0;
        for lookup in lookups {
            lookup.operands(&mut |operand| depth = depth.max(self.depth(operand)));
        }
        depth
    }

    /// Returns `true` if a collection is invariant in a loop around a step, and not a constant with few elements.
    fn stays(&self, collection: Operand, depth: u32) -> bool {
        let few = |constant: &Value| {
            let constant = constant.borrow();
            match constant.kind() {
                Kind::Array => constant
                    .as_array()
                    .is_none_or(|array| array.len() < Join::FEW),
                Kind::Object => constant
                    .as_object()
                    .is_none_or(|object| object.len() < Join::FEW),
                Kind::Set => constant.as_set().is_none_or(|set| set.len() < Join::FEW),
                _ => true,
            }
        };
        self.depth(collection) < depth && !self.constants.get(collection).is_some_and(few)
    }

    /// Returns the join of a loop. If several tests qualify, chooses the one whose value changes most often.
    fn join(&self, from: Operand, key: Option<Slot>, out: Slot, rest: &[Step]) -> Option<Join> {
        let place = |slot, by_key| JoinedPath {
            slot,
            by_key,
            path: Vec::new(),
            is_base: false,
        };
        let mut places = vec![place(out, false)];
        places.extend(key.map(|key| place(key, true)));
        // Slots that the loop fills.
        let mut inside: Vec<Slot> = places.iter().map(|place| place.slot).collect();
        let mut lookups: Vec<(Slot, Step)> = Vec::new();
        let mut best: Option<((bool, u32), Join)> = None;
        let (mut tests, mut calls) = (false, false);
        for step in rest.iter().take(MAX_DISTANCE) {
            let mut outside = true;
            step.operands(&mut |operand| {
                outside &= !matches!(operand, Operand::Slot(slot)
                    if inside.contains(&slot) && !lookups.iter().any(|(out, _)| *out == slot));
            });
            let is_base = matches!(step, Step::BaseChild { keys, .. }
                if keys.iter().any(|key| !self.is_field(*key)));
            match step {
                Step::Dot { out, .. } | Step::BaseChild { out, .. } | Step::Input { out, .. }
                    if outside =>
                {
                    lookups.push((*out, step.clone()));
                }
                Step::Call { call, out } if is_pure(call.entry.builtin) => {
                    calls = true;
                    // After a test the lookup may never run; cheap lookups are moved anyway.
                    if outside && (!tests || call.intrinsic.is_some()) {
                        lookups.push((*out, step.clone()));
                    }
                }
                Step::Test(_, call) if is_pure(call.entry.builtin) => {
                    (tests, calls) = (true, true);
                }
                Step::Dot {
                    from: Operand::Slot(slot),
                    keys,
                    out,
                }
                | Step::BaseChild {
                    from: Operand::Slot(slot),
                    keys,
                    out,
                    ..
                } if keys.iter().all(|key| matches!(key, Operand::Const(_))) => {
                    // Keys of a path have one kind.
                    let place = places.iter().find(|place| {
                        place.slot == *slot && (place.path.is_empty() || place.is_base == is_base)
                    });
                    if let Some(place) = place {
                        let path = place.path.iter().chain(keys.iter()).copied().collect();
                        places.push(JoinedPath {
                            slot: *out,
                            by_key: place.by_key,
                            path,
                            is_base,
                        });
                    }
                }
                Step::Equal(left, right) => {
                    tests = true;
                    for (asked, known) in [(*left, *right), (*right, *left)] {
                        let lookup = needed(known, &lookups);
                        let changes = match (known, &*lookup) {
                            (_, [_, ..]) => 1 + self.depth_of(&lookup),
                            (Operand::Const(_), _) => 0,
                            (Operand::Slot(slot), _) if inside.contains(&slot) => continue,
                            (Operand::Slot(_), _) => 1 + self.depth(known),
                        };
                        let place = places
                            .iter()
                            .find(|place| asked == Operand::Slot(place.slot));
                        let Some(place) = place else { continue };
                        // A key matches at most one element.
                        let worth = (place.by_key && place.path.is_empty(), changes);
                        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                            let join = Join {
                                from,
                                key,
                                out,
                                by_key: place.by_key,
                                path: place.path.clone().into(),
                                is_base: place.is_base,
                                base: None,
                                known,
                                lookup: lookup.into(),
                                calls,
                            };
                            best = Some((worth, join));
                        }
                    }
                }
                // A function may replace a comparison, but then all elements are visited.
                Step::Compare(..) => tests = true,
                step if step.is_pure() => {
                    tests |= !matches!(
                        step,
                        Step::Dot { .. } | Step::BaseChild { .. } | Step::Input { .. }
                    );
                }
                _ => break,
            }
            step.results(&mut |slot| inside.push(slot));
        }
        best.map(|(_, join)| join)
    }
}

/// Returns the lookups that a value needs, in order; empty if it is known without them.
fn needed(known: Operand, lookups: &[(Slot, Step)]) -> Vec<Step> {
    let mut wanted = vec![known];
    let mut steps: Vec<Step> = Vec::new();
    for (slot, step) in lookups.iter().rev() {
        if wanted.contains(&Operand::Slot(*slot)) {
            step.operands(&mut |operand| wanted.push(operand));
            steps.push(step.clone());
        }
    }
    steps.reverse();
    steps
}
