//! Objects, owned and in the arena.

mod chunked;
mod growing;
mod inline_cache;
mod iter;
mod shape;
mod shapes;
mod unfilled;

use std::cell::Cell;
use std::sync::Arc;

use solon_syntax::stack;

use triomphe::{HeaderWithLength, ThinArc};

use super::{ArenaObject, Repr, Value, ValueRef};
pub use chunked::Chunked;
pub use growing::Growing;
pub use inline_cache::InlineCache;
pub(crate) use iter::PairIterRepr;
pub use iter::{ObjectIter, PairIter};
use shape::SCANNED;
pub use shape::Shape;
pub use shapes::{KeyOrder, MAX_KEYS, Shapes};
pub use unfilled::Unfilled;

/// An owned object with shared ownership: shape and values are in one allocation with their reference count.
///
/// ```
/// use solon::Object;
/// let mut roles = Object::from_pairs(vec![("bob".into(), 2.into()), ("alice".into(), 1.into())]);
/// roles.insert("carol".into(), 3.into());
/// let names: Vec<_> = roles.iter().filter_map(|(name, _)| name.as_str()).collect();
/// assert_eq!(names, ["alice", "bob", "carol"], "in the order of keys");
/// ```
#[derive(Clone)]
pub struct Object(ThinArc<ObjectRepr, Value>);

/// The representation of an object: few keys have a shape, many are in runs.
#[derive(Clone)]
pub enum ObjectRepr {
    /// Up to `Object::SHAPED` values follow in the same allocation, in the order of the shape's keys.
    Shaped(Arc<Shape>),
    /// More pairs are in separate runs.
    Chunked(Arc<Chunked>),
}

/// Drops deeply nested values on a larger stack.
impl Drop for Object {
    #[inline]
    fn drop(&mut self) {
        if stack::is_short() {
            self.drop_on_more_stack();
        }
    }
}

impl Object {
    #[cold]
    fn drop_on_more_stack(&mut self) {
        if ThinArc::strong_count(&self.0) == 1 {
            let repr = self.repr().clone();
            let none = ThinArc::from_header_and_iter(repr, std::iter::empty());
            stack::level(|| drop(std::mem::replace(&mut self.0, none)));
        }
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::from_sorted(Vec::new())
    }
}

impl Object {
    /// Maximum number of keys of the shaped representation.
    pub(crate) const SHAPED: usize = 64;

