//! Prepared calls that only test one string.

use std::sync::Arc;

use super::{BuiltinContext, BuiltinError, Operands, Prepared};
use crate::value::{RefRepr, TextView, ValueRef};

/// A test of the string operand at an index.
struct Tested<T> {
    position: u8,
    test: T,
}

/// Returns a prepared call whose result is a test of the operand at an index.
pub fn tested(
    position: u8,
    test: impl Fn(&TextView<'_>) -> bool + Send + Sync + 'static,
) -> Arc<dyn Prepared> {
    Arc::new(Tested { position, test })
}

impl<T: Fn(&TextView<'_>) -> bool + Send + Sync> Prepared for Tested<T> {
    fn call<'e>(
        &self,
        _: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        Ok(ValueRef(RefRepr::Bool(
            self.test(&operands.text(self.position)?),
        )))
    }

    fn tested(&self) -> Option<usize> {
        Some(usize::from(self.position))
    }

    fn test(&self, text: &TextView<'_>) -> bool {
        (self.test)(text)
    }
}
