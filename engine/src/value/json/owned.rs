//! Owned values from JSON. Objects with the same keys in the same order share them.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;

use super::parser::Build;
use super::repeats::{Repeats, Seen, Worth, arrange};
use crate::impossible::impossible;
use crate::limits;
use crate::value::number::NumberText;
use crate::value::object::Growing;
use crate::value::{Items, Number, Object, Shape, Short, Text, Value};

/// Builds owned values.
#[derive(Default)]
pub(super) struct Owned {
    shapes: Shapes,
    repeats: Repeats,
}

impl Owned {
    /// For a document of so many bytes.
    pub fn new(length: usize) -> Self {
        Self {
            shapes: Shapes::default(),
            repeats: Repeats::new(length),
        }
    }
}

/// Makes a value in its place. Handed to `Vec::push` it would lie on the stack first, to be dropped should the
/// list fail to grow, and be read back before its parts have arrived there.
#[inline]
fn push(items: &mut Vec<Value>, make: impl FnOnce() -> Value) {
    items.extend(Some(make).into_iter().map(|make| make()));
}

impl<'t> Build<'t> for Owned {
    type Item = Value;
    type Key = Cow<'t, str>;
    type Aside = Option<Box<Growing>>;

    const PART: usize = Growing::PART;

    #[inline]
    fn null(&mut self, items: &mut Vec<Value>) {
        push(items, || Value::Null);
    }

    #[inline]
    fn bool(&mut self, b: bool, items: &mut Vec<Value>) {
        push(items, || Value::Bool(b));
    }

    #[inline]
    fn number(&mut self, number: Number<'t>, items: &mut Vec<Value>) {
        match number {
            Number::Int(i) => push(items, || Value::Int(i)),
            Number::Decimal(scale, coefficient) => {
                push(items, || Value::Decimal(scale, coefficient));
            }
            Number::Text(text) => items.push(Value::Number(Arc::new(NumberText(text.into())))),
        }
    }

    #[inline]
    fn string(&mut self, text: Cow<'t, str>, items: &mut Vec<Value>) {
        if let Some(short) = Short::new(text.as_bytes()) {
            return push(items, || Value::Short(short));
        }
        let text = self.repeats.string(&text, || Text::new(&text));
        push(items, || Value::Text(text));
    }

    #[inline]
    fn key(&mut self, text: Cow<'t, str>, keys: &mut Vec<Self::Key>) {
        keys.push(text);
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<Value>, start: usize) {
        let elements = items.get(start..).unwrap_or(&[]);
        let seen = match self.repeats.array(elements) {
            Seen::Value(known) => {
                items.truncate(start);
                return items.push(known);
            }
            seen => seen,
        };
        let array = Value::Array(Items::collect(items.drain(start..)));
        seen.keep(&array);
        items.push(array);
    }

    fn put_aside(
        &mut self,
        aside: &mut Self::Aside,
        keys: &mut Vec<Self::Key>,
        first_key: usize,
        items: &mut Vec<Value>,
        start: usize,
    ) {
        let keys = keys.drain(first_key..).map(|key| Value::string(&key));
        let growing = aside.get_or_insert_default();
        growing.add(keys.zip(items.drain(start..)));
    }

    #[inline]
    fn object(
        &mut self,
        mut aside: Self::Aside,
        keys: &mut Vec<Self::Key>,
        first_key: usize,
        items: &mut Vec<Value>,
        start: usize,
    ) {
        let names = keys.get(first_key..).unwrap_or(&[]);
        let object = if aside.is_some() || names.len() > Object::SHAPED {
            self.put_aside(&mut aside, keys, first_key, items, start);
            aside.map_or(Value::Null, |growing| Value::Object(growing.finish()))
        } else {
            let form = self.shapes.form(names);
            let repeats = &mut self.repeats;
            form.map_or(Value::Null, |form| form.object(items, start, repeats))
        };
        items.truncate(start);
        keys.truncate(first_key);
        items.push(object);
    }
}

/// The forms of objects seen so far.
#[derive(Default)]
struct Shapes {
    forms: Vec<Form>,
    /// Positions in `forms` by the hash of their keys.
    table: HashTable<usize>,
    state: foldhash::fast::RandomState,
    last: usize,
}