    /// Sorts pairs. The last of pairs with equal keys wins.
    pub fn from_pairs(mut pairs: Vec<(Value, Value)>) -> Self {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            // a stable sort of the reversed list puts the last of equal keys first
            pairs.reverse();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            pairs.dedup_by(|later, first| later.0 == first.0);
        }
        Self::from_sorted(pairs)
    }

    /// Creates an object from pairs with sorted distinct keys.
    pub(crate) fn from_sorted(pairs: Vec<(Value, Value)>) -> Self {
        if pairs.len() > Self::SHAPED {
            return Self::chunked(Chunked::from_sorted(pairs));
        }
        let mut keys = Vec::with_capacity(pairs.len());
        let mut values = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            keys.push(key);
            values.push(value);
        }
        Self::from_sorted_keys_and_values(keys, values)
    }

    /// Creates an object from sorted distinct keys and as many values.
    pub(crate) fn from_sorted_keys_and_values(keys: Vec<Value>, values: Vec<Value>) -> Self {
        if keys.len() > Self::SHAPED {
            let pairs = keys.into_iter().zip(values).collect();
            return Self::chunked(Chunked::from_sorted(pairs));
        }
        Self::from_shape(Arc::new(Shape::new(keys.into())), values)
    }

    /// Creates an object from a list of values in the order of the shape's keys, with one copy of the whole list.
    #[inline]
    fn from_shape(shape: Arc<Shape>, values: Vec<Value>) -> Self {
        let header = HeaderWithLength::new(ObjectRepr::Shaped(shape), values.len());
        let values = triomphe::Arc::from_header_and_vec(header, values);
        Self(triomphe::Arc::into_thin(values))
    }

    /// Creates an object from values in the order of the shape's keys.
    #[inline]
    pub(crate) fn with_shape(
        shape: Arc<Shape>,
        values: impl ExactSizeIterator<Item = Value>,
    ) -> Self {
        Self(ThinArc::from_header_and_iter(
            ObjectRepr::Shaped(shape),
            values,
        ))
    }

    fn chunked(chunked: Chunked) -> Self {
        let repr = ObjectRepr::Chunked(Arc::new(chunked));
        Self(ThinArc::from_header_and_iter(repr, std::iter::empty()))
    }

    #[inline]
    pub(crate) fn repr(&self) -> &ObjectRepr {
        &self.0.header.header
    }

    /// Returns the values of the shaped representation.
    #[inline]
    fn values(&self) -> &[Value] {
        &self.0.slice
    }

    /// Returns keys and values, if the object has a shape.
    #[inline]
    pub(crate) fn shaped(&self) -> Option<(&Arc<Shape>, &[Value])> {
        match self.repr() {
            ObjectRepr::Shaped(shape) => Some((shape, self.values())),
            ObjectRepr::Chunked(_) => None,
        }
    }

    /// Returns `true` if both are the same allocation.
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }

    /// Returns the address of the allocation, which is unique among live objects.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Returns the number of keys. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        match self.repr() {
            ObjectRepr::Shaped(_) => self.values().len(),
            ObjectRepr::Chunked(chunked) => chunked.len(),
        }
    }

    /// Returns `true` if it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under a key, or `None` if the object does not have it. A binary search by key; objects of a few keys are
    /// scanned.
    #[inline]
    pub fn get(&self, key: ValueRef<'_>) -> Option<&Value> {
        match self.repr() {
            ObjectRepr::Shaped(shape) => self.values().get(shape.slot(key)?),
            ObjectRepr::Chunked(chunked) => chunked.get(key),
        }
    }

    /// Returns the value under a stored key, or `None`. Compares short strings by their words.
    #[inline]
    pub(crate) fn get_stored(&self, key: &Value) -> Option<&Value> {
        match (self.repr(), key) {
            (ObjectRepr::Shaped(shape), Value(Repr::Short(short)))
                if self.values().len() <= SCANNED =>
            {
                let mut pairs = shape.keys.iter().zip(self.values());
                let pair = pairs.find(
                    |(other, _)| matches!(other, Value(Repr::Short(other)) if other == short),
                );
                pair.map(|(_, value)| value)
            }
            _ => self.get(key.borrow()),
        }
    }

    /// Returns the result of looking up a constant key, if its position in objects of this shape is cached.
    #[inline]
    pub(crate) fn cached(&self, constant: u32, cache: InlineCache) -> Option<Option<&Value>> {
        let ObjectRepr::Shaped(shape) = self.repr() else {
            return None;
        };
        (cache.shape == shape.number && cache.constant == constant)
            .then(|| self.values().get(cache.at as usize))
    }

    /// Returns the value under a constant key. Replaces the cache by the position in objects of this shape, also if the key is missing.
    pub(crate) fn get_noted(
        &self,
        key: &Value,
        constant: u32,
        cache: &Cell<InlineCache>,
    ) -> Option<&Value> {
        let ObjectRepr::Shaped(shape) = self.repr() else {
            return self.get_stored(key);
        };
        let index = match key {
            Value(Repr::Short(key)) if shape.keys.len() <= SCANNED => {
                let is_key =
                    |other: &Value| matches!(other, Value(Repr::Short(other)) if other == key);
                // alternating shapes often have the key at the same position
                let last = cache.get().at as usize;
                match shape.keys.get(last) {
                    Some(other) if is_key(other) => Some(last),
                    _ => shape.keys.iter().position(is_key),
                }
            }
            _ => shape.slot(key.borrow()),
        };
        cache.set(InlineCache {
            shape: shape.number,
            constant,
            at: index
                .and_then(|index| u32::try_from(index).ok())
                .unwrap_or(u32::MAX),
        });
        self.values().get(index?)
    }

    /// Returns the value under a string key, or `None` if the object does not have it. [`Self::get`] is faster for a key that is already a
    /// value.
    pub fn get_str(&self, key: &str) -> Option<&Value> {
        let key = Value::string(key);
        self.get(key.borrow())
    }

    /// Returns the position of a key in key order, or `None` if there is none.
    pub(crate) fn position(&self, key: ValueRef<'_>) -> Option<u32> {
        let index = match self.repr() {
            ObjectRepr::Shaped(shape) => shape.slot(key)?,
            ObjectRepr::Chunked(chunked) => chunked.position(key)?,
        };
        u32::try_from(index).ok()
    }

    /// Returns the pairs in key order.
    #[inline]
    pub fn iter(&self) -> ObjectIter<'_> {
        match self.repr() {
            ObjectRepr::Shaped(shape) => ObjectIter {
                run: shape.keys.iter().zip(self.values()),
                rest: [].iter(),
            },
            ObjectRepr::Chunked(chunked) => ObjectIter {
                run: [].iter().zip([].iter()),
                rest: chunked.runs(),
            },
        }
    }

    /// Sets the value under a key. A large object copies one run and the list of runs.
    pub fn insert(&mut self, key: Value, value: Value) {
        let Some((shape, values)) = self.shaped() else {
            self.change_chunked(|chunked| chunked.insert(key, value));
            return;
        };
        match shape.keys.binary_search(&key) {
            Ok(slot) => drop(self.change_at(slot, |old| *old = value)),
            Err(slot) => {
                let mut pairs = pairs(shape, values);
                pairs.insert(slot.min(pairs.len()), (key, value));
                *self = Self::from_sorted(pairs);
            }
        }
    }

    /// Removes a key, if it exists. Copies runs that are shared.
    pub fn remove(&mut self, key: ValueRef<'_>) {
        if let Some((shape, values)) = self.shaped() {
            if let Some(slot) = shape.slot(key) {
                let mut pairs = pairs(shape, values);
                pairs.remove(slot);
                *self = Self::from_sorted(pairs);
            }
            return;
        }
        self.change_chunked(|chunked| chunked.remove(key));
        if self.len() <= Self::SHAPED {
            let pairs = self.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            *self = Self::from_sorted(pairs);
        }
    }

    /// Changes the value under a key in place. A shared object is copied first. Returns `None` if the key is absent.
    pub fn change<R>(
        &mut self,
        key: ValueRef<'_>,
        change: impl FnOnce(&mut Value) -> R,
    ) -> Option<R> {
        // check before copying: a missing key must not copy anything
        self.get(key)?;
        match self.repr() {
            ObjectRepr::Shaped(shape) => self.change_at(shape.slot(key)?, change),
            ObjectRepr::Chunked(_) => self.change_chunked(|all| all.get_mut(key).map(change))?,
        }
    }

    fn change_chunked<R>(&mut self, change: impl FnOnce(&mut Chunked) -> R) -> Option<R> {
        if ThinArc::strong_count(&self.0) > 1 {
            self.0 = ThinArc::from_header_and_iter(self.repr().clone(), std::iter::empty());
        }
        self.0.with_arc_mut(
            |object| match triomphe::Arc::get_mut(object)?.header_mut() {
                ObjectRepr::Chunked(chunked) => Some(change(Arc::make_mut(chunked))),
                ObjectRepr::Shaped(_) => None,
            },
        )
    }

    fn change_at<R>(&mut self, slot: usize, change: impl FnOnce(&mut Value) -> R) -> Option<R> {
        if ThinArc::strong_count(&self.0) > 1 {
            let values = self.values().iter().cloned();
            self.0 = ThinArc::from_header_and_iter(self.repr().clone(), values);
        }
        self.0.with_arc_mut(|object| {
            let object = triomphe::Arc::get_mut(object)?;
            object.slice_mut().get_mut(slot).map(change)
        })
    }

    /// Returns `true` if all keys are strings. They are sorted, so the first and the last one are sufficient.
    fn has_text_keys(&self) -> bool {
        let (first, last) = match self.repr() {
            ObjectRepr::Shaped(shape) => (shape.keys.first(), shape.keys.last()),
            ObjectRepr::Chunked(chunked) => {
                let mut runs = chunked.runs();
                let first = runs.clone().next().and_then(|run| run.iter().next());
                let last = runs.next_back().and_then(|run| run.iter().next_back());
                (first.map(|(key, _)| key), last.map(|(key, _)| key))
            }
        };
        let is_string = |key: &Value| key.borrow().is_string();
        first.is_none_or(is_string) && last.is_none_or(is_string)
    }
}

