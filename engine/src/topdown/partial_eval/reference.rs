//! Descent into values that are not fully known.

use solon_syntax::ast::Term;
use solon_syntax::source::Span;

use crate::topdown::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::reference::PendingRef;
use crate::topdown::term::{ResolvedTerm, TermRef};
use crate::topdown::unify::{ObjectPairs, array, object};

use super::save::{SavedKind, terms_of};

impl<'e> Topdown<'e> {
    /// Unifies two terms if one of them is unknown; returns `None` if ordinary unification applies.
    pub(in crate::topdown) fn unify_open(
        &mut self,
        goal: Goal<'e>,
        left: TermRef<'e>,
        right: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> Option<SearchResult> {
        let save_left = self.is_saved_whole(left);
        if !save_left && matches!(left.resolved(), ResolvedTerm::Ref(_)) {
            return None;
        }
        let save_right = self.is_saved_whole(right);
        if !save_right && let ResolvedTerm::Ref(reference) = right.resolved() {
            return Some(self.reference(goal, reference, left, next));
        }
        if save_left || save_right || self.has_open_keys(left, right) {
            return Some(self.save_equal(goal, left, right, next));
        }
        if let ResolvedTerm::Comprehension(..) = left.resolved()
            && self.depends(left)
        {
            let left = self.closed(left);
            return Some(self.unify_closed(goal, left, right, next));
        }
        if let ResolvedTerm::Comprehension(..) = right.resolved()
            && self.depends(right)
        {
            let right = self.closed(right);
            return Some(self.unify_closed(goal, left, right, next));
        }
        if let ResolvedTerm::Comprehension(term, inside, frame) = left.resolved() {
            return Some(self.defer_conflict(
                |walk, next| walk.comprehension(goal, (term, inside, frame), right, next),
                |walk, next| walk.save_equal(goal, left, right, next),
                next,
            ));
        }
        None
    }

    /// Saves that a comprehension equals a term, unless it turned out to be empty.
    fn unify_closed(
        &mut self,
        goal: Goal<'e>,
        left: TermRef<'e>,
        right: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let is_open =
            |term: TermRef<'e>| matches!(term.resolved(), ResolvedTerm::Comprehension(..));
        if is_open(left) || is_open(right) {
            self.save_closed(goal, left, right, next)
        } else {
            self.unify(goal, left, right, next)
        }
    }

    /// Returns `true` for a set with an unknown member: sets are compared as a whole, so one unknown member leaves the
    /// comparison unknown.
    fn is_saved_whole(&mut self, term: TermRef<'e>) -> bool {
        match term.resolved() {
            ResolvedTerm::Set(..) => self.contains_unknown(term),
            _ => self.is_unknown(term),
        }
    }

    /// Returns `true` if two objects cannot be matched by key yet.
    fn has_open_keys(&mut self, left: TermRef<'e>, right: TermRef<'e>) -> bool {
        let (Some(left), Some(right)) = (object(left.resolved()), object(right.resolved())) else {
            return false;
        };
        [left, right].into_iter().any(|pairs| match pairs {
            ObjectPairs::Terms(pairs, frame) => pairs
                .iter()
                .any(|(key, _)| self.contains_unknown(TermRef::Term(key, frame))),
            ObjectPairs::Values(_) => false,
        })
    }

    /// Descends into a value that may be partly unknown.
    pub(in crate::topdown) fn descend_open(
        &mut self,
        goal: Goal<'e>,
        value: TermRef<'e>,
        mut target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let mut value = self.apply(value);
        while let Some(step) = target.step() {
            if self.is_unknown(value) {
                return self.descend_unknown(goal, value, target, next);
            }
            if let ResolvedTerm::Ref(reference) = value.resolved() {
                // the value of a variable bound to a reference is looked up first
                let found = self.fresh_ref(goal.frame);
                return self.reference(goal, reference, found, &mut |walk| {
                    walk.descend_open(goal, found, target, next)
                });
            }
            match (self.plug(step), value.resolved()) {
                (Some(key), ResolvedTerm::Value(_) | ResolvedTerm::Array(_)) => {
                    match self.lookup(value, key) {
                        Some(inner) => value = self.apply(inner),
                        None => return Ok(SearchFlow::More),
                    }
                }
                _ => return self.enumerate_open(goal, value, step, target.next(), next),
            }
            target = target.next();
        }
        self.unify(goal, value, target.other, next)
    }

    /// Descends into something unknown, under a fresh variable.
    fn descend_unknown(
        &mut self,
        goal: Goal<'e>,
        value: TermRef<'e>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let name = self.fresh_ref(goal.frame);
        self.unify(goal, value, name, &mut |walk| {
            let steps = terms_of(target.reference).into_iter().skip(target.at);
            let terms: Vec<TermRef<'e>> = std::iter::once(name).chain(steps).collect();
            let reference = walk.new_ref(&terms);
            walk.unify(goal, reference, target.other, next)
        })
    }

    fn enumerate_open(
        &mut self,
        goal: Goal<'e>,
        value: TermRef<'e>,
        step: TermRef<'e>,
        rest: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let shape = value.resolved();
        let mut may_repeat = false;
        let elements: Vec<(TermRef<'e>, TermRef<'e>)> = match (array(shape), object(shape), shape) {
            (Some(list), ..) => {
                let items = list.numbered();
                items.map(|(at, item)| (TermRef::Value(at), item)).collect()
            }
            (_, Some(ObjectPairs::Terms(pairs, frame)), _) => {
                may_repeat = !pairs.iter().all(|(key, _)| key.is_scalar());
                let pairs = pairs.iter();
                pairs
                    .map(|(key, value)| (TermRef::Term(key, frame), TermRef::Term(value, frame)))
                    .collect()
            }
            (_, Some(ObjectPairs::Values(object)), _) => {
                let pairs = object.iter();
                pairs
                    .map(|(key, value)| (TermRef::Value(key), TermRef::Value(value)))
                    .collect()
            }
            (.., ResolvedTerm::Set(items, frame)) => {
                let members = items.iter().map(|item| TermRef::Term(item, frame));
                members.map(|member| (member, member)).collect()
            }
            (.., ResolvedTerm::Value(known)) => {
                let members = known.as_set().into_iter().flat_map(|set| set.iter());
                members
                    .map(|member| (TermRef::Value(member), TermRef::Value(member)))
                    .collect()
            }
            _ => Vec::new(),
        };
        self.alternatives(elements.iter().enumerate(), |walk, (at, (key, value))| {
            walk.count_iteration()?;
            walk.unify(goal, *key, step, &mut |walk| {
                if !may_repeat {
                    return walk.descend_open(goal, *value, rest, next);
                }
                // of equal keys the last one wins
                let key = walk.plug(step).map_or(*key, TermRef::Value);
                let later = elements.get(at + 1..).unwrap_or_default();
                walk.unless_among(goal, key, later, &mut |walk| {
                    walk.descend_open(goal, *value, rest, next)
                })
            })
        })
    }

    /// Calls `next` unless a key is one of the keys of other members. For unknown keys, the inequality is saved.
    fn unless_among(
        &mut self,
        goal: Goal<'e>,
        key: TermRef<'e>,
        members: &[(TermRef<'e>, TermRef<'e>)],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let known = self.plug(key);
        let mut members = members.iter();
        for (other, _) in members.by_ref() {
            match (known, self.plug(*other)) {
                (Some(key), Some(other)) if key == other => return Ok(SearchFlow::More),
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
