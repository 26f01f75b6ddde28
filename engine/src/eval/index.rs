//! Asking the rule index.

use crate::program::{Branch, Numbers, Place, Places, Root};
use crate::value::V;

use super::frame::Held;
use super::machine::Machine;
use super::path;

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
                path::at(Held::Flying(argument), &place.path)
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
