//! Conditions without which a rule is not entered.

use crate::evaluation::{Halt, allows};
use crate::program::canonical::{Conditions, Constraint, Place};
use crate::value::{V, Value};

use super::frame::{Held, Operands};
use super::machine::Machine;

impl<'e> Machine<'e> {
    /// Whether the conditions of the rule that begins hold.
    pub(super) fn screen(&mut self, conditions: &'e Conditions) -> Result<bool, Halt> {
        for constraints in &conditions.alternatives {
            let mut holds = true;
            for constraint in constraints {
                holds = holds && self.satisfies(constraint)?;
            }
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn satisfies(&mut self, constraint: &'e Constraint) -> Result<bool, Halt> {
        let found = match &constraint.place {
            Place::Input(keys) => self.input_at(keys),
            Place::Data(keys) => {
                let path: smallvec::SmallVec<[V<'e>; 8]> = keys.iter().map(Value::borrow).collect();
                self.document(&path)?
            }
            Place::Argument(at) => self
                .slot(u32::try_from(*at).unwrap_or(u32::MAX))
                .map(Held::value),
        };
        Ok(found.is_some_and(|found| allows(&constraint.tests, found)))
    }
}