/// Keys in the order of a source.
struct Form {
    shape: Arc<Shape>,
    /// For each key of the source its position in the shape; equal keys have the same.
    slots: Box<[u8]>,
    /// For each key of the shape its last position in the source, unless both have the same order.
    sources: Option<Box<[u8]>>,
    /// The form that followed this one the last time: documents repeat themselves.
    next: usize,
    /// The hash of the keys.
    code: u64,
    /// Whether its objects repeat.
    worth: Worth,
}

impl Shapes {
    #[inline]
    fn form(&mut self, keys: &[Cow<'_, str>]) -> Option<&mut Form> {
        let mut at = self.forms.get(self.last).map_or(0, |form| form.next);
        if !self.forms.get(at).is_some_and(|form| form.has(keys)) {
            at = self.find_or_add(keys);
            if let Some(last) = self.forms.get_mut(self.last) {
                last.next = at;
            }
        }
        self.last = at;
        self.forms.get_mut(at)
    }

    fn find_or_add(&mut self, keys: &[Cow<'_, str>]) -> usize {
        let code = self.state.hash_one(keys);
        let same = |at: &usize| self.forms.get(*at).is_some_and(|form| form.has(keys));
        if let Some(at) = self.table.find(code, same) {
            return *at;
        }
        if self.forms.len() >= limits::SHAPES {
            self.forms.clear();
            self.table.clear();
        }
        let at = self.forms.len();
        self.forms.push(Form::new(code, keys));
        let forms = &self.forms;
        self.table
            .insert_unique(code, at, |at| forms.get(*at).map_or(0, |form| form.code));
        at
    }
}

impl Form {
    fn new(code: u64, keys: &[Cow<'_, str>]) -> Self {
        let mut sorted: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let slot = |key: &Cow<'_, str>| {
            let found = sorted.binary_search(&key.as_ref());
            found.unwrap_or_else(|_| impossible("an object's form lacks one of its keys"))
        };
        let slots: Box<[u8]> = keys
            .iter()
            .map(|key| u8::try_from(slot(key)).unwrap_or(0))
            .collect();
        let shape = Shape::new(sorted.into_iter().map(Value::string).collect());
        let in_order = slots.len() == shape.keys().len() && slots.is_sorted();
        let mut sources: Box<[u8]> = vec![0; shape.keys().len()].into();
        for (source, slot) in (0..).zip(&slots) {
            if let Some(place) = sources.get_mut(usize::from(*slot)) {
                *place = source;
            }
        }
        Self {
            shape: Arc::new(shape),
            slots,
            sources: (!in_order).then_some(sources),
            next: 0,
            code,
            worth: Worth::default(),
        }
    }

    /// Whether it is that of an object with these keys.
    #[inline]
    fn has(&self, keys: &[Cow<'_, str>]) -> bool {
        let mut pairs = self.slots.iter().zip(keys);
        self.slots.len() == keys.len()
            && pairs.all(
                |(slot, key)| match self.shape.keys().get(usize::from(*slot)) {
                    Some(Value::Short(short)) => short.is(key.as_bytes()),
                    Some(Value::Text(text)) => text.as_bytes() == key.as_bytes(),
                    _ => false,
                },
            )
    }

    /// Takes the values from `start` on out of a list, unless an equal object was seen before.
    #[inline]
    fn object(&mut self, items: &mut Vec<Value>, start: usize, repeats: &mut Repeats) -> Value {
        let values = items.get_mut(start..).unwrap_or(&mut []);
        let mut sources = self.sources.as_deref();
        let mut seen = Seen::No;
        let are_distinct = values.len() == self.shape.keys().len();
        if are_distinct && repeats.wants(values, &mut self.worth) {
            if let Some(order) = sources.take() {
                arrange(values, order);
            }
            seen = repeats.object(&self.shape, values, &mut self.worth);
        }
        if let Seen::Value(known) = seen {
            return known;
        }
        let shape = self.shape.clone();
        let object = match sources {
            None => Object::with_shape(shape, items.drain(start..)),
            Some(sources) => {
                let take = |at: &u8| {
                    values
                        .get_mut(usize::from(*at))
                        .map_or(Value::Null, std::mem::take)
                };
                let object = Object::with_shape(shape, sources.iter().map(take));
                if are_distinct {
                    // nothing is left that would have to be dropped
                    items.drain(start..).for_each(std::mem::forget);
                }
                object
            }
        };
        let object = Value::Object(object);
        seen.keep(&object);
        object
    }
}
