//! References into values.

use super::machine::{Flow, Goal, Next, Outcome, Walk};
use super::term::{List, T, TermShape};
use crate::trace::Count;
use crate::value::ValueRef;

/// What is left of a reference, and what it must be equal to.
#[derive(Clone, Copy)]
pub(super) struct Target<'e> {
    /// The whole reference.
    pub reference: List<'e>,
    /// Position of its next step.
    pub at: usize,
    /// What it must be equal to.
    pub other: T<'e>,
}

impl<'e> Target<'e> {
    /// The next step.
    pub fn step(self) -> Option<T<'e>> {
        self.reference.get(self.at)
    }

    /// Behind the next step.
    pub fn next(self) -> Self {
        Self {
            at: self.at + 1,
            ..self
        }
    }
}

impl<'e> Walk<'e> {
    /// Goes on for each value of a reference that can be made equal to a term.
    pub(super) fn reference(
        &mut self,
        goal: Goal<'e>,
        reference: List<'e>,
        other: T<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let target = Target {
            reference,
            at: 1,
            other,
        };
        let head = match reference.document() {
            Some("data") => return self.documents(goal, target, next),
            Some(_) => self.scope().input.map(T::Known),
            None => {
                let head = reference.get(0).map(|head| self.apply(head));
                let open = self.open.is_some();
                head.filter(|head| !matches!(head.shape(), TermShape::Var(..)) || open)
            }
        };
        match head {
            Some(head) => self.descend(goal, head, target, next),
            None => Ok(Flow::More),
        }
    }

    /// Goes down a value.
    pub(super) fn descend(
        &mut self,
        goal: Goal<'e>,
        mut value: T<'e>,
        mut target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        if self.open.is_some() {
            return self.descend_open(goal, value, target, next);
        }
        while let Some(step) = target.step() {
            let Some(key) = self.plug(step) else {
                return self.enumerate(goal, value, step, target.next(), next);
            };
            match self.lookup(value, key) {
                Some(inner) => value = inner,
                None => return Ok(Flow::More),
            }
            target = target.next();
        }
        self.unify(goal, value, target.other, next)
    }

    /// Goes down a document that is known already; there is nothing below none.
    pub(super) fn descend_found(
        &mut self,
        goal: Goal<'e>,
        found: Option<ValueRef<'e>>,
        target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        self.tally(Count::VirtualCacheHit);
        match found {
            Some(value) => self.descend(goal, T::Known(value), target, next),
            None => Ok(Flow::More),
        }
    }

    /// What lies below a term.
    pub(super) fn lookup(&mut self, value: T<'e>, key: ValueRef<'e>) -> Option<T<'e>> {
        let value = self.apply(value);
        match value.shape() {
            TermShape::Known(value) => value.lookup(key).map(T::Known),
            TermShape::Array(items) => items.get(key.as_number()?.as_index()?),
            _ => self.plug(value)?.lookup(key).map(T::Known),
        }
    }

    /// Goes on for each element of a collection whose key can be made equal to a step.
    fn enumerate(
        &mut self,
        goal: Goal<'e>,
        value: T<'e>,
        step: T<'e>,
        rest: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let value = self.apply(value);
        if let TermShape::Array(items) = value.shape() {
            return self.each(goal, items.numbered(), step, rest, next);
        }
        let Some(value) = self.plug(value) else {
            return Ok(Flow::More);
        };
        if let Some(items) = value.as_array() {
            let elements = List::Values(items).numbered();
            return self.each(goal, elements, step, rest, next);
        }
        if let Some(object) = value.as_object() {
            let elements = object.iter().map(|(key, value)| (key, T::Known(value)));
            return self.each(goal, elements, step, rest, next);
        }
        let Some(set) = value.as_set() else {
            return Ok(Flow::More);
        };
        // a member that is known need not be looked for
        if rest.step().is_none()
            && let Some(member) = self.plug(rest.other)
        {
            let found = set.contains(member).then_some((member, T::Known(member)));
            return self.each(goal, found.into_iter(), step, rest, next);
        }
        let elements = set.iter().map(|member| (member, T::Known(member)));
        self.each(goal, elements, step, rest, next)
    }

    fn each(
        &mut self,
        goal: Goal<'e>,
        elements: impl Iterator<Item = (ValueRef<'e>, T<'e>)>,
        step: T<'e>,
        rest: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        self.alternatives(elements, |walk, (key, value)| {
            walk.turn()?;
            walk.unify(goal, T::Known(key), step, &mut |walk| {
                walk.descend(goal, value, rest, next)
            })
        })
    }
}
