//! Sets, wherever they are held.

use solon_syntax::stack;

use super::arena::ArenaMembers;
use super::array::ArrayIter;
use super::{ArenaSet, Value, ValueRef, search};

/// Members that are looked at one after the other sooner than halved.
const FEW: usize = 8;

/// An owned set: its members in order.
///
/// ```
/// use solon::{Set, Value};
///
/// let set = Set::from_items(vec![Value::Int(2), Value::Int(1), Value::Int(2)]);
/// assert_eq!(set.items(), [Value::Int(1), Value::Int(2)]);
/// ```
#[derive(Clone, Default)]
pub struct Set {
    items: Vec<Value>,
}

/// As for arrays.
impl Drop for Set {
    #[inline]
    fn drop(&mut self) {
        if stack::is_short() {
            stack::level(|| self.items.clear());
        }
    }
}

impl Set {
    /// Sorts; of equal members the first is kept.
    pub fn from_items(mut items: Vec<Value>) -> Self {
        items.sort();
        items.dedup();
        Self { items }
    }

    /// Takes members that are already in order and distinct.
    pub fn from_sorted(items: Vec<Value>) -> Self {
        Self { items }
    }

    /// The members in order.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// Whether an equal member is in it.
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
pub enum SetView<'e> {
    /// Owned.
    Stored(&'e Set),
    /// In the arena.
    Arena(&'e ArenaSet<'e>),
}

impl<'e> SetView<'e> {
    /// Number of members.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::Stored(set) => set.items.len(),
            Self::Arena(set) => set.len(),
        }
    }

    /// Whether it has no members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether an equal member is in it.
    #[inline]
    pub fn contains(self, member: ValueRef<'_>) -> bool {
        match self {
            Self::Stored(set) => set.contains(member),
            Self::Arena(set) => set.contains(member),
        }
    }

    /// The members in order.
    #[inline]
    pub fn iter(self) -> SetIter<'e> {
        match self {
            Self::Stored(set) => SetIter::Stored(set.items.iter()),
            Self::Arena(set) => SetIter::Arena(set.iter()),
        }
    }

    /// The members in any order, for work whose result does not depend on it.
    #[inline]
    pub fn iter_unordered(self) -> ArrayIter<'e> {
        match self {
            Self::Stored(set) => ArrayIter::Stored(set.items.iter()),
            Self::Arena(set) => ArrayIter::Arena(set.items().iter()),
        }
    }
}

/// The members of a set in order.
#[derive(Clone)]
pub enum SetIter<'e> {
    /// Of an owned set.
    Stored(std::slice::Iter<'e, Value>),
    /// Of a set in the arena.
    Arena(ArenaMembers<'e>),
}

impl<'e> Iterator for SetIter<'e> {
    type Item = ValueRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'e>> {
        match self {
            Self::Stored(items) => items.next().map(Value::borrow),
            Self::Arena(items) => items.next(),
        }
    }
}
