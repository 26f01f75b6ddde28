//! Children of terms: a vector that is dropped without overflowing the stack.

use std::ops::{Deref, DerefMut};

use crate::stack;

/// Elements of a collection, pairs of an object, or operator and operands of a call.
///
/// Terms nest as deep as values do and chains of operators are long, so dropping a list of children grows the stack
/// when it runs short.
#[derive(Clone, Debug)]
pub struct Children<T>(Vec<T>);

impl<T> Children<T> {
    /// Returns an empty list. Allocates nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the children as a vector, without copying them.
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

impl<T> Drop for Children<T> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() && stack::is_short() {
            stack::level(|| self.0.clear());
        }
    }
}

impl<T> Default for Children<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<Vec<T>> for Children<T> {
    fn from(parts: Vec<T>) -> Self {
        Self(parts)
    }
}

impl<T> FromIterator<T> for Children<T> {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        Self(parts.into_iter().collect())
    }
}

impl<'p, T> IntoIterator for &'p Children<T> {
    type Item = &'p T;
    type IntoIter = std::slice::Iter<'p, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'p, T> IntoIterator for &'p mut Children<T> {
    type Item = &'p mut T;
    type IntoIter = std::slice::IterMut<'p, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T> Deref for Children<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Children<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}
