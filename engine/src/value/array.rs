//! Arrays, wherever they are held.

use std::ops::{Deref, DerefMut};

#[cfg(debug_assertions)]
use solon_syntax::stack;

use super::{V, Value};

/// The elements of an owned array.
#[derive(Clone, Default)]
pub struct Items(Vec<Value>);

impl Items {
    /// Takes elements.
    pub fn new(items: Vec<Value>) -> Self {
        Self(items)
    }
}

impl Deref for Items {
    type Target = Vec<Value>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Items {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Unoptimised, dropping the deepest value takes more stack than small threads have.
#[cfg(debug_assertions)]
impl Drop for Items {
    fn drop(&mut self) {
        stack::level(|| self.0.clear());
    }
}

/// An array.
#[derive(Clone, Copy)]
pub enum ArrayView<'e> {
    /// In an owned value.
    Stored(&'e [Value]),
    /// In the arena.
    Arena(&'e [V<'e>]),
}

impl<'e> ArrayView<'e> {
    /// Number of elements.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::Stored(items) => items.len(),
            Self::Arena(items) => items.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at an index.
    #[inline]
    pub fn get(self, index: usize) -> Option<V<'e>> {
        match self {
            Self::Stored(items) => items.get(index).map(Value::borrow),
            Self::Arena(items) => items.get(index).copied(),
        }
    }

    /// The elements in order.
    #[inline]
    pub fn iter(self) -> ArrayIter<'e> {
        match self {
            Self::Stored(items) => ArrayIter::Stored(items.iter()),
            Self::Arena(items) => ArrayIter::Arena(items.iter()),
        }
    }
}

/// The elements of an array.
#[derive(Clone)]
pub enum ArrayIter<'e> {
    /// Of an owned value.
    Stored(std::slice::Iter<'e, Value>),
    /// Of an array in the arena.
    Arena(std::slice::Iter<'e, V<'e>>),
}

impl<'e> Iterator for ArrayIter<'e> {
    type Item = V<'e>;

    #[inline]
    fn next(&mut self) -> Option<V<'e>> {
        match self {
            Self::Stored(items) => items.next().map(Value::borrow),
            Self::Arena(items) => items.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Stored(items) => items.size_hint(),
            Self::Arena(items) => items.size_hint(),
        }
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}
