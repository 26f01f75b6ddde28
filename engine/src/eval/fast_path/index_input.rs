//! Values that the rule index tests, on the fast path.

use super::super::frame::Register;
use super::super::path;
use crate::program::{AccessPath, DecisionNode, IndexInput, PathRoot, Values};
use crate::value::ValueRef;

/// The input, and the arguments of a function.
pub(super) struct FastIndexInput<'g, 'e> {
    pub input: Option<&'g Register<'e>>,
    pub args: &'g [Register<'e>],
}

impl<'g, 'e> FastIndexInput<'g, 'e> {
    #[inline]
    fn root(&self, place: &AccessPath) -> Option<&'g Register<'e>> {
        match place.root {
            PathRoot::Input => self.input,
            PathRoot::Argument(at) => self.args.get(at as usize),
        }
    }
}

impl<'e> IndexInput<'e> for FastIndexInput<'_, 'e> {
    #[inline]
    fn value_at(&self, place: &'e AccessPath) -> Option<ValueRef<'e>> {
        path::value_at(*self.root(place)?, &place.path)
    }

    #[inline]
    fn child(&self, place: &'e AccessPath, answers: &'e Values) -> Option<&'e DecisionNode> {
        path::child(self.root(place)?, &place.path, answers)
    }

    fn is_strict(&self) -> bool {
        false
    }
}
