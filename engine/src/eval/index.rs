//! Queries of the rule index.

use crate::program::{
    AccessPath, DecisionBranch, DecisionNode, IndexInput, Numbers, PathRoot, SelectedRules, Values,
};
use crate::value::ValueRef;

use super::frame::Register;
use super::machine::Machine;
use super::path;

/// Values that the rule index tests, in a machine.
struct MachineIndexInput<'m, 'e> {
    machine: &'m Machine<'e>,
    args: &'m [ValueRef<'e>],
}

impl<'e> IndexInput<'e> for MachineIndexInput<'_, 'e> {
    #[inline]
    fn value_at(&self, place: &'e AccessPath) -> Option<ValueRef<'e>> {
        match place.root {
            PathRoot::Input => self.machine.input_at(&place.path),
            PathRoot::Argument(at) => {
                let argument = *self.args.get(at as usize)?;
                path::value_at(Register::Value(argument), &place.path)
            }
        }
    }

    #[inline]
    fn child(&self, place: &'e AccessPath, answers: &'e Values) -> Option<&'e DecisionNode> {
        match place.root {
            PathRoot::Input => path::child(self.machine.input.as_ref()?, &place.path, answers),
            PathRoot::Argument(at) => {
                let argument = self.args.get(at as usize)?;
                if place.path.is_empty() {
                    return answers.get(argument);
                }
                answers.get(&path::value_at(Register::Value(*argument), &place.path)?)
            }
        }
    }

    fn is_strict(&self) -> bool {
        self.machine.strict
    }
}

impl<'e> Machine<'e> {
    /// Returns the rules that an index selects.
    #[inline]
    pub(super) fn find(&self, index: &'e DecisionBranch, args: &[ValueRef<'e>]) -> Numbers<'e> {
        let machine = self;
        match index.find(&MachineIndexInput { machine, args }) {
            SelectedRules::Few(numbers) => numbers,
            SelectedRules::Merged(numbers) => {
                Numbers::of_list(self.call.arena.bump().alloc_slice_copy(&numbers))
            }
        }
    }
}
