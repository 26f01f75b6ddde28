//! The arena of one evaluation and the compound values in it.
//!
//! A bump arena: nothing in it is dropped, and one reset frees all values of an evaluation.

mod alarm;
mod keys;
mod object;
mod overlaid;
mod set;
mod value_size;

use std::cell::Cell;
use std::ops::Deref;

use bumpalo::Bump;
use solon_syntax::stack;

pub use alarm::Ended;
pub use object::{ArenaObject, ArenaPairs, KeyPositions, ObjectBuilder, Put};
pub use overlaid::Overlaid;
pub use set::{ArenaMembers, ArenaSet, SetBuilder};

use self::alarm::Alarm;
use self::value_size::ValueSize;
use super::json::Lists;
use super::number::NumberBuf;
use super::text::{ArenaText, Short, TextView, TextViewRepr};
use super::{Kind, Object, RefRepr, Repr, Set, Value, ValueRef};
use crate::limits;

/// Memory of one evaluation.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    excess: Cell<Option<Excess>>,
    /// `true` if a value with more than [`limits::VALUE_NODES`] nodes was built.
    has_oversized: Cell<bool>,
    alarm: Alarm,
    /// Lists for reading inputs, kept for the next input.
    pub(super) lists: Cell<Lists<Room, Room, ()>>,
}

/// Memory for one value of any lifetime: a list of it has the layout of a list of values.
pub(super) type Room = [u64; 2];

/// The reason why an evaluation must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// A value would be nested deeper than [`limits::VALUE_NESTING`] above parsed values. It was replaced by `null`.
    Depth,
    /// A traversal of more than [`limits::VALUE_NODES`] nodes was attempted. Values share nodes, so a few steps can
    /// build a larger value. It may exist, but it is not compared, hashed or written.
    Nodes,
}

/// An array in the arena, with its size.
pub struct ArenaArray<'e> {
    items: &'e [ValueRef<'e>],
    extent: ValueSize,
    arena: &'e Arena,
}

impl<'e> Deref for ArenaArray<'e> {
    type Target = &'e [ValueRef<'e>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

impl Arena {
    /// Creates an empty arena. Allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the bump allocator. What it allocates counts towards the memory limit.
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// Frees all values and keeps memory for the next evaluation.
    pub fn reset(&mut self) {
        self.bump.reset();
        self.excess.set(None);
        self.has_oversized.set(false);
        self.alarm = Alarm::default();
    }

    /// Returns the limit that was exceeded, if one was.
    pub fn excess(&self) -> Option<Excess> {
        self.excess.get()
    }

    /// Returns the size of a compound with these members, or `None` if it is nested too deeply.
    #[inline]
    fn size_of(&self, items: &[ValueRef<'_>]) -> Option<ValueSize> {
        self.size_of_pairs(items, &[])
    }

    /// Returns the size of an object with these keys and values, or `None` if it is nested too deeply.
    #[inline]
    fn size_of_pairs(&self, keys: &[ValueRef<'_>], values: &[ValueRef<'_>]) -> Option<ValueSize> {
        self.size_with_extra(keys, values, 0)
    }

    /// Like [`Self::size_of_pairs`], with `extra` additional members that are stored or scalars.
    #[inline]
    fn size_with_extra(
        &self,
        keys: &[ValueRef<'_>],
        values: &[ValueRef<'_>],
        extra: usize,
    ) -> Option<ValueSize> {
        // the evaluation has failed and ends at its next poll
        if self.excess.get().is_some() {
            return None;
        }
        let size = ValueSize::of_compound(keys, values, extra);
        if size.is_too_deep() {
            self.excess.set(Some(Excess::Depth));
            return None;
        }
        if size.is_oversized() {
            self.has_oversized.set(true);
        }
        Some(size)
    }

    /// Returns the bytes that values occupy.
    pub fn used(&mut self) -> usize {
        let chunks = self.bump.iter_allocated_chunks();
        chunks.map(<[_]>::len).sum()
    }

    /// Returns the bytes that are allocated for values, used or not.
    pub fn bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// Copies a string into the arena. Short strings are stored inline.
    #[inline]
    pub fn text(&self, text: &str) -> ValueRef<'_> {
        match Short::new(text.as_bytes()) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => self.borrowed_text(self.bump.alloc_str(text)),
        }
    }

    /// Wraps a string that outlives the arena's values.
    #[inline]
    pub fn borrowed_text<'e>(&'e self, text: &'e str) -> ValueRef<'e> {
        match Short::new(text.as_bytes()) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => ValueRef(RefRepr::ArenaText(self.bump.alloc(ArenaText::Utf8(text)))),
        }
    }

