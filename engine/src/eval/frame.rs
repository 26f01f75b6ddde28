//! The slots of running plans.

use crate::program::{Operand, Slot};
use crate::value::{V, Value};

use super::machine::Machine;

impl<'e> Machine<'e> {
    /// The value of an operand.
    #[inline]
    pub(super) fn get(&self, operand: Operand) -> V<'e> {
        match operand {
            Operand::Slot(slot) => self
                .slots
                .get(self.base + slot as usize)
                .copied()
                .unwrap_or_default(),
            Operand::Const(id) => self.constant(id),
        }
    }

    /// A constant of the program, or of the query behind it.
    #[inline]
    pub(super) fn constant(&self, id: u32) -> V<'e> {
        self.stored_constant(id)
            .map(Value::borrow)
            .unwrap_or_default()
    }

    /// A slot, read in place.
    #[inline]
    pub(super) fn slot_ref(&self, slot: Slot) -> Option<&V<'e>> {
        self.slots.get(self.base + slot as usize)
    }

    /// A constant where it is stored.
    #[inline]
    pub(super) fn stored_constant(&self, id: u32) -> Option<&'e Value> {
        let own = &self.program.constants;
        match own.get(id as usize) {
            Some(value) => Some(value),
            None => self
                .query_constants
                .get((id as usize).wrapping_sub(own.len())),
        }
    }

    /// Fills a slot with a stored value, in place.
    #[inline]
    pub(super) fn set_stored(&mut self, slot: Slot, value: &'e Value) {
        if let Some(place) = self.slots.get_mut(self.base + slot as usize) {
            *place = value.borrow();
        }
    }

    /// Fills a slot.
    #[inline]
    pub(super) fn set(&mut self, slot: Slot, value: V<'e>) {
        if let Some(place) = self.slots.get_mut(self.base + slot as usize) {
            *place = value;
        }
    }

    /// Runs something on a frame of its own whose first slots hold `args`.
    #[inline]
    pub(super) fn framed<R>(
        &mut self,
        slots: u32,
        args: &[V<'e>],
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let caller = self.base;
        self.base = self.slots.len();
        self.slots.extend_from_slice(args);
        self.slots
            .resize(self.base + (slots as usize).max(args.len()), V::Null);
        let result = run(self);
        self.slots.truncate(self.base);
        self.base = caller;
        result
    }
}
