//! Comparisons of two values.
//!
//! Operands are read in place: copying a value right after it was written field by field would stall.

use std::cmp::Ordering;

use crate::builtins::has_element;
use crate::program::{Comparison, Operand};
use crate::runtime::Halt;
use crate::value::{RefRepr, Repr, Value, ValueRef};

use super::frame::{OperandSource, Register};
use super::machine::Machine;

/// Comparisons of operands in place.
pub(super) trait Compare<'e>: OperandSource<'e> {
    /// Returns `true` if two operands are equal. Constants are compared without a borrowed value.
    #[inline]
    fn equal(&self, left: Operand, right: Operand) -> bool {
        match (left, right) {
            (Operand::Slot(slot), Operand::Const(id))
            | (Operand::Const(id), Operand::Slot(slot)) => {
                let Some(constant) = self.stored_constant(id) else {
                    return false;
                };
                match self.slot(slot) {
                    Some(Register::Stored(value)) => same(value, constant),
                    Some(Register::Value(value)) => same_in_flight(value, constant),
                    None => false,
                }
            }
            (Operand::Slot(a), Operand::Slot(b)) => match (self.slot(a), self.slot(b)) {
                (Some(a), Some(b)) => same_register(a, b),
                _ => false,
            },
            (left, right) => self.get(left) == self.get(right),
        }
    }

    /// Returns `true` if a comparison of two operands holds.
    #[inline]
    fn compares(&self, comparison: Comparison, left: Operand, right: Operand) -> bool {
        if comparison == Comparison::NotEqual {
            return !self.equal(left, right);
        }
        let order = match (self.int(left), self.int(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.order(left, right),
        };
        accepts(comparison, order)
    }

    #[inline]
    fn int(&self, operand: Operand) -> Option<i64> {
        let stored = match operand {
            Operand::Slot(slot) => match self.slot(slot)? {
                Register::Stored(value) => value,
                Register::Value(ValueRef(RefRepr::Int(int))) => return Some(*int),
                Register::Value(_) => return None,
            },
            Operand::Const(id) => self.stored_constant(id)?,
        };
        match stored {
            Value(Repr::Int(int)) => Some(*int),
            _ => None,
        }
    }

    #[inline(never)]
    fn order(&self, left: Operand, right: Operand) -> Ordering {
        self.get(left).cmp(&self.get(right))
    }
}

impl<'e, O: OperandSource<'e>> Compare<'e> for O {}

impl Machine<'_> {
    /// Returns `true` if a collection contains a value. Linear for arrays.
    #[inline(never)]
    pub(super) fn contains_member(&self, value: Operand, collection: Operand) -> bool {
        is_member(self.get(value), self.get(collection))
    }

    /// Returns `true` if a comparison of two operands holds.
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
                return Ok(result.is_some_and(ValueRef::is_truthy));
            }
        }
        Ok(self.compares(comparison, left, right))
    }

    /// Compares two small integers; `None` for other operands, or if a function replaces the comparison.
    #[inline]
    pub(super) fn compare_ints(
        &self,
        comparison: Comparison,
        left: Operand,
        right: Operand,
    ) -> Option<bool> {
        if self.mocked {
            return None;
        }
        let order = self.int(left)?.cmp(&self.int(right)?);
        Some(accepts(comparison, order))
    }
}

/// Returns `true` if two registers hold equal values.
#[inline]
pub(super) fn same_register(a: &Register<'_>, b: &Register<'_>) -> bool {
    match (a, b) {
        (Register::Stored(a), Register::Stored(b)) => same(a, b),
        (Register::Stored(a), Register::Value(b)) | (Register::Value(b), Register::Stored(a)) => {
            same_in_flight(b, a)
        }
        (Register::Value(a), Register::Value(b)) => *a == *b,
    }
}

/// Returns `true` if a collection contains a value. Linear for arrays.
#[inline]
pub(super) fn is_member(value: ValueRef<'_>, collection: ValueRef<'_>) -> bool {
    match collection {
        ValueRef(RefRepr::Array(items)) => items.iter().any(|item| same_in_flight(&value, item)),
        collection => has_element(collection, value),
    }
}

#[inline]
fn accepts(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

#[inline]
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value(Repr::Short(a)), Value(Repr::Short(b))) => a == b,
        (Value(Repr::Int(a)), Value(Repr::Int(b))) => a == b,
        (Value(Repr::Bool(a)), Value(Repr::Bool(b))) => a == b,
        _ => a == b,
    }
}

#[inline]
fn same_in_flight(a: &ValueRef<'_>, b: &Value) -> bool {
    match (a, b) {
        (ValueRef(RefRepr::Short(a)), Value(Repr::Short(b))) => a == b,
        (ValueRef(RefRepr::Int(a)), Value(Repr::Int(b))) => a == b,
        (ValueRef(RefRepr::Bool(a)), Value(Repr::Bool(b))) => a == b,
        _ => *a == b.borrow(),
    }
}
