//! Objects, wherever they are held.

mod chunked;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

#[cfg(debug_assertions)]
use solon_syntax::stack;

use super::{ArenaObject, V, Value, search};
pub use chunked::Chunked;
use chunked::Run;

/// Keys up to which a scan beats a binary search.
const SCANNED: usize = 16;

/// The sorted keys that objects of one form share.
#[derive(Debug)]
pub struct Shape {
    keys: Box<[Value]>,
}

impl Shape {
    /// Takes keys that are in order and distinct.
    pub fn new(keys: Box<[Value]>) -> Self {
        Self { keys }
    }

    /// The keys in order.
    pub fn keys(&self) -> &[Value] {
        &self.keys
    }

    /// The position of a key.
    #[inline]
    pub fn slot(&self, key: V<'_>) -> Option<usize> {
        // for a few keys comparing for equality is cheaper than ordering
        if self.keys.len() <= SCANNED {
            return search::position(&self.keys, key);
        }
        search::find(&self.keys, key).ok()
    }
}

/// As for arrays, with the keys of one form.
#[cfg(debug_assertions)]
impl Drop for Shape {
    fn drop(&mut self) {
        stack::level(|| self.keys = Box::default());
    }
}

/// As for arrays.
#[cfg(debug_assertions)]
impl Drop for Object {
    fn drop(&mut self) {
        stack::level(|| match self {
            Self::Shaped { values, .. } => *values = Box::default(),
            Self::Chunked(chunked) => chunked.clear(),
        });
    }
}

/// An owned object.
#[derive(Clone)]
pub enum Object {
    /// Up to [`Object::SHAPED`] keys.
    Shaped {
        /// The keys.
        shape: Arc<Shape>,
        /// The values, in the order of the keys.
        values: Box<[Value]>,
    },
    /// More keys.
    Chunked(Box<Chunked>),
}

impl Default for Object {
    fn default() -> Self {
        Self::from_sorted(Vec::new())
    }
}

impl Object {
    /// Most keys of the shaped form.
    pub const SHAPED: usize = 64;

    /// Sorts; of equal keys the last pair wins.
    pub fn from_pairs(mut pairs: Vec<(Value, Value)>) -> Self {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            // a stable sort of the reversed list brings the last of equal keys to the front
            pairs.reverse();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            pairs.dedup_by(|later, first| later.0 == first.0);
        }
        Self::from_sorted(pairs)
    }

    /// Takes pairs whose keys are in order and distinct.
    pub fn from_sorted(pairs: Vec<(Value, Value)>) -> Self {
        if pairs.len() > Self::SHAPED {
            return Self::Chunked(Box::new(Chunked::from_sorted(pairs)));
        }
        let mut keys = Vec::with_capacity(pairs.len());
        let mut values = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            keys.push(key);
            values.push(value);
        }
        Self::from_sorted_parts(keys, values)
    }

    /// Takes keys that are in order and distinct, and as many values.
    pub fn from_sorted_parts(keys: Vec<Value>, values: Vec<Value>) -> Self {
        if keys.len() > Self::SHAPED {
            let pairs = keys.into_iter().zip(values).collect();
            return Self::Chunked(Box::new(Chunked::from_sorted(pairs)));
        }
        Self::with_shape(Arc::new(Shape::new(keys.into())), values.into())
    }

    /// Takes the values of more keys than the shaped form holds, both in the order of a source; of equal keys the last
    /// counts.
    pub(super) fn from_source(keys: &[Cow<'_, str>], values: &mut [Value]) -> Self {
        let mut take = |at: usize| {
            let value = values.get_mut(at).map_or(Value::Null, std::mem::take);
            Some((Value::string(keys.get(at)?), value))
        };
        if keys.is_sorted_by(|a, b| a < b) {
            let pairs = (0..keys.len()).filter_map(take);
            return Self::Chunked(Box::new(Chunked::collect(pairs, keys.len())));
        }
        // positions take a quarter of what pairs would
        let mut order: Vec<u32> = (0..).take(keys.len()).collect();
        let key = |at: u32| keys.get(at as usize);
        order.sort_by(|a, b| key(*a).cmp(&key(*b)).then_with(|| b.cmp(a)));
        order.dedup_by(|later, first| key(*later) == key(*first));
        let count = order.len();
        let pairs = order.into_iter().filter_map(|at| take(at as usize));
        if count <= Self::SHAPED {
            return Self::from_sorted(pairs.collect());
        }
        Self::Chunked(Box::new(Chunked::collect(pairs, count)))
    }

    /// Takes values in the order of the shape's keys.
    pub fn with_shape(shape: Arc<Shape>, values: Box<[Value]>) -> Self {
        Self::Shaped { shape, values }
    }

    /// Number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Shaped { values, .. } => values.len(),
            Self::Chunked(chunked) => chunked.len(),
        }
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: V<'_>) -> Option<&Value> {
        match self {
            Self::Shaped { shape, values } => values.get(shape.slot(key)?),
            Self::Chunked(chunked) => chunked.get(key),
        }
    }

    /// The value under a key that is stored itself.
    #[inline]
    pub fn get_stored(&self, key: &Value) -> Option<&Value> {
        match (self, key) {
            (Self::Shaped { shape, values }, Value::Short(short)) if values.len() <= SCANNED => {
                let mut pairs = shape.keys.iter().zip(values.iter());
                let found =
                    pairs.find(|(other, _)| matches!(other, Value::Short(other) if other == short));
                found.map(|(_, value)| value)
            }
            _ => self.get(key.borrow()),
        }
    }

    /// The same, where the key often stands at one place: `place` holds where it was found last.
    #[inline]
    pub fn get_stored_near(&self, key: &Value, place: &Cell<u8>) -> Option<&Value> {
        let (Self::Shaped { shape, values }, Value::Short(short)) = (self, key) else {
            return self.get(key.borrow());
        };
        let at = usize::from(place.get());
        if let Some(Value::Short(other)) = shape.keys.get(at)
            && other == short
        {
            return values.get(at);
        }
        if values.len() > SCANNED {
            return self.get(key.borrow());
        }
        let is_key = |other: &Value| matches!(other, Value::Short(other) if other == short);
        let at = shape.keys.iter().position(is_key)?;
        place.set(u8::try_from(at).unwrap_or(0));
        values.get(at)
    }

    /// The value under a string key.
    pub fn get_str(&self, key: &str) -> Option<&Value> {
        let key = Value::string(key);
        self.get(key.borrow())
    }

    /// The place of a key in key order.
    pub fn position(&self, key: V<'_>) -> Option<u32> {
        let at = match self {
            Self::Shaped { shape, .. } => shape.slot(key)?,
            Self::Chunked(chunked) => chunked.position(key)?,
        };
        u32::try_from(at).ok()
    }

    /// The pairs in key order.
    #[inline]
    pub fn iter(&self) -> ObjectIter<'_> {
        match self {
            Self::Shaped { shape, values } => ObjectIter {
                run: shape.keys.iter().zip(values.iter()),
                rest: [].iter(),
            },
            Self::Chunked(chunked) => ObjectIter {
                run: [].iter().zip([].iter()),
                rest: chunked.runs(),
            },
        }
    }

    /// Sets the value under a key; returns the earlier one. A large object copies one run and the list of runs.
    pub fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        match self {
            Self::Shaped { shape, values } => match shape.keys.binary_search(&key) {
                Ok(slot) => values
                    .get_mut(slot)
                    .map(|old| std::mem::replace(old, value)),
                Err(slot) => {
                    let mut pairs: Vec<_> = shape
                        .keys
                        .iter()
                        .cloned()
                        .zip(std::mem::take(values))
                        .collect();
                    pairs.insert(slot.min(pairs.len()), (key, value));
                    *self = Self::from_sorted(pairs);
                    None
                }
            },
            Self::Chunked(chunked) => chunked.insert(key, value),
        }
    }

    /// Takes a key out; returns its value.
    pub fn remove(&mut self, key: V<'_>) -> Option<Value> {
        match self {
            Self::Shaped { shape, values } => {
                let slot = shape.slot(key)?;
                let mut pairs: Vec<_> = shape
                    .keys
                    .iter()
                    .cloned()
                    .zip(std::mem::take(values))
                    .collect();
                let (_, old) = pairs.remove(slot);
                *self = Self::from_sorted(pairs);
                Some(old)
            }
            Self::Chunked(chunked) => {
                let old = chunked.remove(key)?;
                if chunked.len() <= Self::SHAPED {
                    let pairs = self.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                    *self = Self::from_sorted(pairs);
                }
                Some(old)
            }
        }
    }

    /// The value under a key, to be changed in place.
    pub fn get_mut(&mut self, key: V<'_>) -> Option<&mut Value> {
        match self {
            Self::Shaped { shape, values } => values.get_mut(shape.slot(key)?),
            Self::Chunked(chunked) => chunked.get_mut(key),
        }
    }
}

