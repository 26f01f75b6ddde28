//! JSON to values in the arena, sharing the keys of objects that occurred before.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::parser::{Build, Lists};
use crate::bug::Within as _;
use crate::limits;
use crate::value::text::ArenaText;
use crate::value::{Arena, ArenaObject, Number, RefRepr, Short, ValueRef};

pub(super) struct ArenaBuild<'e> {
    arena: &'e Arena,
    /// Objects whose keys later objects may share.
    shapes: SmallVec<[CachedShape<'e>; 8]>,
    last: usize,
}

/// An object, and the index of the shape that followed it last: the order of shapes repeats itself in documents.
struct CachedShape<'e> {
    object: &'e ArenaObject<'e>,
    fingerprint: u64,
    next: usize,
}

/// Returns a fingerprint of a list of keys, which differs for most lists.
#[inline]
fn fingerprint(keys: &[ValueRef<'_>]) -> u64 {
    let word = |key: Option<&ValueRef<'_>>| match key {
        Some(ValueRef(RefRepr::Short(short))) => short.as_u64_pair().0,
        Some(ValueRef(RefRepr::ArenaText(text))) => text.as_bytes().len() as u64,
        _ => 0,
    };
    word(keys.first()) ^ word(keys.last()).rotate_left(5) ^ keys.len() as u64
}

/// Reuses the memory of a list for elements of the same layout. The in-place specialization of `collect` copies
/// nothing.
fn emptied<A, B>(list: Vec<A>) -> Vec<B> {
    list.into_iter().filter_map(|_| None).collect()
}

impl<'e> ArenaBuild<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            shapes: SmallVec::new(),
            last: 0,
        }
    }
}

impl<'e> Build<'e> for ArenaBuild<'e> {
    type Item = ValueRef<'e>;
    type Key = ValueRef<'e>;
    type Aside = ();

    fn lists(&mut self) -> Lists<ValueRef<'e>, ValueRef<'e>, ()> {
        let Lists {
            frames,
            keys,
            items,
        } = self.arena.lists.take();
        Lists {
            frames,
            keys: emptied(keys),
            items: emptied(items),
        }
    }

    fn take_back(&mut self, mut lists: Lists<ValueRef<'e>, ValueRef<'e>, ()>) {
        let longest = lists.frames.capacity();
        let longest = longest.max(lists.keys.capacity());
        if longest.max(lists.items.capacity()) > limits::RETAINED_LISTS {
            return;
        }
        lists.frames.clear();
        self.arena.lists.set(Lists {
            frames: lists.frames,
            keys: emptied(lists.keys),
            items: emptied(lists.items),
        });
    }

    #[inline]
    fn null(&mut self, items: &mut Vec<ValueRef<'e>>) {
        items.push(ValueRef(RefRepr::Null));
    }

    #[inline]
    fn bool(&mut self, b: bool, items: &mut Vec<ValueRef<'e>>) {
        items.push(ValueRef(RefRepr::Bool(b)));
    }

    #[inline]
    fn number(&mut self, number: Number<'e>, items: &mut Vec<ValueRef<'e>>) {
        match number {
            Number::Int(i) => items.push(ValueRef(RefRepr::Int(i))),
            Number::Decimal(scale, coefficient) => {
                items.push(ValueRef(RefRepr::Decimal(scale, coefficient)));
            }
            Number::Text(text) => items.push(ValueRef(RefRepr::ArenaNumber(
                self.arena.bump().alloc(text),
            ))),
        }
    }

    #[inline]
    fn string(&mut self, text: Cow<'e, str>, items: &mut Vec<ValueRef<'e>>) {
        if let Some(short) = Short::new(text.as_bytes()) {
            items.push(ValueRef(RefRepr::Short(short)));
            return;
        }
        let text = match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.bump().alloc_str(&text),
        };
        items.push(ValueRef(RefRepr::ArenaText(
            self.arena.bump().alloc(ArenaText::Utf8(text)),
        )));
    }

    #[inline]
    fn key(&mut self, text: Cow<'e, str>, keys: &mut Vec<ValueRef<'e>>) {
        self.string(text, keys);
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<ValueRef<'e>>, start: usize) {
        let array = self.arena.parsed_array(items.within(start..));
        items.truncate(start);
        items.push(array);
    }

    #[inline]
    fn object(
        &mut self,
        _aside: (),
        keys: &mut Vec<ValueRef<'e>>,
        first_key: usize,
        items: &mut Vec<ValueRef<'e>>,
        start: usize,
    ) {
        let names = keys.within(first_key..);
        let object = self.object_of(names, items.within(start..));
        keys.truncate(first_key);
        items.truncate(start);
        items.push(object);
    }
}

impl<'e> ArenaBuild<'e> {
    #[inline]
    fn object_of(&mut self, keys: &[ValueRef<'e>], values: &[ValueRef<'e>]) -> ValueRef<'e> {
        let next = self.shapes.get(self.last).map_or(0, |shape| shape.next);
        if let Some(shape) = self.shapes.get(next)
            && same_keys(shape.object.keys(), keys)
        {
            self.last = next;
            return self.arena.object_like(shape.object, values);
        }
        self.other_object(keys, values)
    }

    fn other_object(&mut self, keys: &[ValueRef<'e>], values: &[ValueRef<'e>]) -> ValueRef<'e> {
        let fingerprint = fingerprint(keys);
        let shape_index = self.shapes.iter().position(|shape| {
            shape.fingerprint == fingerprint && same_keys(shape.object.keys(), keys)
        });
        let (index, object) =
            match shape_index.and_then(|index| Some((index, self.shapes.get(index)?))) {
                Some((index, shape)) => (index, self.arena.object_like(shape.object, values)),
                None => {
                    let object = self.arena.object_of(keys, values);
                    if let ValueRef(RefRepr::ArenaObject(object)) = object
                        && object.len() == keys.len()
                        && self.shapes.len() < limits::ARENA_SHAPES
                    {
                        self.shapes.push(CachedShape {
                            object,
                            fingerprint,
                            next: 0,
                        });
                    }
                    (self.shapes.len().saturating_sub(1), object)
                }
            };
        // the first object may have a shape that is not cached
        if let Some(last) = self.shapes.get_mut(self.last) {
            last.next = index;
        }
        self.last = index;
        object
    }
}

/// Returns `true` if both lists have the same keys in the same order.
#[inline]
fn same_keys(keys: &[ValueRef<'_>], other_keys: &[ValueRef<'_>]) -> bool {
    keys.len() == other_keys.len()
        && keys.iter().zip(other_keys).all(|pair| match pair {
            (ValueRef(RefRepr::Short(key)), ValueRef(RefRepr::Short(other))) => key == other,
            (key, other) => key == other,
        })
}
