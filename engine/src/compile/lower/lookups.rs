//! Places are looked up once in a body, and not again in each turn of a loop that does not change them.

use crate::builtins::Builtin;
use crate::compile::small_map::SmallMap;
use crate::program::{Block, ConstId, Operand, Plan, RuleId, Slot, Step};

/// How far back a step may move.
const MAX_DISTANCE: usize = 64;

/// Shares the lookups of a plan.
pub fn share(plan: &mut Plan) {
    Sharing::default().block(&mut plan.steps);
}

/// What a step looks up, or makes.
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
            Step::GetPath { from, keys, out } => (Self::Below(*from, keys.clone()), *out),
            Step::Base { path, out } => (Self::Base(path.clone()), *out),
            Step::BaseChild {
                from, keys, out, ..
            } => (Self::BelowBase(*from, keys.clone()), *out),
            Step::Rule { rule, out } => (Self::Rule(*rule), *out),
            Step::Array { items, out } => (Self::Array(items.clone()), *out),
            Step::Call { call, out } if is_pure(call.entry.builtin) => {
                let name = call.entry.builtin.name;
                (Self::Call(name, call.elements, call.args.clone()), *out)
            }
            _ => return None,
        })
    }
}

/// Whether a built-in answers the same again, and nobody sees how often it is asked.
pub fn is_pure(builtin: &Builtin) -> bool {
    !builtin.nondeterministic
        && builtin.observed.is_none()
        && !builtin.name.starts_with("internal.")
}

/// Lookups that have been made on the way to a step.
#[derive(Default)]
struct Sharing {
    /// Where their results are, by the `with` around them.
    known: SmallMap<(u32, LookupStep), Slot>,
    /// Slots that others stand for.
    renamed: SmallMap<Slot, Slot>,
    /// The `with`s that are open, innermost last.
    open: Vec<u32>,
    opened: u32,
}

impl Sharing {
    fn block(&mut self, block: &mut Block) {
        let mark = self.known.len();
        let steps = std::mem::take(block).into_iter();
        *block = steps.filter_map(|step| self.step(step)).collect();
        self.known.truncate(mark);
    }

    /// The step, unless its result is there.
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
            if let Some(known) = self.known.get(&made) {
                self.renamed.insert(out, *known);
                return None;
            }
            self.known.insert(made, out);
        }
        step.blocks_mut().for_each(|block| self.block(block));
        Some(step)
    }
}

/// Moves lookups and tests in front of the loops that do not change them.
pub fn hoist(block: &mut Block) {
    if !block.iter().any(|step| matches!(step, Step::Each { .. })) {
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

/// Where a step belongs that follows others: before the first loop that it may leave.
fn insertion_point(before: &mut [Step], step: &Step) -> usize {
    let mut place = before.len();
    if !is_movable(step) {
        return place;
    }
    for (at, crossed) in before.iter_mut().enumerate().rev().take(MAX_DISTANCE) {
        if !is_pure_step(crossed) || fills_for(crossed, step) {
            break;
        }
        if matches!(crossed, Step::Each { .. }) {
            place = at;
        }
    }
    place
}

/// Whether a step reads what another one fills.
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
            | Step::GetPath { .. }
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

/// Whether a step does nothing but look and test, so that nobody sees how often it runs.
pub fn is_pure_step(step: &Step) -> bool {
    match step {
        Step::Each { .. } | Step::Join(_) => true,
        Step::Not(block) => are_all([block], is_pure_step),
        step => is_movable(step),
    }
}

/// Whether all steps of some blocks are so. The `Exists` at the end of a block only ends it.
pub fn are_all<'b>(blocks: impl IntoIterator<Item = &'b Block>, is_so: fn(&Step) -> bool) -> bool {
    let mut steps = blocks.into_iter().flatten();
    steps.all(|step| is_so(step) || matches!(step, Step::Exists))
}