/// The pairs of an owned object in key order.
#[derive(Clone)]
pub struct ObjectIter<'a> {
    run: std::iter::Zip<std::slice::Iter<'a, Value>, std::slice::Iter<'a, Value>>,
    rest: std::slice::Iter<'a, Arc<Run>>,
}

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a Value, &'a Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(pair) = self.run.next() {
                return Some(pair);
            }
            self.run = self.rest.next()?.iter();
        }
    }
}

/// An object.
#[derive(Clone, Copy)]
pub enum ObjectView<'e> {
    /// Owned.
    Stored(&'e Object),
    /// In the arena.
    Arena(&'e ArenaObject<'e>),
}

impl<'e> ObjectView<'e> {
    /// Number of keys.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::Stored(object) => object.len(),
            Self::Arena(object) => object.len(),
        }
    }

    /// Whether it has no keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    #[inline]
    pub fn get(self, key: V<'_>) -> Option<V<'e>> {
        match self {
            Self::Stored(object) => object.get(key).map(Value::borrow),
            Self::Arena(object) => object.get(key),
        }
    }

    /// The value under a string key.
    pub fn get_str(self, key: &str) -> Option<V<'e>> {
        let key = Value::string(key);
        self.get(key.borrow())
    }

    /// Whether all keys are strings.
    #[inline]
    pub fn has_text_keys(self) -> bool {
        match self {
            Self::Stored(object) => object.iter().all(|(key, _)| key.borrow().is_string()),
            Self::Arena(object) => object.keys().iter().all(V::is_string),
        }
    }

    /// The pairs in key order.
    #[inline]
    pub fn iter(self) -> PairIter<'e> {
        match self {
            Self::Stored(object) => PairIter::Stored(object.iter()),
            Self::Arena(object) => PairIter::Arena(object.iter()),
        }
    }
}

/// The pairs of an object in key order.
#[derive(Clone)]
pub enum PairIter<'e> {
    /// Of an owned object.
    Stored(ObjectIter<'e>),
    /// Of an object in the arena.
    Arena(super::arena::ArenaPairs<'e>),
}

impl<'e> Iterator for PairIter<'e> {
    type Item = (V<'e>, V<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Stored(pairs) => pairs.next().map(|(k, v)| (k.borrow(), v.borrow())),
            Self::Arena(pairs) => pairs.next(),
        }
    }
}
