//! `every` with unknowns: over a known domain, its body is searched once for each element.

use solon_syntax::ast::visit::WalkMut;
use solon_syntax::ast::{Comprehension, Every, Expr, Name, Term, TermKind};

use super::residual::Renaming;
use crate::bug::bug;
use crate::limits;
use crate::topdown::machine::{Continuation, Exprs, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::term::{FrameId, TermRef};
use crate::value::{RefRepr, ValueRef};

impl<'e> Topdown<'e> {
    /// Calls `next` if the body of an `every` holds for each element, or saves the expression.
    pub(in crate::topdown) fn open_every(
        &mut self,
        goal: Goal<'e>,
        every: &'e Every,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(domain) = self.plug(TermRef::Term(&every.domain, goal.frame)) else {
            return self.save_whole(goal, expr, next);
        };
        let Some(elements) = elements(domain) else {
            return Ok(SearchFlow::More);
        };
        if expr.with.is_empty() && elements.len() <= limits::UNROLLED {
            self.each_element(goal, every, &elements, 0, next)
        } else {
            self.save_whole(goal, expr, next)
        }
    }

    fn each_element(
        &mut self,
        goal: Goal<'e>,
        every: &'e Every,
        elements: &[(ValueRef<'e>, ValueRef<'e>)],
        at: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some((key, value)) = elements.get(at) else {
            return next(self);
        };
        let Some(copy) = self.copied(every, at + 1, goal.frame) else {
            return Ok(SearchFlow::More);
        };
        let child = self.closure(goal, Exprs::Body(&copy.body));
        // without a key variable, the key equals itself
        let of_key = match &copy.key {
            Some(term) => TermRef::Term(term, goal.frame),
            None => TermRef::Value(*key),
        };
        let of_value = TermRef::Term(&copy.head, goal.frame);
        self.unify(goal, of_key, TermRef::Value(*key), &mut |walk| {
            walk.unify(goal, of_value, TermRef::Value(*value), &mut |walk| {
                walk.run(child, &mut |walk| {
                    walk.each_element(goal, every, elements, at + 1, next)
                })
            })
        })
    }

    /// Returns the variables and the body of an `every`, renamed for one element.
    fn copied(
        &mut self,
        every: &'e Every,
        number: usize,
        frame: FrameId,
    ) -> Option<&'e Comprehension> {
        let mut inside = Comprehension {
            key: every.key.clone(),
            head: every.value.clone(),
            body: every.body.clone(),
        };
        inside.walk_mut(&mut Renaming(|name: &mut Name| {
            if !self.is_outer(name, frame) {
                *name = format!("{name}__e{number}").into();
            }
        }));
        let kind = TermKind::ArrayComprehension(Box::new(inside));
        let kept = self.opened()?.terms.keep(Term::new(kind, every.span))?;
        match &kept.kind {
            TermKind::ArrayComprehension(inside) => Some(inside),
            _ => bug!("a term is kept as another one"),
        }
    }

    /// Returns `true` if a variable has a value, or is known to get one, outside of a closure.
    fn is_outer(&self, name: &str, frame: FrameId) -> bool {
        self.binding(name, frame).is_some() || self.is_unknown_var(name, frame)
    }
}

/// Returns the elements of a collection with their keys.
fn elements(domain: ValueRef<'_>) -> Option<Vec<(ValueRef<'_>, ValueRef<'_>)>> {
    if let Some(items) = domain.as_array() {
        return Some(
            (0_i64..)
                .map(|it| ValueRef(RefRepr::Int(it)))
                .zip(items.iter())
                .collect(),
        );
    }
    if let Some(object) = domain.as_object() {
        return Some(object.iter().collect());
    }
    let members = domain.as_set()?;
    Some(members.iter().map(|member| (member, member)).collect())
}
