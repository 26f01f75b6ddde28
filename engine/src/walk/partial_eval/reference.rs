//! Going down values that are not known as a whole.

use solon_syntax::ast::Term;
use solon_syntax::source::Span;

use crate::walk::machine::{Flow, Goal, Next, Outcome, Walk};
use crate::walk::reference::Target;
use crate::walk::term::{T, TermShape};
use crate::walk::unify::{Pairs, array, object};

use super::save::{SavedKind, terms_of};

impl<'e> Walk<'e> {
    /// Unifies two terms if one of them is unknown; `None` when they are to be unified as usual.
    pub(in crate::walk) fn unify_open(
        &mut self,
        goal: Goal<'e>,
        left: T<'e>,
        right: T<'e>,
        next: Next<'_, 'e>,
    ) -> Option<Outcome> {
        let save_left = self.is_saved_whole(left);
        if !save_left && matches!(left.shape(), TermShape::Ref(_)) {
            return None;
        }
        let save_right = self.is_saved_whole(right);
        if !save_right && let TermShape::Ref(reference) = right.shape() {
            return Some(self.reference(goal, reference, left, next));
        }
        if save_left || save_right || self.has_open_keys(left, right) {
            return Some(self.save_equal(goal, left, right, next));
        }
        if let TermShape::Comprehension(..) = left.shape()
            && self.depends(left)
        {
            let left = self.closed(left);
            return Some(self.unify_closed(goal, left, right, next));
        }
        if let TermShape::Comprehension(..) = right.shape()
            && self.depends(right)
        {
            let right = self.closed(right);
            return Some(self.unify_closed(goal, left, right, next));
        }
        if let TermShape::Comprehension(term, inside, frame) = left.shape() {
            return Some(self.left_for_later(
                |walk, next| walk.comprehension(goal, (term, inside, frame), right, next),
                |walk, next| walk.save_equal(goal, left, right, next),
                next,
            ));
        }
        None
    }

    /// Saves that a comprehension is equal to a term, unless it has turned out to be empty.
    fn unify_closed(
        &mut self,
        goal: Goal<'e>,
        left: T<'e>,
        right: T<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let is_open = |term: T<'e>| matches!(term.shape(), TermShape::Comprehension(..));
        if is_open(left) || is_open(right) {
            self.save_closed(goal, left, right, next)
        } else {
            self.unify(goal, left, right, next)
        }
    }

    /// Sets are compared as a whole, so one unknown member leaves them open.
    fn is_saved_whole(&mut self, term: T<'e>) -> bool {
        match term.shape() {
            TermShape::Set(..) => self.holds_unknown(term),
            _ => self.is_unknown(term),
        }
    }

    /// Whether two objects cannot be matched by key yet.
    fn has_open_keys(&mut self, left: T<'e>, right: T<'e>) -> bool {
        let (Some(left), Some(right)) = (object(left.shape()), object(right.shape())) else {
            return false;
        };
        [left, right].into_iter().any(|pairs| match pairs {
            Pairs::Terms(pairs, frame) => pairs
                .iter()
                .any(|(key, _)| self.holds_unknown(T::Term(key, frame))),
            Pairs::Values(_) => false,
        })
    }

    /// Goes down a value that may be unknown in parts.
    pub(in crate::walk) fn descend_open(
        &mut self,
        goal: Goal<'e>,
        value: T<'e>,
        mut target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let mut value = self.apply(value);
        while let Some(step) = target.step() {
            if self.is_unknown(value) {
                return self.descend_unknown(goal, value, target, next);
            }
            if let TermShape::Ref(reference) = value.shape() {
                // what is bound to a reference is looked up first
                let found = self.fresh_ref(goal.frame);
                return self.reference(goal, reference, found, &mut |walk| {
                    walk.descend_open(goal, found, target, next)
                });
            }
            match (self.plug(step), value.shape()) {
                (Some(key), TermShape::Known(_) | TermShape::Array(_)) => {
                    match self.lookup(value, key) {
                        Some(inner) => value = self.apply(inner),
                        None => return Ok(Flow::More),
                    }
                }
                _ => return self.enumerate_open(goal, value, step, target.next(), next),
            }
            target = target.next();
        }
        self.unify(goal, value, target.other, next)
    }

    /// Looks into something unknown under a name of its own.
    fn descend_unknown(
        &mut self,
        goal: Goal<'e>,
        value: T<'e>,
        target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let name = self.fresh_ref(goal.frame);
        self.unify(goal, value, name, &mut |walk| {
            let steps = terms_of(target.reference).into_iter().skip(target.at);
            let terms: Vec<T<'e>> = std::iter::once(name).chain(steps).collect();
            let reference = walk.made_ref(&terms);
            walk.unify(goal, reference, target.other, next)
        })
    }

    fn enumerate_open(
        &mut self,
        goal: Goal<'e>,
        value: T<'e>,
        step: T<'e>,
        rest: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let shape = value.shape();
        let mut may_repeat = false;
        let elements: Vec<(T<'e>, T<'e>)> = match (array(shape), object(shape), shape) {
            (Some(list), ..) => {
                let items = list.numbered();
                items.map(|(at, item)| (T::Known(at), item)).collect()
            }
            (_, Some(Pairs::Terms(pairs, frame)), _) => {
                may_repeat = !pairs.iter().all(|(key, _)| key.is_scalar());
                let pairs = pairs.iter();
                pairs
                    .map(|(key, value)| (T::Term(key, frame), T::Term(value, frame)))
                    .collect()
            }
            (_, Some(Pairs::Values(object)), _) => {
                let pairs = object.iter();
                pairs
                    .map(|(key, value)| (T::Known(key), T::Known(value)))
                    .collect()
            }
            (.., TermShape::Set(items, frame)) => {
                let members = items.iter().map(|item| T::Term(item, frame));
                members.map(|member| (member, member)).collect()
            }
            (.., TermShape::Known(known)) => {
                let members = known.as_set().into_iter().flat_map(|set| set.iter());
                members
                    .map(|member| (T::Known(member), T::Known(member)))
                    .collect()
            }
            _ => Vec::new(),
        };
        self.alternatives(elements.iter().enumerate(), |walk, (at, (key, value))| {
            walk.turn()?;
            walk.unify(goal, *key, step, &mut |walk| {
                if !may_repeat {
                    return walk.descend_open(goal, *value, rest, next);
                }
                // of equal keys the last one counts
                let key = walk.plug(step).map_or(*key, T::Known);
                let later = elements.get(at + 1..).unwrap_or_default();
                walk.unless_among(goal, key, later, &mut |walk| {
                    walk.descend_open(goal, *value, rest, next)
                })
            })
        })
    }

    /// Goes on unless a key is one of those of other members.
    fn unless_among(
        &mut self,
        goal: Goal<'e>,
        key: T<'e>,
        members: &[(T<'e>, T<'e>)],
        next: Next<'_, 'e>,
    ) -> Outcome {
        let known = self.plug(key);
        let mut members = members.iter();
        for (other, _) in members.by_ref() {
            match (known, self.plug(*other)) {
                (Some(key), Some(other)) if key == other => return Ok(Flow::More),
                (Some(_), Some(_)) => {}
                _ => {
                    let unequal = Term::operator("neq", Span::default());
                    let unequal = SavedKind::Call(unequal, vec![*other, key]);
                    return self.deeper(|walk| {
                        walk.save(goal, vec![unequal], &[], &mut |walk| {
                            walk.unless_among(goal, key, members.as_slice(), next)
                        })
                    });
                }
            }
        }
        next(self)
    }
}