    /// Copies a string of bytes into the arena. They need not be UTF-8.
    pub fn bytes_text(&self, bytes: &[u8]) -> ValueRef<'_> {
        match Short::new(bytes) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => self.long_bytes(self.bump.alloc_slice_copy(bytes)),
        }
    }

    /// Wraps a string of bytes that outlive the arena's values.
    pub fn borrowed_bytes<'e>(&'e self, bytes: &'e [u8]) -> ValueRef<'e> {
        match Short::new(bytes) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => self.long_bytes(bytes),
        }
    }

    /// Wraps a string of bytes that is too long for [`Short`].
    fn long_bytes<'e>(&'e self, bytes: &'e [u8]) -> ValueRef<'e> {
        ValueRef(RefRepr::ArenaText(self.bump.alloc(
            match std::str::from_utf8(bytes) {
                Ok(text) => ArenaText::Utf8(text),
                Err(_) => ArenaText::Bytes(bytes),
            },
        )))
    }

    /// Copies a number. Only texts need memory of the arena.
    #[inline]
    pub fn number(&self, number: NumberBuf) -> ValueRef<'_> {
        match number {
            NumberBuf::Int(i) => ValueRef(RefRepr::Int(i)),
            NumberBuf::Decimal(scale, coefficient) => {
                ValueRef(RefRepr::Decimal(scale, coefficient))
            }
            NumberBuf::Text(text) => ValueRef(RefRepr::ArenaNumber(
                self.bump.alloc(self.bump.alloc_str(&text) as &str),
            )),
        }
    }

    /// Creates an array with a copy of the elements.
    pub fn array<'e>(&'e self, items: &[ValueRef<'e>]) -> ValueRef<'e> {
        self.array_of(self.bump.alloc_slice_copy(items))
    }

    /// Creates an array of elements that are in the arena.
    pub fn array_of<'e>(&'e self, items: &'e [ValueRef<'e>]) -> ValueRef<'e> {
        match self.size_of(items) {
            Some(extent) => ValueRef(RefRepr::ArenaArray(self.bump.alloc(ArenaArray {
                items,
                extent,
                arena: self,
            }))),
            None => ValueRef(RefRepr::Null),
        }
    }

    /// Creates an array of a parser, which limits nesting itself.
    pub(super) fn parsed_array<'e>(&'e self, items: &[ValueRef<'e>]) -> ValueRef<'e> {
        let items = self.bump.alloc_slice_copy(items);
        ValueRef(RefRepr::ArenaArray(self.bump.alloc(ArenaArray {
            items,
            extent: ValueSize::PARSED,
            arena: self,
        })))
    }

    /// Creates an array from an iterator. Elements are copied as references.
    pub fn array_from<'e>(&'e self, items: impl IntoIterator<Item = ValueRef<'e>>) -> ValueRef<'e> {
        let mut list = self.list();
        list.extend(items);
        self.array_of(list.into_bump_slice())
    }

    /// Converts stored values to a slice of borrowed values. Each is constructed in place, since moving it would stall
    /// on store forwarding.
    pub(crate) fn in_flight<'e>(&'e self, items: &'e [Value]) -> &'e mut [ValueRef<'e>] {
        let all = self
            .bump
            .alloc_slice_fill_copy(items.len(), ValueRef(RefRepr::Null));
        for (target, item) in all.iter_mut().zip(items) {
            *target = item.borrow();
        }
        all
    }

    /// Creates an empty list, which grows in the arena.
    pub fn list(&self) -> bumpalo::collections::Vec<'_, ValueRef<'_>> {
        bumpalo::collections::Vec::new_in(&self.bump)
    }

    /// Creates a set from an iterator. The first of equal members is kept.
    pub fn set_from<'e>(&'e self, items: impl IntoIterator<Item = ValueRef<'e>>) -> ValueRef<'e> {
        let mut set = SetBuilder::new(self);
        for item in self.while_it_goes_on(items) {
            set.insert(item);
        }
        set.finish()
    }

    /// Creates an object from an iterator. The last of pairs with equal keys wins.
    pub fn object_from<'e>(
        &'e self,
        pairs: impl IntoIterator<Item = (ValueRef<'e>, ValueRef<'e>)>,
    ) -> ValueRef<'e> {
        let mut object = ObjectBuilder::new(self);
        for (key, value) in self.while_it_goes_on(pairs) {
            object.set(key, value);
        }
        object.finish()
    }

    /// Returns the items until the evaluation is cancelled or exceeds its deadline.
    #[inline]
    fn while_it_goes_on<T>(&self, items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let interval = limits::LONG_STEP;
        let goes_on = move |index: usize| !(index + 1).is_multiple_of(interval) || self.goes_on();
        let items = items.into_iter().enumerate();
        items
            .take_while(move |(index, _)| goes_on(*index))
            .map(|(_, item)| item)
    }

    /// Copies an owned value that does not outlive the call.
    pub fn copy_of(&self, value: &Value) -> ValueRef<'_> {
        match value {
            Value(Repr::Null) => ValueRef(RefRepr::Null),
            Value(Repr::Bool(b)) => ValueRef(RefRepr::Bool(*b)),
            Value(Repr::Int(i)) => ValueRef(RefRepr::Int(*i)),
            Value(Repr::Decimal(scale, coefficient)) => {
                ValueRef(RefRepr::Decimal(*scale, *coefficient))
            }
            Value(Repr::Number(text)) => ValueRef(RefRepr::ArenaNumber(
                self.bump.alloc(self.bump.alloc_str(&text.0) as &str),
            )),
            Value(Repr::Short(short)) => ValueRef(RefRepr::Short(*short)),
            Value(Repr::Text(text)) => self.text(text.as_str()),
            Value(Repr::Bytes(bytes)) => self.bytes_text(bytes.as_bytes()),
            Value(Repr::Array(items)) => stack::level(|| self.copy_of_array(items)),
            Value(Repr::Object(object)) => stack::level(|| self.copy_of_object(object)),
            Value(Repr::Set(set)) => stack::level(|| self.copy_of_set(set)),
        }
    }

    #[inline(never)]
    fn copy_of_array(&self, items: &[Value]) -> ValueRef<'_> {
        let mut list = self.list();
        for item in items {
            list.push(self.copy_of(item));
        }
        self.array_of(list.into_bump_slice())
    }

    #[inline(never)]
    fn copy_of_object(&self, object: &Object) -> ValueRef<'_> {
        let mut copy = ObjectBuilder::new(self);
        for (key, value) in object.iter() {
            copy.set(self.copy_of(key), self.copy_of(value));
        }
        copy.finish()
    }

    #[inline(never)]
    fn copy_of_set(&self, set: &Set) -> ValueRef<'_> {
        let mut copy = SetBuilder::new(self);
        for item in set.items() {
            copy.insert(self.copy_of(item));
        }
        copy.finish()
    }
}

impl ValueRef<'_> {
    /// Returns `true` for strings of any representation.
    pub fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    /// Returns the bytes of a string, or none for other values.
    pub fn text_or_empty(&self) -> TextView<'_> {
        self.as_text().unwrap_or(TextView(TextViewRepr::Utf8("")))
    }
}
