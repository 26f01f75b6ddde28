//! References into values: one step at a time, enumerating keys for unbound steps.

use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::term::{ResolvedTerm, TermList, TermRef};
use crate::trace::Count;
use crate::value::ValueRef;

/// The remaining steps of a reference, and the term to unify its value with.
#[derive(Clone, Copy)]
pub(super) struct PendingRef<'e> {
    pub reference: TermList<'e>,
    /// Index of the next step.
    pub at: usize,
    pub other: TermRef<'e>,
}

impl<'e> PendingRef<'e> {
    /// Returns the next step, or `None` at the end.
    pub fn step(self) -> Option<TermRef<'e>> {
        self.reference.get(self.at)
    }

    /// Returns the reference after the next step.
    pub fn next(self) -> Self {
        Self {
            at: self.at + 1,
            ..self
        }
    }
}

impl<'e> Topdown<'e> {
    /// Calls `next` for each value of a reference that unifies with a term.
    pub(super) fn reference(
        &mut self,
        goal: Goal<'e>,
        reference: TermList<'e>,
        other: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let target = PendingRef {
            reference,
            at: 1,
            other,
        };
        let head = match reference.document() {
            Some("data") => return self.documents(goal, target, next),
            Some(_) => self.scope().input.map(TermRef::Value),
            None => {
                let head = reference.get(0).map(|head| self.apply(head));
                let open = self.open.is_some();
                head.filter(|head| !matches!(head.resolved(), ResolvedTerm::Var(..)) || open)
            }
        };
        match head {
            Some(head) => self.descend(goal, head, target, next),
            None => Ok(SearchFlow::More),
        }
    }

    /// Descends into a value. A step that is unbound enumerates the keys.
    pub(super) fn descend(
        &mut self,
        goal: Goal<'e>,
        mut value: TermRef<'e>,
        mut target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.open.is_some() {
            return self.descend_open(goal, value, target, next);
        }
        while let Some(step) = target.step() {
            let Some(key) = self.plug(step) else {
                return self.enumerate(goal, value, step, target.next(), next);
            };
            match self.lookup(value, key) {
                Some(inner) => value = inner,
                None => return Ok(SearchFlow::More),
            }
            target = target.next();
        }
        self.unify(goal, value, target.other, next)
    }

    /// Descends into a document that is already evaluated. Calls nothing if it is undefined.
    pub(super) fn descend_value(
        &mut self,
        goal: Goal<'e>,
        found: Option<ValueRef<'e>>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        self.tally(Count::VirtualCacheHit);
        match found {
            Some(value) => self.descend(goal, TermRef::Value(value), target, next),
            None => Ok(SearchFlow::More),
        }
    }

    /// Returns the child of a term under a key.
    pub(super) fn lookup(&mut self, value: TermRef<'e>, key: ValueRef<'e>) -> Option<TermRef<'e>> {
        let value = self.apply(value);
        match value.resolved() {
            ResolvedTerm::Value(value) => value.lookup(key).map(TermRef::Value),
            ResolvedTerm::Array(items) => items.get(key.as_number()?.as_index()?),
            _ => self.plug(value)?.lookup(key).map(TermRef::Value),
        }
    }

    /// Calls `next` for each element of a collection whose key unifies with a step.
    fn enumerate(
        &mut self,
        goal: Goal<'e>,
        value: TermRef<'e>,
        step: TermRef<'e>,
        rest: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let value = self.apply(value);
        if let ResolvedTerm::Array(items) = value.resolved() {
            return self.each(goal, items.numbered(), step, rest, next);
        }
        let Some(value) = self.plug(value) else {
            return Ok(SearchFlow::More);
        };
        if let Some(items) = value.as_array() {
            let elements = TermList::Values(items).numbered();
            return self.each(goal, elements, step, rest, next);
        }
        if let Some(object) = value.as_object() {
            let elements = object
                .iter()
                .map(|(key, value)| (key, TermRef::Value(value)));
            return self.each(goal, elements, step, rest, next);
        }
        let Some(set) = value.as_set() else {
            return Ok(SearchFlow::More);
        };
        // a known member is checked by lookup instead of enumeration
        if rest.step().is_none()
            && let Some(member) = self.plug(rest.other)
        {
            let found = set
                .contains(member)
                .then_some((member, TermRef::Value(member)));
            return self.each(goal, found.into_iter(), step, rest, next);
        }
        let elements = set.iter().map(|member| (member, TermRef::Value(member)));
        self.each(goal, elements, step, rest, next)
    }

    fn each(
        &mut self,
        goal: Goal<'e>,
        elements: impl Iterator<Item = (ValueRef<'e>, TermRef<'e>)>,
        step: TermRef<'e>,
        rest: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        self.alternatives(elements, |walk, (key, value)| {
            walk.count_iteration()?;
            walk.unify(goal, TermRef::Value(key), step, &mut |walk| {
                walk.descend(goal, value, rest, next)
            })
        })
    }
}
