//! Values in the arena from JSON.

use std::borrow::Cow;

use super::parser::Build;
use crate::value::text::ArenaText;
use crate::value::{Arena, Number, Short, V};

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
    fn null(&mut self, items: &mut Vec<V<'e>>) {
        items.push(V::Null);
    }

    #[inline]
    fn bool(&mut self, b: bool, items: &mut Vec<V<'e>>) {
        items.push(V::Bool(b));
    }

    #[inline]
    fn number(&mut self, number: Number<'e>, items: &mut Vec<V<'e>>) {
        match number {
            Number::Int(i) => items.push(V::Int(i)),
            Number::Decimal(scale, coefficient) => items.push(V::Decimal(scale, coefficient)),
            Number::Text(text) => items.push(V::NewNumber(self.arena.bump().alloc(text))),
        }
    }

    #[inline]
    fn string(&mut self, text: Cow<'e, str>, items: &mut Vec<V<'e>>) {
        if let Some(short) = Short::new(text.as_bytes()) {
            items.push(V::Short(short));
            return;
        }
        let text = match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.bump().alloc_str(&text),
        };
        items.push(V::NewText(self.arena.bump().alloc(ArenaText::Utf8(text))));
    }

    #[inline]
    fn key(&mut self, text: Cow<'e, str>, keys: &mut Vec<V<'e>>) {
        self.string(text, keys);
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<V<'e>>, start: usize) {
        let array = self.arena.array(items.get(start..).unwrap_or(&[]));
        items.truncate(start);
        items.push(array);
    }

    #[inline]
    fn object(
        &mut self,
        keys: &mut Vec<V<'e>>,
        first_key: usize,
        items: &mut Vec<V<'e>>,
        start: usize,
    ) {
        let names = keys.get(first_key..).unwrap_or(&[]);
        let object = self
            .arena
            .object_of(names, items.get(start..).unwrap_or(&[]));
        keys.truncate(first_key);
        items.truncate(start);
        items.push(object);
    }
}