fn pairs(shape: &Shape, values: &[Value]) -> Vec<(Value, Value)> {
    shape
        .keys
        .iter()
        .cloned()
        .zip(values.iter().cloned())
        .collect()
}

/// An object.
#[derive(Clone, Copy)]
pub struct ObjectView<'e>(pub(crate) ObjectViewRepr<'e>);

#[derive(Clone, Copy)]
pub(crate) enum ObjectViewRepr<'e> {
    Stored(&'e Object),
    Arena(&'e ArenaObject<'e>),
}

impl<'e> ObjectView<'e> {
    /// Returns the number of keys. O(1).
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self(ObjectViewRepr::Stored(object)) => object.len(),
            Self(ObjectViewRepr::Arena(object)) => object.len(),
        }
    }

    /// Returns `true` if it has no keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value under a key, or `None` if the object does not have it.
    #[inline]
    pub fn get(self, key: ValueRef<'_>) -> Option<ValueRef<'e>> {
        match self {
            Self(ObjectViewRepr::Stored(object)) => object.get(key).map(Value::borrow),
            Self(ObjectViewRepr::Arena(object)) => object.get(key),
        }
    }

    /// Returns the value under a string key, or `None` if the object does not have it. [`Self::get`] is faster for a key that is already a
    /// value.
    pub fn get_str(self, key: &str) -> Option<ValueRef<'e>> {
        let key = Value::string(key);
        self.get(key.borrow())
    }

    /// Returns `true` if all keys are strings. Objects in the arena are searched.
    #[inline]
    pub fn has_text_keys(self) -> bool {
        match self {
            Self(ObjectViewRepr::Stored(object)) => object.has_text_keys(),
            Self(ObjectViewRepr::Arena(object)) if object.overlaid().is_none() => {
                object.keys().iter().all(ValueRef::is_string)
            }
            Self(ObjectViewRepr::Arena(object)) => object.iter().all(|(key, _)| key.is_string()),
        }
    }

    /// Returns the pairs in key order.
    #[inline]
    pub fn iter(self) -> PairIter<'e> {
        match self {
            Self(ObjectViewRepr::Stored(object)) => PairIter(PairIterRepr::Stored(object.iter())),
            Self(ObjectViewRepr::Arena(object)) => PairIter(PairIterRepr::Arena(object.iter())),
        }
    }
}
