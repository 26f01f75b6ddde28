//! Verification of the flow of values in plans.

use solon_syntax::stack;

use super::ending::Ending;
use super::{Check, callees};
use crate::program::{
    ConstId, Effects, Every, Inlined, Join, Operand, Part, Plan, Program, Rule, RuleKind, Slot,
    Step,
};

/// Effects of the instructions that compute the key of a hash join.
const LOOKUP: Effects = Effects::PURE
    .or(Effects::ALLOCATES)
    .or(Effects::REPLACEABLE)
    .or(Effects::ERRS);

/// The slots that are filled at a point of a plan.
#[derive(Clone)]
struct Filled(Vec<bool>);

impl Filled {
    fn fill(&mut self, slot: Slot) -> Check {
        match self.0.get_mut(slot as usize) {
            Some(filled) => *filled = true,
            None => return Err(format!("fills slot {slot} of {}", self.0.len())),
        }
        Ok(())
    }
}

/// Verifies the plans of a program. The error names the step that violates an invariant.
pub(super) struct PlanVerifier<'p> {
    pub program: &'p Program,
    pub constants: usize,
}

impl PlanVerifier<'_> {
    /// Verifies the constants and plans of a rule without its `else` chain.
    pub fn rule(&self, rule: &Rule, kind: RuleKind, arguments: u32) -> Check {
        let constants = rule.constant.iter().chain(&rule.settled);
        let mut constants = constants.chain(rule.constant_tail.iter().flatten());
        constants.try_for_each(|id| self.constant(*id))?;
        self.plan(&rule.plan, arguments, Ending::of_rule(rule, kind, 0))?;
        let mut keyed = (1..).zip(&rule.keyed);
        keyed.try_for_each(|(known, plan)| {
            self.plan(plan, known, Ending::of_rule(rule, kind, known))
        })
    }

    /// Verifies a plan whose first `given` slots are filled by the caller.
    pub fn plan(&self, plan: &Plan, given: u32, ending: Ending) -> Check {
        if given > plan.slots {
            let slots = plan.slots;
            return Err(format!("a frame of {slots} slots for {given} operands"));
        }
        let filled = Filled((0..plan.slots).map(|slot| slot < given).collect());
        self.block(&plan.steps, filled, ending).map(drop)
    }

    /// Verifies an inner block and returns the slots that are filled at its end. Grows the stack.
    fn inner(&self, block: &[Step], filled: Filled, ending: Ending) -> Check<Filled> {
        stack::level(|| self.block(block, filled, ending))
    }

    /// Verifies a block and returns the slots that are filled at its end.
    ///
    /// # Errors
    /// A slot is read before it is filled, or the terminator is missing, misplaced or of another kind.
    fn block(&self, block: &[Step], mut filled: Filled, ending: Ending) -> Check<Filled> {
        let Some((terminator, _)) = block.split_last() else {
            return Err("a block without a terminator".to_owned());
        };
        if !ending.is_met_by(terminator) {
            return Err(format!("`{}` ends the wrong block", terminator.kind()));
        }
        let mut open = 0_u32;
        for (at, step) in (1..).zip(block) {
            let is_last = at == block.len();
            let verified = match step {
                _ if step.effects().has(Effects::ENDS) != is_last => {
                    Err("is in the wrong position".to_owned())
                }
                Step::EndWith if open == 0 => Err("closes no `With`".to_owned()),
                step => self.step(step, &mut filled, ending),
            };
            verified.map_err(|violation| format!("`{}` {violation}", step.kind()))?;
            open += u32::from(matches!(step, Step::With(_)));
            open -= u32::from(matches!(step, Step::EndWith));
        }
        match open {
            0 => Ok(filled),
            _ => Err("`With` is not closed".to_owned()),
        }
    }

    fn step(&self, step: &Step, filled: &mut Filled, ending: Ending) -> Check {
        callees::effects(step)?;
        self.callee(step)?;
        match step {
            Step::Join(join) => return self.join(join, filled),
            Step::Every(every) => return self.every(every, filled.clone()),
            Step::Inlined(inlined) => return self.inlined(inlined, filled),
            // a replacement of the built-in takes the collection from there
            Step::Aggregate(aggregate) => filled.fill(aggregate.slot)?,
            step if step.effects().has(Effects::FAILS) => filled.0.fill(true),
            _ => {}
        }
        let mut verified = Ok(());
        step.parts(&mut |part| {
            if verified.is_ok() {
                verified = self.part(step, part, filled, ending);
            }
        });
        let mut results = Ok(());
        step.results(&mut |slot| {
            if results.is_ok() {
                results = filled.fill(slot);
            }
        });
        verified.and(results)
    }

    /// Checks a part that an instruction uses before it fills its results.
    fn part(&self, step: &Step, part: Part<'_>, filled: &Filled, ending: Ending) -> Check {
        match part {
            Part::Use(operand) => self.operand(*operand, filled),
            Part::Argument(slot) => self.operand(Operand::Slot(slot), filled),
            Part::Const(id) => self.constant(id),
            Part::Rule(id) => self.set(id).map(drop),
            Part::Function(id) => match self.program.functions.get(id as usize) {
                Some(_) => Ok(()),
                None => Err(format!("calls function {id} of the host")),
            },
            Part::Block(block) => {
                let ending = ending.of_inner(step);
                self.inner(block, filled.clone(), ending).map(drop)
            }
            Part::Def(_) | Part::Spare(_) | Part::Builtin(_) => Ok(()),
        }
    }

    /// The slots of the lookups are filled only if the elements are found by hash.
    fn join(&self, join: &Join, filled: &mut Filled) -> Check {
        let base = join.base.iter().flat_map(|path| &path.0);
        let mut operands = base.chain(&join.path).chain([&join.from]);
        operands.try_for_each(|operand| self.operand(*operand, filled))?;
        let mut found = filled.clone();
        for step in &join.lookup {
            if !step.effects().is_within(LOOKUP) {
                return Err(format!("looks up by `{}`", step.kind()));
            }
            self.step(step, &mut found, Ending::Exists)?;
        }
        self.operand(join.known, &found)?;
        join.key.iter().try_for_each(|key| filled.fill(*key))?;
        filled.fill(join.out)
    }

    /// The slots of the elements are not filled if there are none.
    fn every(&self, every: &Every, mut filled: Filled) -> Check {
        self.operand(every.domain, &filled)?;
        every.key.iter().try_for_each(|key| filled.fill(*key))?;
        filled.fill(every.value)?;
        self.inner(&every.block, filled, Ending::Exists).map(drop)
    }

    /// The result of a body may be in a slot that only this body fills.
    fn inlined(&self, inlined: &Inlined, filled: &mut Filled) -> Check {
        let mut args = inlined.call.args.iter();
        args.try_for_each(|arg| self.operand(*arg, filled))?;
        if inlined.blocks.len() != inlined.values.len() {
            return Err("has other bodies than values".to_owned());
        }
        for (block, value) in inlined.blocks.iter().zip(&inlined.values) {
            let at_end = self.inner(block, filled.clone(), Ending::Exists)?;
            self.operand(*value, &at_end)?;
        }
        filled.fill(inlined.out)
    }

    fn operand(&self, operand: Operand, filled: &Filled) -> Check {
        match operand {
            Operand::Const(id) => self.constant(id),
            Operand::Slot(slot) => match filled.0.get(slot as usize) {
                Some(true) => Ok(()),
                Some(false) => Err(format!("reads slot {slot}, which is not filled")),
                None => Err(format!("reads slot {slot} of {}", filled.0.len())),
            },
        }
    }

    fn constant(&self, id: ConstId) -> Check {
        if (id as usize) < self.constants {
            return Ok(());
        }
        Err(format!("has constant {id} of {}", self.constants))
    }
}
