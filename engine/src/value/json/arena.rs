//! Values in the arena from JSON.

use std::borrow::Cow;

use super::parser::Build;
use crate::value::{Arena, NumberBuf, V};

/// Builds values in an arena.
pub(super) struct InArena<'e> {
    arena: &'e Arena,
}

impl<'e> InArena<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        Self { arena }
    }
}

impl<'e> Build<'e> for InArena<'e> {
    type Item = V<'e>;
    type Key = V<'e>;

    #[inline]
    fn null(&mut self) -> V<'e> {
        V::Null
    }

    #[inline]
    fn bool(&mut self, b: bool) -> V<'e> {
        V::Bool(b)
    }

    #[inline]
    fn number(&mut self, number: NumberBuf) -> V<'e> {
        self.arena.number(number)
    }

    fn number_text(&mut self, text: &'e str) -> V<'e> {
        V::NewNumber(self.arena.bump().alloc(text))
    }

    #[inline]
    fn string(&mut self, text: Cow<'e, str>) -> V<'e> {
        match text {
            Cow::Borrowed(text) => self.arena.borrowed_text(text),
            Cow::Owned(text) => self.arena.text(&text),
        }
    }

    #[inline]
    fn key(&mut self, text: Cow<'e, str>) -> V<'e> {
        self.string(text)
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<V<'e>>, start: usize) -> V<'e> {
        let array = self.arena.array(items.get(start..).unwrap_or(&[]));
        items.truncate(start);
        array
    }

    #[inline]
    fn object(
        &mut self,
        keys: &mut Vec<V<'e>>,
        first_key: usize,
        values: &mut Vec<V<'e>>,
        first_value: usize,
    ) -> V<'e> {
        let names = keys.get(first_key..).unwrap_or(&[]);
        let members = values.get(first_value..).unwrap_or(&[]);
        let object = self.arena.object_of(names, members);
        keys.truncate(first_key);
        values.truncate(first_value);
        object
    }
}
