//! Cache of shapes during the reading of a source, for objects with the same keys in the same order.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;

use super::unfilled::Unfilled;
use super::{Object, Shape};
use crate::bug::bug;
use crate::index::Indexed as _;
use crate::limits;
use crate::value::{Repr, Value};

/// Maximum number of keys of an object that shares its keys.
pub const MAX_KEYS: usize = Object::SHAPED;

/// Key orders that have occurred, each with a note of the reader.
#[derive(Default)]
pub struct Shapes<N = ()> {
    orders: Vec<KeyOrder<N>>,
    /// Positions in `orders` by the hash of their keys.
    table: HashTable<usize>,
    state: foldhash::fast::RandomState,
    last: usize,
}

/// Keys in the order of the source, with their positions in a shape.
pub struct KeyOrder<N = ()> {
    shape: Arc<Shape>,
    /// Position in the shape for each key of the source. Equal keys have the same position.
    slots: Box<[u8]>,
    /// Last position in the source for each key of the shape, unless both have the same order.
    sources: Option<Box<[u8]>>,
    /// Index of the key order that followed this one last: the sequence of orders repeats itself in sources.
    next: usize,
    /// The hash of the keys in that order.
    code: u64,
    /// Data of the reader.
    pub note: N,
}

impl<N: Default> Shapes<N> {
    /// Returns the order of these keys. Returns `None` if there are more than [`MAX_KEYS`]. The last of equal keys wins.
    #[inline]
    pub fn order<K: AsRef<str>>(&mut self, keys: &[K]) -> Option<&mut KeyOrder<N>> {
        let mut index = self.orders.get(self.last).map_or(0, |order| order.next);
        if !self.orders.get(index).is_some_and(|order| order.has(keys)) {
            index = self.find_or_add(keys);
            // the list may have been cleared
            if let Some(last) = self.orders.get_mut(self.last) {
                last.next = index;
            }
        }
        self.last = index;
        self.orders.get_mut(index)
    }

    fn find_or_add<K: AsRef<str>>(&mut self, keys: &[K]) -> usize {
        let code = self.state.hash_one(HashedKeys(keys));
        let has_same_keys =
            |index: &usize| self.orders.get(*index).is_some_and(|order| order.has(keys));
        if let Some(index) = self.table.find(code, has_same_keys) {
            return *index;
        }
        if self.orders.len() >= limits::SHAPES {
            self.orders.clear();
            self.table.clear();
        }
        let index = self.orders.len();
        self.orders.push(KeyOrder::new(code, keys));
        let orders = &self.orders;
        self.table.insert_unique(code, index, |index| {
            orders.get(*index).map_or(0, |order| order.code)
        });
        index
    }
}

struct HashedKeys<'k, K>(&'k [K]);

impl<K: AsRef<str>> std::hash::Hash for HashedKeys<'_, K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for key in self.0 {
            key.as_ref().hash(state);
        }
    }
}

impl<N: Default> KeyOrder<N> {
    fn new<K: AsRef<str>>(code: u64, keys: &[K]) -> Self {
        let mut sorted: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let slot = |key: &K| {
            let slot = sorted.binary_search(&key.as_ref());
            slot.unwrap_or_else(|_| bug!("a shape lacks one of its keys"))
        };
        let slots: Box<[u8]> = keys
            .iter()
            .map(|key| u8::try_from(slot(key)).unwrap_or_else(|_| bug!("a shape of too many keys")))
            .collect();
        let shape = Shape::new(sorted.into_iter().map(Value::string).collect());
        let in_order = slots.len() == shape.keys().len() && slots.is_sorted();
        let mut sources: Box<[u8]> = vec![0; shape.keys().len()].into();
        for (source, slot) in (0..).zip(&slots) {
            *sources.item_mut(*slot) = source;
        }
        Self {
            shape: Arc::new(shape),
            slots,
            sources: (!in_order).then_some(sources),
            next: 0,
            code,
            note: N::default(),
        }
    }
}

impl<N> KeyOrder<N> {
    /// Returns `true` if it is the order of these keys. Compares each.
    #[inline]
    fn has<K: AsRef<str>>(&self, keys: &[K]) -> bool {
        let mut pairs = self.slots.iter().zip(keys);
        self.slots.len() == keys.len()
            && pairs.all(|(slot, key)| {
                let key = key.as_ref().as_bytes();
                match self.shape.keys().get(usize::from(*slot)) {
                    Some(Value(Repr::Short(short))) => short.equals(key),
                    Some(Value(Repr::Text(text))) => text.as_bytes() == key,
                    _ => false,
                }
            })
    }

    /// Returns a copy without the note, for use outside the cache.
    pub fn bare(&self) -> KeyOrder {
        KeyOrder {
            shape: self.shape.clone(),
            slots: self.slots.clone(),
            sources: self.sources.clone(),
            next: 0,
            code: self.code,
            note: (),
        }
    }

    #[inline]
    pub(crate) fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Returns `true` if the keys of the source are sorted and distinct.
    #[inline]
    pub fn is_sorted(&self) -> bool {
        self.sources.is_none()
    }

    /// Returns the last position in the source for each key of the shape, unless both have the same order.
    #[inline]
    pub(crate) fn sources(&self) -> Option<&[u8]> {
        self.sources.as_deref()
    }

    /// Returns the position in the shape of a key of the source, or `None` after the last key.
    #[inline]
    pub fn slot(&self, index: usize) -> Option<usize> {
        self.slots.get(index).map(|slot| usize::from(*slot))
    }

    /// Moves values in the order of the source into an object.
    #[inline]
    pub fn object(&self, values: &mut [Value]) -> Object {
        let shape = self.shape.clone();
        match &self.sources {
            None => Object::with_shape(shape, values.iter_mut().map(std::mem::take)),
            Some(sources) => {
                let take = |index: &u8| {
                    let value = values.get_mut(usize::from(*index));
                    value.map_or_else(
                        || bug!("a shape has more keys than its object has values"),
                        std::mem::take,
                    )
                };
                Object::with_shape(shape, sources.iter().map(take))
            }
        }
    }

    /// Returns an object whose values are set one by one.
    #[inline]
    pub fn unfilled(&self) -> Unfilled {
        Unfilled::new(self.shape.clone())
    }
}
