//! Calls on the fast path: functions, rules, and intrinsics.

use super::super::compare::Compare;
use super::super::frame::{OperandSource, Register};
use super::super::texts::Texts;
use super::{ARGS, DEPTH, End, FastPath, MAX_SLOTS};
use crate::builtins::IntrinsicResult;
use crate::program::{BuiltinCall, Intrinsic, Operand, RuleId, RuleKind, Slot};
use crate::value::{RefRepr, Repr, Value, ValueRef};

impl<'e> FastPath<'_, 'e> {
    /// Evaluates another rule, or a function for arguments, in a new frame; `None` if it cannot be decided.
    #[inline(never)]
    pub(super) fn other(
        &mut self,
        rule: RuleId,
        args: &[Operand],
        out: Slot,
        depth: u8,
    ) -> Option<bool> {
        let outer = self.outer + depth + 1;
        let set = self.program.rules.get(rule as usize)?;
        if outer > DEPTH || args.len() > ARGS {
            return None;
        }
        let mut given = [Register::Value(ValueRef(RefRepr::Null)); ARGS];
        for (place, arg) in given.iter_mut().zip(args) {
            *place = self.register(*arg);
        }
        let mut other = FastPath {
            slots: [Register::Value(ValueRef(RefRepr::Null)); MAX_SLOTS],
            found: None,
            args: given.get(..args.len()),
            iterations: self.iterations.checked_sub(1)?,
            outer,
            early: false,
            ..*self
        };
        let end = match set.kind {
            RuleKind::Complete | RuleKind::Function(_) => other.whole(set),
            RuleKind::Set | RuleKind::Object => End::Unsure,
        };
        self.iterations = other.iterations;
        match end {
            End::Hit => Some(self.set(out, other.found)),
            End::Miss => Some(false),
            End::Unsure => None,
        }
    }

    /// Fills a slot with the result of an intrinsic; `None` if the built-in must be called.
    #[inline(never)]
    pub(super) fn intrinsic_call(&mut self, call: &BuiltinCall, out: Slot) -> Option<bool> {
        let intrinsic = call.intrinsic.as_ref()?;
        let answer = match intrinsic {
            Intrinsic::Get => self.looked_up(call)?,
            Intrinsic::Plus => self.counted(call, i64::checked_add)?,
            Intrinsic::Minus => self.counted(call, i64::checked_sub)?,
            Intrinsic::Times => self.counted(call, i64::checked_mul)?,
            Intrinsic::Function(_) | Intrinsic::Prepared(..) => {
                Register::Value(match self.intrinsic(intrinsic, call)? {
                    (IntrinsicResult::Bool, answer) => ValueRef(RefRepr::Bool(answer != 0)),
                    (IntrinsicResult::Int, answer) => ValueRef(RefRepr::Int(answer)),
                })
            }
        };
        Some(self.set(out, Some(answer)))
    }

    /// Returns the result of an operation on two small integers.
    fn counted(
        &self,
        call: &BuiltinCall,
        count: impl Fn(i64, i64) -> Option<i64>,
    ) -> Option<Register<'e>> {
        let [left, right] = *call.args else {
            return None;
        };
        let counted = count(self.int(left)?, self.int(right)?)?;
        Some(Register::Value(ValueRef(RefRepr::Int(counted))))
    }

    /// Returns the value of an object under a constant, or a default.
    fn looked_up(&self, call: &BuiltinCall) -> Option<Register<'e>> {
        let [object, Operand::Const(key), default] = *call.args else {
            return None;
        };
        let (Register::Stored(Value(Repr::Object(object)))
        | Register::Value(ValueRef(RefRepr::Object(object)))) = self.register(object)
        else {
            return None;
        };
        let found = object.get_stored(self.stored_constant(key)?);
        Some(found.map_or_else(|| self.register(default), Register::Stored))
    }
}
