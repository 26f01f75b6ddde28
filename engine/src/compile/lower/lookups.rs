//! Common subexpression elimination and loop-invariant code motion for lookups.

use smallvec::SmallVec;

use crate::builtins::Builtin;
use crate::compile::small_map::SmallMap;
use crate::program::{Block, Effects, Operand, Part, Plan, Slot, Step};

/// Maximum distance that a step may move, in steps.
const MAX_DISTANCE: usize = 64;

/// Shares equal lookups of a plan: later ones read the slot of the first.
pub fn share(plan: &mut Plan) {
    Sharing::default().block(&mut plan.steps);
}

/// A lookup, construction or call, for comparison.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LookupKey {
    /// Name of the instruction or built-in.
    name: &'static str,
    /// As in [`BuiltinCall`](crate::program::BuiltinCall).
    elements: bool,
    /// Operands, constants and rule sets.
    operands: SmallVec<[Operand; 4]>,
}

impl LookupKey {
    /// Returns the key of an instruction that can be shared, and the slot of its result.
    fn of_step(step: &Step) -> Option<(Self, Slot)> {
        let (name, elements) = match step {
            Step::Call { call, .. } if is_pure(call.entry.builtin) => {
                (call.entry.builtin.name, call.elements)
            }
            Step::Call { .. } => return None,
            step if step.effects().has(Effects::SHAREABLE) => (step.kind(), false),
            _ => return None,
        };
        let (mut operands, mut out) = (SmallVec::new(), None);
        step.parts(&mut |part| match part {
            Part::Use(operand) => operands.push(*operand),
            Part::Const(id) | Part::Rule(id) => operands.push(Operand::Const(id)),
            Part::Def(slot) => out = Some(*slot),
            _ => {}
        });
        let key = Self {
            name,
            elements,
            operands,
        };
        Some((key, out?))
    }
}

/// Returns `true` if a built-in is deterministic and the number of its calls is not observable.
pub fn is_pure(builtin: &Builtin) -> bool {
    !builtin.nondeterministic
        && builtin.observed.is_none()
        && !builtin.name.starts_with("internal.")
}

/// Lookups that were made on the path to a step.
#[derive(Default)]
struct Sharing {
    results: SmallMap<(u32, LookupKey), Slot>,
    /// Slots that were replaced by others.
    renamed: SmallMap<Slot, Slot>,
    /// Enclosing `with`s, innermost last.
    open: Vec<u32>,
    opened: u32,
}

impl Sharing {
    fn block(&mut self, block: &mut Block) {
        let mark = self.results.len();
        let steps = std::mem::take(block).into_iter();
        *block = steps.filter_map(|step| self.step(step)).collect();
        self.results.truncate(mark);
    }

    /// Returns the step, unless its result is already known.
    fn step(&mut self, mut step: Step) -> Option<Step> {
        if !self.renamed.is_empty() {
            step.operands_mut(&mut |operand| {
                if let Operand::Slot(slot) = operand
                    && let Some(other) = self.renamed.get(slot)
                {
                    *slot = *other;
                }
            });
        }
        match &step {
            Step::With(_) => {
                self.opened += 1;
                self.open.push(self.opened);
            }
            Step::EndWith => {
                self.open.pop();
            }
            _ => {}
        }
        if let Some((lookup, out)) = LookupKey::of_step(&step) {
            let scope = self.open.last().copied().unwrap_or(0);
            let made = (scope, lookup);
            if let Some(known) = self.results.get(&made) {
                self.renamed.insert(out, *known);
                return None;
            }
            self.results.insert(made, out);
        }
        for block in step.blocks_mut() {
            self.block(block);
        }
        Some(step)
    }
}

/// Moves lookups and tests before the loops that do not change them.
pub fn hoist(block: &mut Block) {
    if !block.iter().any(|step| matches!(step, Step::Scan { .. })) {
        let inner = block.iter_mut().flat_map(Step::blocks_mut);
        return inner.for_each(hoist);
    }
    let mut steps: Vec<Step> = Vec::with_capacity(block.len());
    for mut step in std::mem::take(block) {
        step.blocks_mut().iter_mut().for_each(hoist);
        let at = insertion_point(&steps, &step);
        steps.insert(at, step);
    }
    *block = steps.into();
}

/// Returns the position for a step among the steps before it: before the first loop that it can leave.
fn insertion_point(before: &[Step], step: &Step) -> usize {
    let mut place = before.len();
    if !step.is_movable() {
        return place;
    }
    for (at, crossed) in before.iter().enumerate().rev().take(MAX_DISTANCE) {
        if !crossed.is_pure() || fills_for(crossed, step) {
            break;
        }
        if matches!(crossed, Step::Scan { .. }) {
            place = at;
        }
    }
    place
}

/// Returns `true` if `reader` reads a slot that `step` fills, so that their order matters.
fn fills_for(step: &Step, reader: &Step) -> bool {
    let mut found = false;
    step.results(&mut |slot| {
        reader.operands(&mut |operand| found |= operand == Operand::Slot(slot));
    });
    found
}
