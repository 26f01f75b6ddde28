//! Sets, owned and in the arena.

use solon_syntax::stack;

use super::arena::ArenaMembers;
use super::array::{ArrayIter, ArrayIterRepr};
use super::{ArenaSet, Value, ValueRef, search};

/// Largest set that is searched linearly. Up to this size a scan is faster than a binary search.
const FEW: usize = 8;

/// An owned set of sorted members.
///
/// ```
/// use solon::{Set, Value};
///
/// let set = Set::from_items(vec![Value::from(2), Value::from(1), Value::from(2)]);
/// assert_eq!(set.items(), [Value::from(1), Value::from(2)]);
/// ```
#[derive(Clone, Default)]
pub struct Set {
    items: Vec<Value>,
}

/// Drops deeply nested values on a larger stack.
impl Drop for Set {
    #[inline]
    fn drop(&mut self) {
        if stack::is_short() {
            stack::level(|| self.items.clear());
        }
    }
}

impl Set {
    /// Sorts members. The first of equal members is kept.
    pub fn from_items(mut items: Vec<Value>) -> Self {
        items.sort();
        items.dedup();
        Self { items }
    }

    /// Creates a set from sorted distinct members.
    pub(crate) fn from_sorted(items: Vec<Value>) -> Self {
        Self { items }
    }

    /// Returns the members in order.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// Returns `true` if the set contains an equal member. O(log n).
    #[inline]
    pub fn contains(&self, member: ValueRef<'_>) -> bool {
        if self.items.len() <= FEW {
            return search::position(&self.items, member).is_some();
        }
        search::find(&self.items, member).is_ok()
    }
}

/// A set.
#[derive(Clone, Copy)]
pub struct SetView<'e>(pub(crate) SetViewRepr<'e>);

#[derive(Clone, Copy)]
pub(crate) enum SetViewRepr<'e> {
    Stored(&'e Set),
    Arena(&'e ArenaSet<'e>),
}

impl<'e> SetView<'e> {
    /// Returns the number of members. O(1).
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self(SetViewRepr::Stored(set)) => set.items.len(),
            Self(SetViewRepr::Arena(set)) => set.len(),
        }
    }

    /// Returns `true` if it has no members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the set contains an equal member.
    #[inline]
    pub fn contains(self, member: ValueRef<'_>) -> bool {
        match self {
            Self(SetViewRepr::Stored(set)) => set.contains(member),
            Self(SetViewRepr::Arena(set)) => set.contains(member),
        }
    }

    /// Returns the members in order.
    #[inline]
    pub fn iter(self) -> SetIter<'e> {
        match self {
            Self(SetViewRepr::Stored(set)) => SetIter(SetIterRepr::Stored(set.items.iter())),
            Self(SetViewRepr::Arena(set)) => SetIter(SetIterRepr::Arena(set.iter())),
        }
    }

    /// Returns the members in any order, for results that do not depend on it.
    #[inline]
    pub fn iter_unordered(self) -> ArrayIter<'e> {
        match self {
            Self(SetViewRepr::Stored(set)) => ArrayIter(ArrayIterRepr::Stored(set.items.iter())),
            Self(SetViewRepr::Arena(set)) => ArrayIter(ArrayIterRepr::Arena(set.items().iter())),
        }
    }
}

/// The members of a set in order.
#[derive(Clone)]
pub struct SetIter<'e>(pub(crate) SetIterRepr<'e>);

#[derive(Clone)]
pub(crate) enum SetIterRepr<'e> {
    Stored(std::slice::Iter<'e, Value>),
    Arena(ArenaMembers<'e>),
}

impl<'e> Iterator for SetIter<'e> {
    type Item = ValueRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'e>> {
        match self {
            Self(SetIterRepr::Stored(items)) => items.next().map(Value::borrow),
            Self(SetIterRepr::Arena(items)) => items.next(),
        }
    }
}
