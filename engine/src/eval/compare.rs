//! Tests of two values.
//!
//! They read operands where they are: a value that was just written in parts is not copied as a whole.

use crate::program::{Comparison, Operand};
use crate::value::{V, Value};

use super::error::Halt;
use super::machine::Machine;

impl<'e> Machine<'e> {
    /// Whether two operands are equal.
    #[inline]
    pub(super) fn equal(&self, left: Operand, right: Operand) -> bool {
        match (left, right) {
            (Operand::Slot(slot), Operand::Const(id))
            | (Operand::Const(id), Operand::Slot(slot)) => {
                match (self.slot_ref(slot), self.stored_constant(id)) {
                    (Some(V::Short(a)), Some(Value::Short(b))) => a == b,
                    (Some(V::Int(a)), Some(Value::Int(b))) => a == b,
                    (Some(V::Bool(a)), Some(Value::Bool(b))) => a == b,
                    (Some(a), Some(b)) => *a == b.borrow(),
                    _ => false,
                }
            }
            (Operand::Slot(a), Operand::Slot(b)) => match (self.slot_ref(a), self.slot_ref(b)) {
                (Some(V::Short(a)), Some(V::Short(b))) => a == b,
                (Some(V::Int(a)), Some(V::Int(b))) => a == b,
                (Some(a), Some(b)) => *a == *b,
                _ => false,
            },
            (left, right) => self.get(left) == self.get(right),
        }
    }

    /// Whether a comparison of two operands holds.
    #[inline]
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        left: Operand,
        right: Operand,
    ) -> Result<bool, Halt> {
        if self.mocked {
            let (left, right) = (self.get(left), self.get(right));
            if let Some(result) = self.mocked_comparison(comparison, left, right)? {
                return Ok(result.is_some_and(V::holds));
            }
        }
        if comparison == Comparison::NotEqual {
            return Ok(!self.equal(left, right));
        }
        let order = match (left, right) {
            (Operand::Slot(slot), Operand::Const(id)) => {
                match (self.slot_ref(slot), self.stored_constant(id)) {
                    (Some(V::Int(a)), Some(Value::Int(b))) => a.cmp(b),
                    _ => self.get(left).cmp(&self.get(right)),
                }
            }
            _ => self.get(left).cmp(&self.get(right)),
        };
        Ok(match comparison {
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        })
    }
}
