//! JSON to owned values. Objects with the same keys in the same order share the keys.

use std::borrow::Cow;
use std::sync::Arc;

use super::parser::Build;
use super::repeats::{AdaptiveGate, Probe, Repeats, arrange};
use crate::bug::{Within as _, WithinMut as _, bug};
use crate::value::number::NumberText;
use crate::value::object::{Growing, KeyOrder, Shapes};
use crate::value::{Items, Number, Object, Repr, SharedText, Short, Value};

#[derive(Default)]
pub(super) struct Owned {
    shapes: Shapes<AdaptiveGate>,
    repeats: Repeats,
}

impl Owned {
    /// Creates a builder for a document of `length` bytes.
    pub fn new(length: usize) -> Self {
        Self {
            shapes: Shapes::default(),
            repeats: Repeats::new(length),
        }
    }
}

/// Constructs a value at the end of a list. Passed to `Vec::push` it would be built on the stack, where it is kept in
/// case the allocation fails, and copied before its fields are in the cache.
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
        push(items, || Value(Repr::Null));
    }

    #[inline]
    fn bool(&mut self, b: bool, items: &mut Vec<Value>) {
        push(items, || Value(Repr::Bool(b)));
    }

    #[inline]
    fn number(&mut self, number: Number<'t>, items: &mut Vec<Value>) {
        match number {
            Number::Int(i) => push(items, || Value(Repr::Int(i))),
            Number::Decimal(scale, coefficient) => {
                push(items, || Value(Repr::Decimal(scale, coefficient)));
            }
            Number::Text(text) => {
                items.push(Value(Repr::Number(Arc::new(NumberText(text.into())))));
            }
        }
    }

    #[inline]
    fn string(&mut self, text: Cow<'t, str>, items: &mut Vec<Value>) {
        if let Some(short) = Short::new(text.as_bytes()) {
            return push(items, || Value(Repr::Short(short)));
        }
        let text = self.repeats.string(&text, || SharedText::new(&text));
        push(items, || Value(Repr::Text(text)));
    }

    #[inline]
    fn key(&mut self, text: Cow<'t, str>, keys: &mut Vec<Self::Key>) {
        keys.push(text);
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<Value>, start: usize) {
        let elements = items.within(start..);
        let probe = match self.repeats.array(elements) {
            Probe::Hit(array) => {
                items.truncate(start);
                return items.push(array);
            }
            probe_result => probe_result,
        };
        let array = Value(Repr::Array(Items::collect(items.drain(start..))));
        probe.store(|| array.clone());
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
        let names = keys.within(first_key..);
        let object = if aside.is_some() || names.len() > Object::SHAPED {
            self.put_aside(&mut aside, keys, first_key, items, start);
            aside.map_or_else(
                || bug!("an object that is set aside is not there"),
                |growing| Value(Repr::Object(growing.finish())),
            )
        } else {
            let order = self.shapes.order(names);
            let repeats = &mut self.repeats;
            order.map_or_else(
                || bug!("few keys without an order"),
                |order| object(order, items, start, repeats),
            )
        };
        items.truncate(start);
        keys.truncate(first_key);
        items.push(object);
    }
}

/// Takes the values from `start` on out of a list, or uses an equal object that is cached.
#[inline]
fn object(
    order: &mut KeyOrder<AdaptiveGate>,
    items: &mut Vec<Value>,
    start: usize,
    repeats: &mut Repeats,
) -> Value {
    let values = items.within_mut(start..);
    let mut is_arranged = order.is_sorted();
    let are_distinct = values.len() == order.shape().keys().len();
    let mut probe = Probe::Miss;
    if are_distinct && repeats.is_eligible(values, &mut order.note) {
        if let Some(sources) = order.sources() {
            arrange(values, sources);
            is_arranged = true;
        }
        let shape = order.shape().clone();
        probe = repeats.object(&shape, values, &mut order.note);
    }
    if let Probe::Hit(object) = probe {
        return object;
    }
    let object = if is_arranged {
        Object::with_shape(order.shape().clone(), items.drain(start..))
    } else {
        let object = order.object(values);
        if are_distinct {
            // all values are moved out or plain, so there is nothing to drop
            items.drain(start..).for_each(std::mem::forget);
        }
        object
    };
    let object = Value(Repr::Object(object));
    probe.store(|| object.clone());
    object
}
