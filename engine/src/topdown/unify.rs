//! Unification of terms, which binds variables on either side.

use solon_syntax::ast::{Term, TermKind};

use super::bindings::Binding;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::term::{FrameId, ResolvedTerm, TermList, TermRef};
use crate::bug::bug;
use crate::limits;
use crate::runtime::Halt;
use crate::value::{Kind, ObjectView, ValueRef};

#[derive(Clone, Copy)]
pub(super) enum ObjectPairs<'e> {
    Terms(&'e [(Term, Term)], FrameId),
    Values(ObjectView<'e>),
}

impl<'e> Topdown<'e> {
    /// Calls `next` for each way to unify two terms.
    pub(super) fn unify(
        &mut self,
        goal: Goal<'e>,
        left: TermRef<'e>,
        right: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (left, right) = (self.apply(left), self.apply(right));
        self.unify_event(goal, left, right);
        if self.open.is_some()
            && let Some(outcome) = self.unify_open(goal, left, right, next)
        {
            return outcome;
        }
        match (left.resolved(), right.resolved()) {
            (ResolvedTerm::Ref(reference), _) => self.reference(goal, reference, right, next),
            (_, ResolvedTerm::Ref(reference)) => self.reference(goal, reference, left, next),
            (ResolvedTerm::Comprehension(term, inside, frame), _) => {
                self.comprehension(goal, (term, inside, frame), right, next)
            }
            // a term that cannot equal the comprehension fails before the comprehension is searched
            (left, ResolvedTerm::Comprehension(term, ..)) if cannot_be(left, term) => {
                Ok(SearchFlow::More)
            }
            (_, ResolvedTerm::Comprehension(term, inside, frame)) => {
                self.comprehension(goal, (term, inside, frame), left, next)
            }
            (ResolvedTerm::Var(name, frame), ResolvedTerm::Var(other, other_frame))
                if name == other && frame == other_frame =>
            {
                next(self)
            }
            (ResolvedTerm::Var(name, frame), _) => {
                let (term, span) = (self.settled(right), left.span());
                self.with_binding((name, frame), Binding { term, span }, next)
            }
            (_, ResolvedTerm::Var(name, frame)) => {
                let (term, span) = (self.settled(left), right.span());
                self.with_binding((name, frame), Binding { term, span }, next)
            }
            (ResolvedTerm::Value(left), ResolvedTerm::Value(right)) => {
                self.equal(goal, left, right, next)
            }
            (left, right) => self.compounds(goal, left, right, next),
        }
    }

    /// Returns a fully known collection as a value, so that shared nodes are traversed once. Observers receive
    /// collections as written.
    fn settled(&mut self, term: TermRef<'e>) -> TermRef<'e> {
        match term.resolved() {
            ResolvedTerm::Array(_) | ResolvedTerm::Object(..) | ResolvedTerm::Set(..)
                if self.observer.is_none() =>
            {
                self.plug(term).map_or(term, TermRef::Value)
            }
            _ => term,
        }
    }

    fn equal(
        &mut self,
        goal: Goal<'e>,
        left: ValueRef<'e>,
        right: ValueRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.are_equal(goal, left, right)? {
            return next(self);
        }
        Ok(SearchFlow::More)
    }

    /// Returns `true` if two values are equal. With an observer, arrays and objects are traversed with events.
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
        self.count_iteration()?;
        self.unify_event(goal, TermRef::Value(one), TermRef::Value(other));
        stacker::maybe_grow(limits::VALUE_STACK, 2 * limits::VALUE_STACK, || {
            self.are_equal(goal, one, other)
        })
    }

    fn compounds(
        &mut self,
        goal: Goal<'e>,
        left: ResolvedTerm<'e>,
        right: ResolvedTerm<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if let (Some(left), Some(right)) = (array(left), array(right)) {
            if left.len() != right.len() {
                return Ok(SearchFlow::More);
            }
            return self.unify_lists(goal, left, right, 0, next);
        }
        if let (Some(left), Some(right)) = (object(left), object(right)) {
            return self.unify_objects(goal, left, right, next);
        }
        if matches!(left, ResolvedTerm::Other) || matches!(right, ResolvedTerm::Other) {
            bug!("a call within a term");
        }
        match (self.plug_set(left), self.plug_set(right)) {
            (Some(left), Some(right)) if left == right => next(self),
            _ => Ok(SearchFlow::More),
        }
    }

    fn plug_set(&mut self, set: ResolvedTerm<'e>) -> Option<ValueRef<'e>> {
        match set {
            ResolvedTerm::Value(value) => Some(value),
            ResolvedTerm::Set(items, frame) => {
                let items = self.plug_all(TermList::Terms(items, frame))?;
                Some(self.call.arena.set_from(items))
            }
            _ => None,
        }
    }

    /// Unifies the elements of two lists from an index on.
    pub(super) fn unify_lists(
        &mut self,
        goal: Goal<'e>,
        left: TermList<'e>,
        right: TermList<'e>,
        at: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let mut at = at;
        while let (Some(one), Some(other)) = (left.get(at), right.get(at)) {
            let (TermRef::Value(one), TermRef::Value(other)) = (self.apply(one), self.apply(other))
            else {
                return self.deeper(|walk| {
                    walk.unify(goal, one, other, &mut |walk| {
                        walk.unify_lists(goal, left, right, at + 1, next)
                    })
                });
            };
            if !self.elements_are_equal(goal, one, other)? {
                return Ok(SearchFlow::More);
            }
            at += 1;
        }
        next(self)
    }

    fn unify_objects(
        &mut self,
        goal: Goal<'e>,
        left: ObjectPairs<'e>,
        right: ObjectPairs<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (Some(left), Some(right)) = (self.by_key(left), self.by_key(right)) else {
            return Ok(SearchFlow::More);
        };
        if left.len() != right.len() {
            return Ok(SearchFlow::More);
        }
        self.unify_pairs(goal, left, right, next)
    }

    fn unify_pairs(
        &mut self,
        goal: Goal<'e>,
        left: &'e [(ValueRef<'e>, TermRef<'e>)],
        right: &'e [(ValueRef<'e>, TermRef<'e>)],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(((key, value), rest)) = left.split_first() else {
            return next(self);
        };
        let found = right.binary_search_by(|(other, _)| other.cmp(key));
        let Some((_, other)) = found.ok().and_then(|at| right.get(at)) else {
            return Ok(SearchFlow::More);
        };
        self.deeper(|walk| {
            walk.unify(goal, *value, *other, &mut |walk| {
                walk.unify_pairs(goal, rest, right, next)
            })
        })
    }

    /// Returns the pairs of an object ordered by key. The keys must be known.
    fn by_key(&mut self, pairs: ObjectPairs<'e>) -> Option<&'e [(ValueRef<'e>, TermRef<'e>)]> {
        let mut known: Vec<(ValueRef<'e>, TermRef<'e>)> = Vec::new();
        match pairs {
            ObjectPairs::Terms(pairs, frame) => {
                for (key, value) in pairs {
                    known.push((
                        self.plug(TermRef::Term(key, frame))?,
                        TermRef::Term(value, frame),
                    ));
                }
                known.sort_by_key(|(key, _)| *key);
                // of equal keys the last value wins
                known.reverse();
                known.dedup_by(|later, earlier| later.0 == earlier.0);
                known.reverse();
            }
            ObjectPairs::Values(object) => {
                known.extend(
                    object
                        .iter()
                        .map(|(key, value)| (key, TermRef::Value(value))),
                );
            }
        }
        Some(self.call.arena.bump().alloc_slice_copy(&known))
    }
}

/// Returns `true` if a term cannot equal the value of a comprehension. As in OPA, sets are compared with any
/// comprehension.
fn cannot_be(shape: ResolvedTerm<'_>, comprehension: &Term) -> bool {
    let kind = match shape {
        ResolvedTerm::Value(value) => value.kind(),
        ResolvedTerm::Array(_) => Kind::Array,
        ResolvedTerm::Object(..) => Kind::Object,
        ResolvedTerm::Set(..) => Kind::Set,
        ResolvedTerm::Var(..)
        | ResolvedTerm::Ref(_)
        | ResolvedTerm::Comprehension(..)
        | ResolvedTerm::Other => return false,
    };
    let wanted = match comprehension.kind {
        TermKind::ArrayComprehension(_) => Kind::Array,
        TermKind::ObjectComprehension(_) => Kind::Object,
        _ => Kind::Set,
    };
    kind != Kind::Set && kind != wanted
}

/// Returns the elements of an array, or `None` for other terms.
pub(super) fn array(shape: ResolvedTerm<'_>) -> Option<TermList<'_>> {
    match shape {
        ResolvedTerm::Array(list) => Some(list),
        ResolvedTerm::Value(value) => value.as_array().map(TermList::Values),
        _ => None,
    }
}

pub(super) fn object(shape: ResolvedTerm<'_>) -> Option<ObjectPairs<'_>> {
    match shape {
        ResolvedTerm::Object(pairs, frame) => Some(ObjectPairs::Terms(pairs, frame)),
        ResolvedTerm::Value(value) => value.as_object().map(ObjectPairs::Values),
        _ => None,
    }
}
