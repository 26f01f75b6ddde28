//! Calls of built-ins.

use std::ops::Deref;
use std::sync::OnceLock;

use solon_syntax::source::Span;

use super::{Builtin, BuiltinContext, BuiltinError, BuiltinFn, Prepared};
use crate::limits;
use crate::types::Type;
use crate::value::{RefRepr, ValueRef};

/// A built-in with its parsed type.
pub struct BuiltinEntry {
    /// The row of the table that declares it.
    pub builtin: &'static Builtin,
    /// The type that its signature describes.
    pub declaration: Declaration,
}

/// The type of a built-in, parsed at its first use, because a short-lived process needs few of them.
pub struct Declaration {
    signature: &'static str,
    parsed: OnceLock<Type>,
}

impl Declaration {
    /// Returns the type that a signature describes.
    pub const fn new(signature: &'static str) -> Self {
        Self {
            signature,
            parsed: OnceLock::new(),
        }
    }
}

impl Deref for Declaration {
    type Target = Type;

    #[inline]
    fn deref(&self) -> &Type {
        self.parsed
            .get_or_init(|| crate::types::parse_signature(self.signature))
    }
}

/// Returns `true` if processing an operand may take so long that the limits are polled before it.
#[inline]
fn is_large(operand: &ValueRef<'_>) -> bool {
    match operand {
        ValueRef(RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_)) => {
            operand.text_or_empty().as_bytes().len() > limits::LARGE_OPERAND
        }
        ValueRef(RefRepr::Array(items)) => items.len() > limits::LARGE_OPERAND,
        ValueRef(RefRepr::ArenaArray(items)) => items.len() > limits::LARGE_OPERAND,
        ValueRef(RefRepr::Object(object)) => object.len() > limits::LARGE_OPERAND,
        ValueRef(RefRepr::ArenaObject(object)) => object.len() > limits::LARGE_OPERAND,
        ValueRef(RefRepr::Set(set)) => set.items().len() > limits::LARGE_OPERAND,
        ValueRef(RefRepr::ArenaSet(set)) => set.len() > limits::LARGE_OPERAND,
        _ => false,
    }
}

/// Returns the error of a limit that the evaluation has reached, or else the given error: an operand that did not fit
/// into memory is null, and the type error about it would be misleading.
#[cold]
pub fn stop_or_error(call: &BuiltinContext<'_>, error: BuiltinError) -> BuiltinError {
    if call.arena.excess().is_some() || call.arena.ended().is_some() {
        return call.budget.check().err().unwrap_or(error);
    }
    error
}

impl BuiltinEntry {
    /// Calls the built-in, specialized for its constant operands if `prepared` is given. Results of nondeterministic
    /// built-ins come from the cache of the decision, if it has one.
    pub fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        self.attempt(call, operands, prepared, span)
            .map_err(|error| stop_or_error(call, error))
    }

    /// Calls the built-in like [`Self::call`], without applying [`after`] to errors.
    #[inline]
    pub fn attempt<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        if self.builtin.nondeterministic {
            return self.call_recorded(call, operands, prepared, span);
        }
        self.run(call, operands, prepared)
    }

    #[inline]
    fn run<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        prepared: Option<&dyn Prepared>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        if call.budget.is_timed() && operands.iter().any(is_large) {
            call.budget.check()?;
        }
        if call.arena.has_oversized() {
            self.reject_oversized(operands)?;
        }
        match (prepared, self.builtin.run) {
            (Some(prepared), _) => prepared.call(call, operands),
            (None, BuiltinFn::Function(function)) => function(call, operands),
            (None, BuiltinFn::Evaluator) => Err(BuiltinError::unsupported(self.builtin.name)),
        }
    }

    /// Rejects operands that exceed the traversal limit, unless the function accepts them.
    #[cold]
    fn reject_oversized(&self, operands: &[ValueRef<'_>]) -> Result<(), BuiltinError> {
        let beyond = operands.iter().any(ValueRef::is_oversized);
        if beyond && !self.builtin.accepts_oversized {
            return Err(BuiltinError::memory());
        }
        Ok(())
    }

    #[cold]
    fn call_recorded<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        call.span = span;
        let (name, arena) = (self.builtin.name, call.arena);
        let Some(cache) = call.hooks.nd_cache else {
            return self.run(call, operands, prepared);
        };
        if let Some(recorded) = cache.get(arena, name, operands) {
            return Ok(recorded);
        }
        let result = self.run(call, operands, prepared)?;
        cache.put(arena, name, operands, result);
        Ok(result)
    }
}
