//! Unification.

use solon_syntax::ast::{Term, TermKind};

use super::bindings::Bound;
use super::machine::{Flow, Goal, Next, Outcome, Walk};
use super::term::{FrameId, List, T, TermShape};
use crate::bug::bug;
use crate::limits;
use crate::runtime::Halt;
use crate::value::{Kind, ObjectView, ValueRef};

/// The pairs of an object.
#[derive(Clone, Copy)]
pub(super) enum Pairs<'e> {
    Terms(&'e [(Term, Term)], FrameId),
    Values(ObjectView<'e>),
}

impl<'e> Walk<'e> {
    /// Goes on for each way to make two terms equal.
    pub(super) fn unify(
        &mut self,
        goal: Goal<'e>,
        left: T<'e>,
        right: T<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let (left, right) = (self.apply(left), self.apply(right));
        self.unify_event(goal, left, right);
        if self.open.is_some()
            && let Some(outcome) = self.unify_open(goal, left, right, next)
        {
            return outcome;
        }
        match (left.shape(), right.shape()) {
            (TermShape::Ref(reference), _) => self.reference(goal, reference, right, next),
            (_, TermShape::Ref(reference)) => self.reference(goal, reference, left, next),
            (TermShape::Comprehension(term, inside, frame), _) => {
                self.comprehension(goal, (term, inside, frame), right, next)
            }
            // what cannot be the comprehension's value fails before it is gone through
            (left, TermShape::Comprehension(term, ..)) if cannot_be(left, term) => Ok(Flow::More),
            (_, TermShape::Comprehension(term, inside, frame)) => {
                self.comprehension(goal, (term, inside, frame), left, next)
            }
            (TermShape::Var(name, frame), TermShape::Var(other, other_frame))
                if name == other && frame == other_frame =>
            {
                next(self)
            }
            (TermShape::Var(name, frame), _) => {
                let (term, span) = (self.settled(right), left.span());
                self.bound((name, frame), Bound { term, span }, next)
            }
            (_, TermShape::Var(name, frame)) => {
                let (term, span) = (self.settled(left), right.span());
                self.bound((name, frame), Bound { term, span }, next)
            }
            (TermShape::Known(left), TermShape::Known(right)) => {
                self.equal(goal, left, right, next)
            }
            (left, right) => self.compounds(goal, left, right, next),
        }
    }

    /// A collection as the value it is, if all in it is known: parts that it has twice are gone through once then.
    /// Observers see collections as they are written.
    fn settled(&mut self, term: T<'e>) -> T<'e> {
        match term.shape() {
            TermShape::Array(_) | TermShape::Object(..) | TermShape::Set(..)
                if self.observer.is_none() =>
            {
                self.plug(term).map_or(term, T::Known)
            }
            _ => term,
        }
    }

    fn equal(
        &mut self,
        goal: Goal<'e>,
        left: ValueRef<'e>,
        right: ValueRef<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        if self.are_equal(goal, left, right)? {
            return next(self);
        }
        Ok(Flow::More)
    }

    /// Whether two values are equal; observers see how arrays and objects are gone through.
    fn are_equal(
        &mut self,
        goal: Goal<'e>,
        left: ValueRef<'e>,
        right: ValueRef<'e>,
    ) -> Result<bool, Halt> {
        if self.observer.is_none() {
            return Ok(left == right);
        }
        if let (Some(left), Some(right)) = (left.as_array(), right.as_array()) {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (one, other) in left.iter().zip(right.iter()) {
                if !self.elements_are_equal(goal, one, other)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let (Some(left), Some(right)) = (left.as_object(), right.as_object()) {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (key, one) in left.iter() {
                let Some(other) = right.get(key) else {
                    return Ok(false);
                };
                if !self.elements_are_equal(goal, one, other)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Ok(left == right)
    }

    fn elements_are_equal(
        &mut self,
        goal: Goal<'e>,
        one: ValueRef<'e>,
        other: ValueRef<'e>,
    ) -> Result<bool, Halt> {
        self.turn()?;
        self.unify_event(goal, T::Known(one), T::Known(other));
        stacker::maybe_grow(limits::VALUE_STACK, 2 * limits::VALUE_STACK, || {
            self.are_equal(goal, one, other)
        })
    }

    fn compounds(
        &mut self,
        goal: Goal<'e>,
        left: TermShape<'e>,
        right: TermShape<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        if let (Some(left), Some(right)) = (array(left), array(right)) {
            if left.len() != right.len() {
                return Ok(Flow::More);
            }
            return self.unify_lists(goal, left, right, 0, next);
        }
        if let (Some(left), Some(right)) = (object(left), object(right)) {
            return self.unify_objects(goal, left, right, next);
        }
        if matches!(left, TermShape::Other) || matches!(right, TermShape::Other) {
            bug!("a call within a term");
        }
        match (self.plug_set(left), self.plug_set(right)) {
            (Some(left), Some(right)) if left == right => next(self),
            _ => Ok(Flow::More),
        }
    }

    fn plug_set(&mut self, set: TermShape<'e>) -> Option<ValueRef<'e>> {
        match set {
            TermShape::Known(value) => Some(value),
            TermShape::Set(items, frame) => {
                let items = self.plug_all(List::Terms(items, frame))?;
                Some(self.call.arena.set_from(items))
            }
            _ => None,
        }
    }

    /// Unifies the elements of two lists, from a position on.
    pub(super) fn unify_lists(
        &mut self,
        goal: Goal<'e>,
        left: List<'e>,
        right: List<'e>,
        at: usize,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let mut at = at;
        while let (Some(one), Some(other)) = (left.get(at), right.get(at)) {
            let (T::Known(one), T::Known(other)) = (self.apply(one), self.apply(other)) else {
                return self.deeper(|walk| {
                    walk.unify(goal, one, other, &mut |walk| {
                        walk.unify_lists(goal, left, right, at + 1, next)
                    })
                });
            };
            if !self.elements_are_equal(goal, one, other)? {
                return Ok(Flow::More);
            }
            at += 1;
        }
        next(self)
    }

    fn unify_objects(
        &mut self,
        goal: Goal<'e>,
        left: Pairs<'e>,
        right: Pairs<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let (Some(left), Some(right)) = (self.by_key(left), self.by_key(right)) else {
            return Ok(Flow::More);
        };
        if left.len() != right.len() {
            return Ok(Flow::More);
        }
        self.unify_pairs(goal, left, right, next)
    }

    fn unify_pairs(
        &mut self,
        goal: Goal<'e>,
        left: &'e [(ValueRef<'e>, T<'e>)],
        right: &'e [(ValueRef<'e>, T<'e>)],
        next: Next<'_, 'e>,
    ) -> Outcome {
        let Some(((key, value), rest)) = left.split_first() else {
            return next(self);
        };
        let found = right.binary_search_by(|(other, _)| other.cmp(key));
        let Some((_, other)) = found.ok().and_then(|at| right.get(at)) else {
            return Ok(Flow::More);
        };
        self.deeper(|walk| {
            walk.unify(goal, *value, *other, &mut |walk| {
                walk.unify_pairs(goal, rest, right, next)
            })
        })
    }

    /// The pairs of an object in the order of their keys, which must be known.
    fn by_key(&mut self, pairs: Pairs<'e>) -> Option<&'e [(ValueRef<'e>, T<'e>)]> {
        let mut known: Vec<(ValueRef<'e>, T<'e>)> = Vec::new();
        match pairs {
            Pairs::Terms(pairs, frame) => {
                for (key, value) in pairs {
                    known.push((self.plug(T::Term(key, frame))?, T::Term(value, frame)));
                }
                known.sort_by_key(|(key, _)| *key);
                // of equal keys the last value counts
                known.reverse();
                known.dedup_by(|later, earlier| later.0 == earlier.0);
                known.reverse();
            }
            Pairs::Values(object) => {
                known.extend(object.iter().map(|(key, value)| (key, T::Known(value))));
            }
        }
        Some(self.call.arena.bump().alloc_slice_copy(&known))
    }
}

/// Whether a term is something else than the value of a comprehension. Sets are compared with any, as in OPA.
fn cannot_be(shape: TermShape<'_>, comprehension: &Term) -> bool {
    let kind = match shape {
        TermShape::Known(value) => value.kind(),
        TermShape::Array(_) => Kind::Array,
        TermShape::Object(..) => Kind::Object,
        TermShape::Set(..) => Kind::Set,
        TermShape::Var(..)
        | TermShape::Ref(_)
        | TermShape::Comprehension(..)
        | TermShape::Other => return false,
    };
    let wanted = match comprehension.kind {
        TermKind::ArrayComprehension(_) => Kind::Array,
        TermKind::ObjectComprehension(_) => Kind::Object,
        _ => Kind::Set,
    };
    kind != Kind::Set && kind != wanted
}

/// The elements of an array.
pub(super) fn array(shape: TermShape<'_>) -> Option<List<'_>> {
    match shape {
        TermShape::Array(list) => Some(list),
        TermShape::Known(value) => value.as_array().map(List::Values),
        _ => None,
    }
}

/// The pairs of an object.
pub(super) fn object(shape: TermShape<'_>) -> Option<Pairs<'_>> {
    match shape {
        TermShape::Object(pairs, frame) => Some(Pairs::Terms(pairs, frame)),
        TermShape::Known(value) => value.as_object().map(Pairs::Values),
        _ => None,
    }
}
