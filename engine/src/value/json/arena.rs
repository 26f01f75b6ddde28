//! Values in the arena from JSON.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::parser::{Build, Lists};
use crate::bug::Within as _;
use crate::limits;
use crate::value::text::ArenaText;
use crate::value::{Arena, ArenaObject, Number, Short, V};

/// Builds values in an arena.
pub(super) struct InArena<'e> {
    arena: &'e Arena,
    /// Objects whose keys others may share.
    forms: SmallVec<[Form<'e>; 8]>,
    last: usize,
}

/// An object, and which one followed it the last time: documents repeat themselves.
struct Form<'e> {
    object: &'e ArenaObject<'e>,
    mark: u64,
    next: usize,
}

/// What tells most lists of keys apart.
#[inline]
fn mark(keys: &[V<'_>]) -> u64 {
    let word = |key: Option<&V<'_>>| match key {
        Some(V::Short(short)) => short.words().0,
        Some(V::NewText(text)) => text.as_bytes().len() as u64,
        _ => 0,
    };
    word(keys.first()) ^ word(keys.last()).rotate_left(5) ^ keys.len() as u64
}

/// The memory of a list without what is in it, for elements of the same form. Nothing is copied: the list that is made takes
/// the place of the one that is gone through.
fn emptied<A, B>(list: Vec<A>) -> Vec<B> {
    list.into_iter().filter_map(|_| None).collect()
}

impl<'e> InArena<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            forms: SmallVec::new(),
            last: 0,
        }
    }
}

impl<'e> Build<'e> for InArena<'e> {
    type Item = V<'e>;
    type Key = V<'e>;
    type Aside = ();

    fn lists(&mut self) -> Lists<V<'e>, V<'e>, ()> {
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

    fn take_back(&mut self, mut lists: Lists<V<'e>, V<'e>, ()>) {
        let longest = lists.frames.capacity();
        let longest = longest.max(lists.keys.capacity());
        if longest.max(lists.items.capacity()) > limits::KEPT_LISTS {
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
        let array = self.arena.read_array(items.within(start..));
        items.truncate(start);
        items.push(array);
    }

    #[inline]
    fn object(
        &mut self,
        _aside: (),
        keys: &mut Vec<V<'e>>,
        first_key: usize,
        items: &mut Vec<V<'e>>,
        start: usize,
    ) {
        let names = keys.within(first_key..);
        let object = self.object_of(names, items.within(start..));
        keys.truncate(first_key);
        items.truncate(start);
        items.push(object);
    }
}

impl<'e> InArena<'e> {
    #[inline]
    fn object_of(&mut self, keys: &[V<'e>], values: &[V<'e>]) -> V<'e> {
        let next = self.forms.get(self.last).map_or(0, |form| form.next);
        if let Some(form) = self.forms.get(next)
            && same(form.object.keys(), keys)
        {
            self.last = next;
            return self.arena.object_like(form.object, values);
        }
        self.other_object(keys, values)
    }

    fn other_object(&mut self, keys: &[V<'e>], values: &[V<'e>]) -> V<'e> {
        let mark = mark(keys);
        let known = self
            .forms
            .iter()
            .position(|form| form.mark == mark && same(form.object.keys(), keys));
        let (at, made) = match known.and_then(|at| Some((at, self.forms.get(at)?))) {
            Some((at, form)) => (at, self.arena.object_like(form.object, values)),
            None => {
                let made = self.arena.object_of(keys, values);
                if let V::NewObject(object) = made
                    && object.len() == keys.len()
                    && self.forms.len() < limits::ARENA_SHAPES
                {
                    self.forms.push(Form {
                        object,
                        mark,
                        next: 0,
                    });
                }
                (self.forms.len().saturating_sub(1), made)
            }
        };
        // the first object may be of a form that is not kept
        if let Some(last) = self.forms.get_mut(self.last) {
            last.next = at;
        }
        self.last = at;
        made
    }
}

/// Whether keys are the same, in the same order.
#[inline]
fn same(keys: &[V<'_>], others: &[V<'_>]) -> bool {
    keys.len() == others.len()
        && keys.iter().zip(others).all(|pair| match pair {
            (V::Short(key), V::Short(other)) => key == other,
            (key, other) => key == other,
        })
}
