//! Asking the rule index.

use crate::program::{Branch, Numbers, Place, Places, Root};
use crate::value::{V, Value};

use super::machine::Machine;

/// Where a machine finds what an index asks for.
struct Asked<'m, 'e> {
    machine: &'m Machine<'e>,
    args: &'m [V<'e>],
}

impl<'e> Places<'e> for Asked<'_, 'e> {
    #[inline]
    fn at(&self, place: &'e Place) -> Option<V<'e>> {
        match place.root {
            Root::Input => self.machine.input_at(&place.path),
            Root::Argument(at) => {
                let argument = *self.args.get(at as usize)?;
                let keys = place.path.iter().map(Value::borrow);
                keys.fold(Some(argument), |value, key| value?.lookup(key))
            }
        }
    }

    fn is_strict(&self) -> bool {
        self.machine.strict
    }
}

impl<'e> Machine<'e> {
    /// The rules that an index finds.
    #[inline]
    pub(super) fn find(&self, index: &'e Branch, args: &[V<'e>]) -> Numbers<'e> {
        let machine = self;
        let found = index.find(&Asked { machine, args });
        match found.numbers() {
            Some(numbers) => numbers,
            None => {
                let merged = self.call.arena.bump().alloc_slice_copy(&found.merged());
                Numbers::of(merged)
            }
        }
    }
}
