//! Intrinsics: calls evaluated in place for common operands.

use crate::builtins::IntrinsicResult;
use crate::program::{BuiltinCall, Intrinsic, Operand, Slot};
use crate::value::{RefRepr, Repr, Value, ValueRef};

use super::compare::Compare;
use super::frame::{OperandSource, Register};
use super::machine::Machine;
use super::texts::Texts;

impl Machine<'_> {
    /// Fills a slot with the result of an intrinsic; `false` if the built-in must be called: the operands are others,
    /// or a function replaces the built-in.
    #[inline(never)]
    pub(super) fn intrinsic_call(
        &mut self,
        intrinsic: &Intrinsic,
        call: &BuiltinCall,
        out: Slot,
    ) -> bool {
        if self.mocked {
            return false;
        }
        match intrinsic {
            Intrinsic::Get => self.look_up(call, out),
            Intrinsic::Plus => self.counted(call, out, i64::checked_add),
            Intrinsic::Minus => self.counted(call, out, i64::checked_sub),
            Intrinsic::Times => self.counted(call, out, i64::checked_mul),
            Intrinsic::Function(_) | Intrinsic::Prepared(..) => {
                match self.intrinsic(intrinsic, call) {
                    Some((IntrinsicResult::Bool, answer)) => {
                        self.set(out, ValueRef(RefRepr::Bool(answer != 0)));
                    }
                    Some((IntrinsicResult::Int, answer)) => {
                        self.set(out, ValueRef(RefRepr::Int(answer)));
                    }
                    None => return false,
                }
                true
            }
        }
    }

    /// Returns the result of an operation on two small integers.
    #[inline]
    fn counted(
        &mut self,
        call: &BuiltinCall,
        out: Slot,
        count: impl Fn(i64, i64) -> Option<i64>,
    ) -> bool {
        let [left, right] = *call.args else {
            return false;
        };
        let (Some(left), Some(right)) = (self.int(left), self.int(right)) else {
            return false;
        };
        match count(left, right) {
            Some(result) => {
                self.set(out, ValueRef(RefRepr::Int(result)));
                true
            }
            None => false,
        }
    }

    /// Looks up a constant in an object, with a default, as a step of a path does.
    #[inline]
    fn look_up(&mut self, call: &BuiltinCall, out: Slot) -> bool {
        let [object, Operand::Const(key), default] = *call.args else {
            return false;
        };
        let stored = match object {
            Operand::Slot(slot) => match self.slot(slot) {
                Some(Register::Stored(Value(Repr::Object(object)))) => object,
                Some(Register::Value(ValueRef(RefRepr::Object(object)))) => *object,
                _ => return false,
            },
            Operand::Const(_) => return false,
        };
        match self.under(stored, key) {
            Some(Some(found)) => self.set_stored(out, found),
            Some(None) => self.copy(default, out),
            None => return false,
        }
        true
    }
}
