//! Iterators of objects, stored and in the arena.

use std::sync::Arc;

use super::chunked::SortedRun;
use crate::value::{Value, ValueRef};

/// The pairs of an owned object in key order.
#[derive(Clone)]
pub struct ObjectIter<'a> {
    pub(super) run: std::iter::Zip<std::slice::Iter<'a, Value>, std::slice::Iter<'a, Value>>,
    pub(super) rest: std::slice::Iter<'a, Arc<SortedRun>>,
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

    /// A loop for each run.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        let first = self.run.fold(init, &mut f);
        self.rest
            .fold(first, |all, run| run.iter().fold(all, &mut f))
    }
}

/// The pairs of an object in key order.
#[derive(Clone)]
pub struct PairIter<'e>(pub(crate) PairIterRepr<'e>);

#[derive(Clone)]
pub(crate) enum PairIterRepr<'e> {
    Stored(ObjectIter<'e>),
    Arena(crate::value::arena::ArenaPairs<'e>),
}

impl<'e> Iterator for PairIter<'e> {
    type Item = (ValueRef<'e>, ValueRef<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self(PairIterRepr::Stored(pairs)) => {
                pairs.next().map(|(k, v)| (k.borrow(), v.borrow()))
            }
            Self(PairIterRepr::Arena(pairs)) => pairs.next(),
        }
    }

    /// A loop for each variant, instead of a dispatch for each pair.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        match self {
            Self(PairIterRepr::Stored(pairs)) => pairs.fold(init, |all, (key, value)| {
                f(all, (key.borrow(), value.borrow()))
            }),
            Self(PairIterRepr::Arena(pairs)) => pairs.fold(init, f),
        }
    }
}
