//! Aggregates that process elements one by one, so that `sum([x | …])` builds no array.

use std::cmp::Ordering;

use super::arithmetic::computed;
use super::{BuiltinContext, BuiltinError};
use crate::value::number::Sum;
use crate::value::{Kind, Number, NumberBuf, RefRepr, Repr, Value, ValueRef};

/// An aggregate that can be fused with the comprehension in its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// `count`, of elements of any type.
    Count,
    /// `sum`, of numbers only.
    Sum,
    /// `min`, in the order of values.
    Min,
    /// `max`, in the order of values.
    Max,
}

/// State of an aggregate: what the elements so far amount to.
pub enum Fold<'e> {
    /// Number of elements so far.
    Count(usize),
    /// Sum, and the first element that is not a number.
    Sum(Sum, Option<ValueRef<'e>>),
    /// Largest or smallest element so far. The ordering is that of other elements relative to it.
    Extreme(Ordering, Option<ValueRef<'e>>),
}

impl<'e> Fold<'e> {
    /// Returns the state without elements.
    pub fn new(aggregation: Aggregation) -> Self {
        match aggregation {
            Aggregation::Count => Self::Count(0),
            Aggregation::Sum => Self::Sum(Sum::default(), None),
            Aggregation::Min => Self::Extreme(Ordering::Greater, None),
            Aggregation::Max => Self::Extreme(Ordering::Less, None),
        }
    }

    /// Adds an element. A sum remembers the first element that is not a number; [`Self::finish`] reports it.
    #[inline]
    pub fn add(&mut self, element: ValueRef<'e>) {
        match self {
            Self::Count(count) => *count += 1,
            Self::Sum(sum, wrong) => add_number(sum, wrong, element),
            Self::Extreme(beaten, best) => {
                *best = Some(best.map_or(element, |old| better(old, element, *beaten)));
            }
        }
    }

    /// Adds elements. Selects the aggregate once for all of them.
    pub fn add_all(&mut self, mut elements: impl Iterator<Item = ValueRef<'e>>) {
        match self {
            Self::Extreme(beaten, best) => {
                let Some(first) = best.take().or_else(|| elements.next()) else {
                    return;
                };
                let beaten = *beaten;
                *best = Some(elements.fold(first, |old, element| better(old, element, beaten)));
            }
            Self::Sum(sum, wrong) => {
                let int = |element: &ValueRef<'e>| match element {
                    ValueRef(RefRepr::Int(int)) => Some(*int),
                    _ => None,
                };
                while let Some(element) = sum.add_ints(&mut elements, int) {
                    add_number(sum, wrong, element);
                }
            }
            Self::Count(count) => *count += elements.count(),
        }
    }

    /// Adds a stored element. The sum adds stored integers without a borrowed value.
    #[inline]
    pub fn add_stored(&mut self, element: &'e Value) {
        match (&mut *self, element) {
            (Self::Count(count), _) => *count += 1,
            (Self::Sum(sum, _), Value(Repr::Int(int))) => sum.add(Number::Int(*int)),
            _ => self.add(element.borrow()),
        }
    }

    /// Returns the built-in's result for a collection of the elements. `min` and `max` of no elements are undefined.
    ///
    /// # Errors
    /// An element of a sum is not a number.
    pub fn finish(
        self,
        call: &BuiltinContext<'e>,
        collection: Kind,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        match self {
            Self::Count(count) => Ok(call.arena.number(NumberBuf::from(count))),
            Self::Sum(_, Some(wrong)) => {
                Err(BuiltinError::element(1, collection, &["number"], wrong))
            }
            Self::Sum(sum, None) => computed(call, sum.finish()),
            Self::Extreme(_, best) => best.ok_or(BuiltinError::Undefined),
        }
    }
}

/// Adds an element to a sum. Records the first element that is not a number.
#[inline]
fn add_number<'e>(sum: &mut Sum, wrong: &mut Option<ValueRef<'e>>, element: ValueRef<'e>) {
    match element.as_number() {
        Some(number) => sum.add(number),
        None => {
            wrong.get_or_insert(element);
        }
    }
}

/// Returns the better of two elements, the later if they are equal. Branch-free for two integers.
#[inline]
fn better<'e>(old: ValueRef<'e>, element: ValueRef<'e>, beaten: Ordering) -> ValueRef<'e> {
    if let (ValueRef(RefRepr::Int(old)), ValueRef(RefRepr::Int(int))) = (old, element) {
        let (min, max) = (old.min(int), old.max(int));
        return ValueRef(RefRepr::Int(if beaten.is_lt() { max } else { min }));
    }
    let order = old.cmp(&element);
    if order.is_eq() || order == beaten {
        element
    } else {
        old
    }
}
