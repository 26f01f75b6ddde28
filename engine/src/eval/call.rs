//! Calls of built-ins and functions, including replaced ones.

use solon_syntax::source::Span;

use crate::bug::bug;
use crate::builtins::{BuiltinError, stop_or_error};
use crate::program::plan::Callee;
use crate::program::{BuiltinCall, Comparison, FunctionCall, HostCall, RuleKind, Slot};
use crate::runtime::{Halt, outcome};
use crate::value::ValueRef;

use super::frame::{Few, OperandSource};
use super::machine::Machine;
use super::scope::Mock;

/// A plan refers to a function of the host that does not exist.
pub(super) const NO_FUNCTION: &str = "a plan names a function that is not there";

impl<'e> Machine<'e> {
    /// Calls a built-in and fills a slot with its result; `false` when that is undefined.
    pub(super) fn call_into(&mut self, call: &'e BuiltinCall, out: Slot) -> Result<bool, Halt> {
        if let Some(intrinsic) = &call.intrinsic
            && self.intrinsic_call(intrinsic, call, out)
        {
            return Ok(true);
        }
        self.call_whole(call, out)
    }

    /// Calls a built-in without trying its intrinsic.
    #[inline(never)]
    pub(super) fn call_whole(&mut self, call: &'e BuiltinCall, out: Slot) -> Result<bool, Halt> {
        self.builtin(call, |machine, result| {
            machine.set(out, *result);
            true
        })
    }

    /// Calls a built-in. Returns `true` if its result is truthy, and `false` if it is undefined.
    pub(super) fn call_is_truthy(&mut self, call: &'e BuiltinCall) -> Result<bool, Halt> {
        self.builtin(call, |_, result| result.is_truthy())
    }

    /// Calls a built-in; `None` when the result is undefined.
    pub(super) fn call_value(
        &mut self,
        call: &'e BuiltinCall,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let mut found = None;
        self.builtin(call, |_, result| {
            found = Some(*result);
            true
        })?;
        Ok(found)
    }

    /// Calls a built-in and passes its result to a closure in place: moving a value right after it was written field by
    /// field would stall.
    #[inline]
    fn builtin(
        &mut self,
        call: &'e BuiltinCall,
        then: impl FnOnce(&mut Self, &ValueRef<'e>) -> bool,
    ) -> Result<bool, Halt> {
        let mut few = Few::default();
        let args = self.gather(call.taken(), &mut few);
        if self.mocked
            && let Some(mock) = self.mock(Callee::Builtin(call.entry.builtin.name))
        {
            let whole = self.with_array(call, args);
            let args = whole.as_ref().map_or(args, |whole| whole);
            let found = self.mocked_call(mock, args, call.span)?;
            return Ok(found.is_some_and(|result| then(self, &result)));
        }
        let prepared = call.prepared.as_deref();
        let result = call
            .entry
            .attempt(&mut self.call, args, prepared, call.span);
        match &result {
            Ok(value) => Ok(then(self, value)),
            Err(_) => self.without_value(result, call),
        }
    }

    /// Handles a call without a result. Returns `true` unless it is undefined.
    #[cold]
    fn without_value(
        &self,
        result: Result<ValueRef<'e>, BuiltinError>,
        call: &BuiltinCall,
    ) -> Result<bool, Halt> {
        let result = result.map_err(|fault| stop_or_error(&self.call, fault));
        let found = self.outcome(result, call.entry.builtin.name, call.span)?;
        Ok(found.is_some())
    }

    /// The operands of a call as it is written; `None` when they are those.
    fn with_array(&self, call: &BuiltinCall, args: &[ValueRef<'e>]) -> Option<[ValueRef<'e>; 2]> {
        if !call.elements {
            return None;
        }
        let first = self.get(*call.args.first()?);
        Some([first, self.call.arena.array(args)])
    }

    /// Calls a function of the host, or its replacement. Returns `None` if it is undefined.
    pub(super) fn host_call(&mut self, call: &'e HostCall) -> Result<Option<ValueRef<'e>>, Halt> {
        let mut few = Few::default();
        let args = self.gather(&call.args, &mut few);
        if self.mocked
            && let Some(mock) = self.mock(Callee::HostFunction(call.function))
        {
            return self.mocked_call(mock, args, call.span);
        }
        let Some(function) = self.program.functions.get(call.function as usize) else {
            bug!(NO_FUNCTION);
        };
        // rules are numbered upwards from 0, host functions downwards from the maximum
        let key = u32::MAX - call.function;
        if function.memoise
            && let Some(kept) = self.scope_memo().get(key, args)
        {
            return Ok(kept);
        }
        let result = function.call(&mut self.call, args);
        let result = self.outcome(result, &function.name, call.span)?;
        if function.memoise {
            self.scope_memo().put(key, args, result);
        }
        Ok(result)
    }

    #[inline]
    pub(super) fn outcome(
        &self,
        result: Result<ValueRef<'e>, BuiltinError>,
        name: &str,
        span: Span,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        outcome(self.program, self.strict, result, name, span)
    }

    /// Calls a function of the policy, or its replacement. Counts an iteration. Returns `None` if it is undefined.
    pub(super) fn function_call(
        &mut self,
        call: &'e FunctionCall,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let mut few = Few::default();
        let args = self.gather(&call.args, &mut few);
        self.count_iteration()?;
        if self.mocked
            && let Some(mock) = self.mock(Callee::Rule(call.rule))
        {
            return self.mocked_call(mock, args, call.span);
        }
        self.apply(call.rule, args)
    }

    fn mocked_call(
        &mut self,
        mock: Mock<'e>,
        args: &[ValueRef<'e>],
        span: Span,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        match mock {
            Mock::Value(value) => Ok(Some(value)),
            Mock::Builtin(entry) => {
                let result = entry.call(&mut self.call, args, None, span);
                self.outcome(result, entry.builtin.name, span)
            }
            Mock::Rule(rule) => {
                let kind = self.program.rules.get(rule as usize).map(|set| set.kind);
                self.without_mocks(|machine| match kind {
                    Some(RuleKind::Function(_)) => machine.apply(rule, args),
                    _ if machine.overlaid => machine.overlaid_rule(rule, &[]),
                    _ => machine.rule(rule),
                })
            }
        }
    }

    /// The result of a comparison that `with` replaces; `None` when it does not.
    pub(super) fn mocked_comparison(
        &mut self,
        comparison: Comparison,
        left: ValueRef<'e>,
        right: ValueRef<'e>,
    ) -> Result<Option<Option<ValueRef<'e>>>, Halt> {
        let name = match comparison {
            Comparison::NotEqual => "neq",
            Comparison::Less => "lt",
            Comparison::LessOrEqual => "lte",
            Comparison::Greater => "gt",
            Comparison::GreaterOrEqual => "gte",
        };
        match self.mock(Callee::Builtin(name)) {
            Some(mock) => self
                .mocked_call(mock, &[left, right], Span::default())
                .map(Some),
            None => Ok(None),
        }
    }
}
