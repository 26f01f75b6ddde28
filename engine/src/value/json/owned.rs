//! Owned values from JSON. Objects with the same keys in the same order share them.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use super::parser::Build;
use crate::limits;
use crate::value::{NumberBuf, Object, Shape, Value};

/// Builds owned values.
#[derive(Default)]
pub(super) struct Owned {
    shapes: Shapes,
}

impl<'t> Build<'t> for Owned {
    type Item = Value;
    type Key = Cow<'t, str>;

    #[inline]
    fn null(&mut self) -> Value {
        Value::Null
    }

    #[inline]
    fn bool(&mut self, b: bool) -> Value {
        Value::Bool(b)
    }

    #[inline]
    fn number(&mut self, number: NumberBuf) -> Value {
        Value::number(number)
    }

    fn number_text(&mut self, text: &'t str) -> Value {
        Value::number(NumberBuf::Text(text.to_owned()))
    }

    #[inline]
    fn string(&mut self, text: Cow<'t, str>) -> Value {
        Value::string(&text)
    }

    #[inline]
    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        text
    }

    #[inline]
    fn array(&mut self, items: &mut Vec<Value>, start: usize) -> Value {
        Value::array(items.drain(start..).collect())
    }

    #[inline]
    fn object(
        &mut self,
        keys: &mut Vec<Self::Key>,
        first_key: usize,
        values: &mut Vec<Value>,
        first_value: usize,
    ) -> Value {
        let names = keys.get(first_key..).unwrap_or(&[]);
        if names.len() > Object::SHAPED {
            let names = keys.drain(first_key..).map(|key| Value::string(&key));
            return Value::object(names.zip(values.drain(first_value..)).collect());
        }
        let form = self.shapes.form(names);
        let object = form.object(values.drain(first_value..));
        keys.truncate(first_key);
        Value::Object(Arc::new(object))
    }
}

/// The forms of objects seen so far.
#[derive(Default)]
struct Shapes {
    table: HashTable<(u64, Form)>,
    state: foldhash::fast::RandomState,
}

/// Keys in the order of a source.
struct Form {
    shape: Arc<Shape>,
    /// For each key of the source its position in the shape; equal keys have the same.
    slots: Box<[u8]>,
    in_order: bool,
}

impl Shapes {
    #[inline]
    fn form(&mut self, keys: &[Cow<'_, str>]) -> &Form {
        let mut hasher = self.state.build_hasher();
        for key in keys {
            hasher.write(key.as_bytes());
            hasher.write_u8(0xff);
        }
        let code = hasher.finish();
        if self.table.len() >= limits::SHAPES
            && self.table.find(code, |(_, form)| form.has(keys)).is_none()
        {
            self.table.clear();
        }
        let entry = self
            .table
            .entry(code, |(_, form)| form.has(keys), |(code, _)| *code);
        &entry
            .or_insert_with(|| (code, Form::new(keys)))
            .into_mut()
            .1
    }
}

impl Form {
    fn new(keys: &[Cow<'_, str>]) -> Self {
        let mut sorted: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let slot = |key: &Cow<'_, str>| sorted.binary_search(&key.as_ref()).unwrap_or(0);
        let slots: Box<[u8]> = keys
            .iter()
            .map(|key| u8::try_from(slot(key)).unwrap_or(0))
            .collect();
        Self {
            in_order: slots.len() == sorted.len() && slots.is_sorted(),
            shape: Arc::new(Shape::new(sorted.into_iter().map(Value::string).collect())),
            slots,
        }
    }

    fn key(&self, slot: u8) -> &[u8] {
        match self.shape.keys().get(usize::from(slot)) {
            Some(Value::Short(key)) => key.as_bytes(),
            Some(Value::Text(key)) => key.as_bytes(),
            _ => b"",
        }
    }

    #[inline]
    fn has(&self, keys: &[Cow<'_, str>]) -> bool {
        let mut pairs = self.slots.iter().zip(keys);
        self.slots.len() == keys.len() && pairs.all(|(slot, key)| self.key(*slot) == key.as_bytes())
    }

    #[inline]
    fn object(&self, values: impl Iterator<Item = Value>) -> Object {
        if self.in_order {
            return Object::with_shape(self.shape.clone(), values.collect());
        }
        let mut ordered: Box<[Value]> = vec![Value::Null; self.shape.keys().len()].into();
        for (slot, value) in self.slots.iter().zip(values) {
            if let Some(place) = ordered.get_mut(usize::from(*slot)) {
                *place = value;
            }
        }
        Object::with_shape(self.shape.clone(), ordered)
    }
}
