//! Common subexpression elimination and loop-invariant code motion for lookups.

use crate::builtins::Builtin;
use crate::compile::small_map::SmallMap;
use crate::program::{Block, ConstId, Operand, Plan, RuleId, Slot, Step};

/// Maximum distance that a step may move, in steps.
const MAX_DISTANCE: usize = 64;

/// Shares equal lookups of a plan.
pub fn share(plan: &mut Plan) {
    Sharing::default().block(&mut plan.steps);
}

/// A lookup or a construction, for comparison.
#[derive(Clone, PartialEq, Eq, Hash)]
enum LookupStep {
    Input(Box<[Operand]>),
    Below(Operand, Box<[Operand]>),
    Base(Box<[ConstId]>),
    BelowBase(Operand, Box<[Operand]>),
    Rule(RuleId),
    Call(&'static str, bool, Box<[Operand]>),
    Array(Box<[Operand]>),
}

impl LookupStep {
    fn of_step(step: &Step) -> Option<(Self, Slot)> {
        Some(match step {
            Step::Input { keys, out } => (Self::Input(keys.clone()), *out),
            Step::Dot { from, keys, out } => (Self::Below(*from, keys.clone()), *out),
            Step::Base { path, out } => (Self::Base(path.clone()), *out),
            Step::BaseChild {
                from, keys, out, ..
            } => (Self::BelowBase(*from, keys.clone()), *out),
            Step::Rule { rule, out } => (Self::Rule(*rule), *out),
            Step::MakeArray { items, out } => (Self::Array(items.clone()), *out),
            Step::Call { call, out } if is_pure(call.entry.builtin) => {
                let name = call.entry.builtin.name;
                (Self::Call(name, call.elements, call.args.clone()), *out)
            }
            _ => return None,
        })
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
    /// Slots of their results, by enclosing `with` and lookup.
    results: SmallMap<(u32, LookupStep), Slot>,
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
        if let Some((lookup, out)) = LookupStep::of_step(&step) {
            let scope = self.open.last().copied().unwrap_or(0);
            let made = (scope, lookup);
            if let Some(known) = self.results.get(&made) {
                self.renamed.insert(out, *known);
                return None;
            }
            self.results.insert(made, out);
        }
        step.blocks_mut().for_each(|block| self.block(block));
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
        step.blocks_mut().for_each(hoist);
        let at = insertion_point(&mut steps, &step);
        steps.insert(at, step);
    }
    *block = steps.into();
}

/// Returns the position for a step among the steps before it: before the first loop that it can leave.
fn insertion_point(before: &mut [Step], step: &Step) -> usize {
    let mut place = before.len();
    if !is_movable(step) {
        return place;
    }
    for (at, crossed) in before.iter_mut().enumerate().rev().take(MAX_DISTANCE) {
        if !is_pure_step(crossed) || fills_for(crossed, step) {
            break;
        }
        if matches!(crossed, Step::Scan { .. }) {
            place = at;
        }
    }
    place
}

/// Returns `true` if `reader` reads a slot that `step` fills.
fn fills_for(step: &mut Step, reader: &Step) -> bool {
    let mut found = false;
    step.results_mut(&mut |slot| {
        reader.operands(&mut |operand| found |= operand == Operand::Slot(*slot));
    });
    found
}

fn is_movable(step: &Step) -> bool {
    matches!(
        step,
        Step::Input { .. }
            | Step::Dot { .. }
            | Step::Base { .. }
            | Step::BaseChild { .. }
            | Step::IsTruthy(_)
            | Step::Equal(..)
            | Step::Member(..)
            | Step::Among(..)
            | Step::MayEqual(..)
            | Step::IsArray(..)
            | Step::IsObject(..)
    )
}

/// Returns `true` if a step only does lookups and tests, so that the number of its runs is not observable.
pub fn is_pure_step(step: &Step) -> bool {
    match step {
        Step::Scan { .. } | Step::Join(_) => true,
        Step::Not(block) => are_all([block], is_pure_step),
        step => is_movable(step),
    }
}

/// Returns `true` if all steps of some blocks have a property. The `Exists` at the end of a block only ends it.
pub fn are_all<'b>(blocks: impl IntoIterator<Item = &'b Block>, is_so: fn(&Step) -> bool) -> bool {
    let mut steps = blocks.into_iter().flatten();
    steps.all(|step| is_so(step) || matches!(step, Step::Exists))
}
