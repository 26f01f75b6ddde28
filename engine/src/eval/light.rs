//! Light steps: lookups and tests, which most loops consist of, run inside the loop.

use crate::bug::bug;
use crate::program::{Operand, Step};
use crate::runtime::Halt;

use super::compare::Compare;
use super::frame::OperandSource;
use super::machine::{Flow, Machine};
use super::terminator::NO_TERMINATOR;

/// Progress of light steps.
pub(super) enum Light<'e> {
    /// To the end of their block.
    Done(Flow),
    /// To a step that is not light, with the steps from there.
    Rest(&'e [Step]),
    /// To the end of the evaluation, by an error or a limit.
    Halted(Halt),
}

impl<'e> Machine<'e> {
    /// Runs one iteration of a generator. Not inlined, so that loops enter the interpreter only for steps that need it.
    #[inline(never)]
    pub(super) fn next(&mut self, steps: &'e [Step]) -> Result<Flow, Halt> {
        self.count_iteration()?;
        self.onward(steps)
    }

    /// Runs the body of a rule, which often consists of light steps only.
    #[inline(never)]
    pub(super) fn enter(&mut self, steps: &'e [Step]) -> Result<Flow, Halt> {
        self.onward(steps)
    }

    /// Runs steps: the light ones here, the rest in the interpreter.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the body of the most frequent loops: light steps run in them"
    )]
    pub(super) fn onward(&mut self, steps: &'e [Step]) -> Result<Flow, Halt> {
        match self.light(steps) {
            Light::Done(flow) => Ok(flow),
            Light::Rest(rest) => self.run(rest),
            Light::Halted(halt) => Err(halt),
        }
    }

    /// Runs steps up to the first that is not light.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "its callers are loops that would otherwise call it for each element"
    )]
    pub(super) fn light(&mut self, steps: &'e [Step]) -> Light<'e> {
        self.light_steps::<true>(steps)
    }

    /// Returns `true` if a block finds nothing; `None` if not all of its steps are light.
    #[inline]
    fn not(&mut self, block: &'e [Step]) -> Option<bool> {
        if let [Step::Test(test, call), Step::Exists] = block {
            return self.test_texts(*test, call).map(|on| !on);
        }
        self.fails(block)
    }

    /// Returns `true` if a block of light steps finds nothing. Nested negations are not light: deep negations need more
    /// stack, which only `run` provides. Neither are calls, which may end the evaluation.
    #[inline(never)]
    fn fails(&mut self, block: &'e [Step]) -> Option<bool> {
        match self.light_steps::<false>(block) {
            Light::Done(flow) => Some(flow == Flow::More),
            Light::Rest(_) | Light::Halted(_) => None,
        }
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a part of `light`, for blocks with and without negations"
    )]
    fn light_steps<const NEGATIONS: bool>(&mut self, mut steps: &'e [Step]) -> Light<'e> {
        while let Some((step, rest)) = steps.split_first() {
            let on = match step {
                Step::Dot { from, keys, out } => match **keys {
                    [Operand::Const(id)] => match self.field(*from, id) {
                        Some(Some(value)) => {
                            self.set_stored(*out, value);
                            true
                        }
                        Some(None) => false,
                        None => return Light::Rest(steps),
                    },
                    _ => self.get_operand_path(*from, keys, *out),
                },
                Step::BaseChild {
                    from, keys, out, ..
                } if !self.overlaid => self.stored_base_child(*from, keys, *out),
                Step::Input { keys, out } => self.get_input_path(keys, *out),
                Step::Equal(left, right) => self.equal(*left, *right),
                Step::IsTruthy(operand) => self.is_truthy(*operand),
                Step::Member(value, collection) => self.contains_member(*value, *collection),
                Step::Compare(comparison, left, right) => {
                    match self.compare_ints(*comparison, *left, *right) {
                        Some(on) => on,
                        None => return Light::Rest(steps),
                    }
                }
                Step::Test(test, call) => match self.test_texts(*test, call) {
                    Some(on) => on,
                    None => return Light::Rest(steps),
                },
                Step::Not(block) if NEGATIONS => match self.not(block) {
                    Some(on) => on,
                    None => return Light::Rest(steps),
                },
                Step::Call { call, out }
                    if let Some(intrinsic) = &call.intrinsic
                        && self.intrinsic_call(intrinsic, call, *out) =>
                {
                    true
                }
                Step::Call { call, out } if NEGATIONS => match self.call_whole(call, *out) {
                    Ok(on) => on,
                    Err(halt) => return Light::Halted(halt),
                },
                Step::ArrayAppend(operand) => {
                    self.append(*operand);
                    false
                }
                Step::SetAdd(operand) => {
                    self.insert(*operand);
                    false
                }
                Step::Exists => return Light::Done(Flow::Stop),
                Step::Value(operand) if NEGATIONS => match self.value(*operand) {
                    Ok(flow) => return Light::Done(flow),
                    Err(halt) => return Light::Halted(halt),
                },
                _ => return Light::Rest(steps),
            };
            if !on {
                return Light::Done(Flow::More);
            }
            steps = rest;
        }
        bug!(NO_TERMINATOR)
    }
}
