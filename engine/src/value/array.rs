//! Arrays, owned and in the arena.

use std::ops::Deref;

use solon_syntax::stack;
use triomphe::{Arc, HeaderWithLength, ThinArc};

use super::{Value, ValueRef};

/// The elements of an owned array, with shared ownership, in one allocation with their reference count.
#[derive(Clone)]
pub struct Items(ThinArc<(), Value>);

impl Items {
    /// Creates an array, which takes the elements.
    pub fn new(items: Vec<Value>) -> Self {
        let header = HeaderWithLength::new((), items.len());
        let items = Arc::from_header_and_vec(header, items);
        Self(Arc::into_thin(items))
    }

    /// Creates an array from an iterator of known length.
    #[inline]
    pub(crate) fn collect(items: impl ExactSizeIterator<Item = Value>) -> Self {
        Self(ThinArc::from_header_and_iter((), items))
    }

    /// Returns `true` if both are the same allocation.
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }

    /// Returns the address of the allocation, which is unique among live arrays.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Changes an element in place. Shared elements are copied first. Returns `None` if `index` is out of bounds.
    pub fn change<R>(&mut self, index: usize, change: impl FnOnce(&mut Value) -> R) -> Option<R> {
        self.get(index)?;
        if ThinArc::strong_count(&self.0) > 1 {
            *self = Self::collect(self.iter().cloned());
        }
        self.0.with_arc_mut(|items| {
            let items = Arc::get_mut(items)?;
            items.slice_mut().get_mut(index).map(change)
        })
    }

    /// Inserts an element before the one at a position.
    pub fn insert(&mut self, index: usize, item: Value) {
        let mut items = self.to_vec();
        items.insert(index.min(items.len()), item);
        *self = Self::new(items);
    }

    /// Removes the element at a position, if there is one.
    pub fn remove(&mut self, index: usize) {
        let mut items = self.to_vec();
        if index < items.len() {
            items.remove(index);
            *self = Self::new(items);
        }
    }
}

impl Default for Items {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Deref for Items {
    type Target = [Value];

    #[inline]
    fn deref(&self) -> &[Value] {
        &self.0.slice
    }
}

/// Drops deeply nested values on a larger stack.
impl Drop for Items {
    #[inline]
    fn drop(&mut self) {
        if stack::is_short() {
            self.drop_on_more_stack();
        }
    }
}

impl Items {
    #[cold]
    fn drop_on_more_stack(&mut self) {
        if ThinArc::strong_count(&self.0) == 1 {
            let none = ThinArc::from_header_and_iter((), std::iter::empty());
            stack::level(|| drop(std::mem::replace(&mut self.0, none)));
        }
    }
}

/// An array.
#[derive(Clone, Copy)]
pub struct ArrayView<'e>(pub(crate) ArrayViewRepr<'e>);

#[derive(Clone, Copy)]
pub(crate) enum ArrayViewRepr<'e> {
    Stored(&'e [Value]),
    Arena(&'e [ValueRef<'e>]),
}

impl<'e> ArrayView<'e> {
    /// Returns the number of elements. O(1).
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self(ArrayViewRepr::Stored(items)) => items.len(),
            Self(ArrayViewRepr::Arena(items)) => items.len(),
        }
    }

    /// Returns `true` if it has no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the element at an index, or `None` after the last one. O(1).
    #[inline]
    pub fn get(self, index: usize) -> Option<ValueRef<'e>> {
        match self {
            Self(ArrayViewRepr::Stored(items)) => items.get(index).map(Value::borrow),
            Self(ArrayViewRepr::Arena(items)) => items.get(index).copied(),
        }
    }

    /// Returns the elements in order.
    #[inline]
    pub fn iter(self) -> ArrayIter<'e> {
        match self {
            Self(ArrayViewRepr::Stored(items)) => ArrayIter(ArrayIterRepr::Stored(items.iter())),
            Self(ArrayViewRepr::Arena(items)) => ArrayIter(ArrayIterRepr::Arena(items.iter())),
        }
    }
}

/// The elements of an array, in order.
#[derive(Clone)]
pub struct ArrayIter<'e>(pub(crate) ArrayIterRepr<'e>);

#[derive(Clone)]
pub(crate) enum ArrayIterRepr<'e> {
    Stored(std::slice::Iter<'e, Value>),
    Arena(std::slice::Iter<'e, ValueRef<'e>>),
}

impl<'e> Iterator for ArrayIter<'e> {
    type Item = ValueRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'e>> {
        match self {
            Self(ArrayIterRepr::Stored(items)) => items.next().map(Value::borrow),
            Self(ArrayIterRepr::Arena(items)) => items.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self(ArrayIterRepr::Stored(items)) => items.size_hint(),
            Self(ArrayIterRepr::Arena(items)) => items.size_hint(),
        }
    }

    /// A loop for each variant, instead of a dispatch for each element.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        match self {
            Self(ArrayIterRepr::Stored(items)) => {
                items.fold(init, |all, item| f(all, item.borrow()))
            }
            Self(ArrayIterRepr::Arena(items)) => items.fold(init, |all, item| f(all, *item)),
        }
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}
