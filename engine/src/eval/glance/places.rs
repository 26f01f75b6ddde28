//! What a rule index asks of a decision that is looked at.

use super::super::frame::Held;
use super::super::path;
use crate::program::{Node, Place, Places, Root, Values};
use crate::value::ValueRef;

/// The input, and the arguments of a function.
pub(super) struct Asked<'g, 'e> {
    pub input: Option<&'g Held<'e>>,
    pub args: &'g [Held<'e>],
}

impl<'g, 'e> Asked<'g, 'e> {
    #[inline]
    fn root(&self, place: &Place) -> Option<&'g Held<'e>> {
        match place.root {
            Root::Input => self.input,
            Root::Argument(at) => self.args.get(at as usize),
        }
    }
}

impl<'e> Places<'e> for Asked<'_, 'e> {
    #[inline]
    fn at(&self, place: &'e Place) -> Option<ValueRef<'e>> {
        path::at(*self.root(place)?, &place.path)
    }

    #[inline]
    fn answer(&self, place: &'e Place, answers: &'e Values) -> Option<&'e Node> {
        path::answer(self.root(place)?, &place.path, answers)
    }

    fn is_strict(&self) -> bool {
        false
    }
}
