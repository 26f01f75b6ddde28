//! Prechecks: conditions for entering a rule.

use crate::program::canonical::{ConditionOperand, Conditions, Constraint, Membership};
use crate::runtime::{Halt, allows, may_have};
use crate::value::{Value, ValueRef};

use super::frame::{OperandSource, Register};
use super::machine::Machine;

impl<'e> Machine<'e> {
    /// Returns `true` if the conditions for entering the rule hold.
    pub(super) fn precheck(&mut self, conditions: &'e Conditions) -> Result<bool, Halt> {
        for constraints in &conditions.alternatives {
            let mut holds = true;
            for constraint in constraints {
                holds = holds && self.satisfies(constraint)?;
            }
            if holds {
                return self.has_keys(conditions);
            }
        }
        Ok(false)
    }

    /// Returns the value of a condition's operand; `argument` returns those of the call.
    pub(super) fn condition_value(
        &mut self,
        place: &'e ConditionOperand,
        argument: impl FnOnce(&Self, usize) -> Option<ValueRef<'e>>,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        Ok(match place {
            ConditionOperand::Input(keys) => self.input_at(keys),
            ConditionOperand::Data(keys) => {
                let path: smallvec::SmallVec<[ValueRef<'e>; 8]> =
                    keys.iter().map(Value::borrow).collect();
                self.document(&path)?
            }
            ConditionOperand::Argument(at) => argument(self, *at),
        })
    }

    fn has_keys(&mut self, conditions: &'e Conditions) -> Result<bool, Halt> {
        for Membership { key, collection } in &conditions.memberships {
            let Some(key) = self.at(key)? else {
                return Ok(false);
            };
            let collection = self.at(collection)?;
            if !collection.is_some_and(|collection| may_have(collection, key)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn satisfies(&mut self, constraint: &'e Constraint) -> Result<bool, Halt> {
        let found = self.at(&constraint.place)?;
        Ok(found.is_some_and(|found| allows(&constraint.tests, found)))
    }

    fn at(&mut self, place: &'e ConditionOperand) -> Result<Option<ValueRef<'e>>, Halt> {
        self.condition_value(place, |machine, at| {
            let slot = u32::try_from(at).unwrap_or(u32::MAX);
            machine.slot(slot).map(Register::value)
        })
    }
}
