//! Bodies within expressions: negation, `every`, `and`, `or`, comprehensions.

use solon_syntax::ast::{Comprehension, Every, Expr, Term, TermKind};
use solon_syntax::source::Span;

use super::keyed;
use super::machine::{Continuation, Exprs, Goal, SearchFlow, SearchResult, Topdown};
use super::term::{BuiltTerm, FrameId, NO_VALUE, TermRef};
use crate::bug::bug;
use crate::runtime::Halt;
use crate::trace::{Count, Op};
use crate::value::{ObjectBuilder, Put, SetBuilder, ValueRef};

/// Source of the solutions of a comprehension's body.
enum SolutionSource<'e> {
    Searched(Goal<'e>),
    /// The solutions were found earlier; the frame is the environment of the shared variables.
    Cached(keyed::CachedSolutions<'e>, FrameId),
}

impl<'e> Topdown<'e> {
    /// `not`: calls `next` if the expression has no solution.
    pub(super) fn negation(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.open.is_some() && self.goal_depends(goal) {
            return self.open_negation(goal, expr, next);
        }
        let child = self.closure(goal, Exprs::Positive(expr));
        if self.has_solution(child, false)? {
            self.expr_event(Op::Fail, goal);
            return Ok(SearchFlow::More);
        }
        next(self)
    }

    pub(super) fn not_body(
        &mut self,
        goal: Goal<'e>,
        body: &'e [Expr],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let child = self.closure(goal, Exprs::Body(body));
        if self.has_solution(child, false)? {
            return Ok(SearchFlow::More);
        }
        next(self)
    }

    /// Searches a body that depends on no unknown, as if there were none. Partial evaluation would save references to rules that are not
    /// inlined, and a saved expression has no value.
    fn without_unknowns<T>(&mut self, search: impl FnOnce(&mut Self) -> T) -> T {
        let open = self.open.take();
        let output = search(self);
        self.open = open;
        output
    }

    /// Returns `true` if a body that depends on no unknown has a solution. Finds all of them unless `find_one` is set.
    fn has_solution(&mut self, goal: Goal<'e>, find_one: bool) -> Result<bool, Halt> {
        self.without_unknowns(|walk| walk.search_solution(goal, find_one))
    }

    fn search_solution(&mut self, goal: Goal<'e>, find_one: bool) -> Result<bool, Halt> {
        let goal = Goal { find_one, ..goal };
        self.body_event(Op::Enter, goal);
        let mut found = false;
        self.run(goal, &mut |walk| {
            walk.body_event(Op::Exit, goal);
            found = true;
            walk.body_event(Op::Redo, goal);
            Ok(SearchFlow::More)
        })?;
        Ok(found)
    }

    /// Returns `true` if a side of `and` or `or` has a solution.
    fn is_satisfied(&mut self, goal: Goal<'e>, body: &'e [Expr]) -> Result<bool, Halt> {
        let child = self.closure(goal, Exprs::Body(body));
        self.has_solution(child, true)
    }

    pub(super) fn and(
        &mut self,
        goal: Goal<'e>,
        left: &'e [Expr],
        right: &'e [Expr],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.is_satisfied(goal, left)? && self.is_satisfied(goal, right)? {
            next(self)
        } else {
            Ok(SearchFlow::More)
        }
    }

    pub(super) fn or(
        &mut self,
        goal: Goal<'e>,
        left: &'e [Expr],
        right: &'e [Expr],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.is_satisfied(goal, left)? || self.is_satisfied(goal, right)? {
            next(self)
        } else {
            Ok(SearchFlow::More)
        }
    }

    /// `every`: calls `next` if the body has a solution for each element.
    pub(super) fn every(
        &mut self,
        goal: Goal<'e>,
        every: &'e Every,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let domain = self.plug(TermRef::Term(&every.domain, goal.frame));
        let walkable = domain.is_some_and(|domain| {
            domain.as_array().is_some() || domain.as_object().is_some() || domain.as_set().is_some()
        });
        if !walkable {
            if domain.is_some() {
                self.expr_event(Op::Fail, goal);
            }
            return Ok(SearchFlow::More);
        }
        let elements = self.closure(goal, Exprs::Domain(every, expr.span));
        self.own_event(Op::Enter, elements, goal);
        let mut all = true;
        self.run(elements, &mut |walk| {
            if !all {
                return Ok(SearchFlow::More);
            }
            let body = walk.closure(elements, Exprs::Body(&every.body));
            all = walk.has_solution(body, true)?;
            walk.own_event(Op::Redo, elements, goal);
            Ok(SearchFlow::More)
        })?;
        if !all {
            self.own_event(Op::Fail, elements, goal);
            return Ok(SearchFlow::More);
        }
        let flow = next(self)?;
        self.own_event(Op::Exit, elements, goal);
        Ok(flow)
    }

    /// Enumerates the domain of an `every`, as `domain[key] = value`.
    pub(super) fn domain(
        &mut self,
        goal: Goal<'e>,
        every: &'e Every,
        _span: Span,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let key = match &every.key {
            Some(key) => TermRef::Term(key, goal.frame),
            None => TermRef::Built(self.variable("$_key", goal.frame)),
        };
        let terms = [TermRef::Term(&every.domain, goal.frame), key];
        let bump = self.call.arena.bump();
        let reference = TermRef::Built(bump.alloc(BuiltTerm::Ref(bump.alloc_slice_copy(&terms))));
        self.expr_event(Op::Eval, goal);
        let mut defined = false;
        let behind = Goal { at: 1, ..goal };
        let value = TermRef::Term(&every.value, goal.frame);
        let flow = self.unify(goal, reference, value, &mut |walk| {
            defined = true;
            let flow = walk.run(behind, next);
            walk.expr_event(Op::Redo, goal);
            flow
        })?;
        if !defined {
            self.expr_event(Op::Fail, goal);
        }
        Ok(flow)
    }

    /// Unifies the collection of a comprehension with a term.
    pub(super) fn comprehension(
        &mut self,
        goal: Goal<'e>,
        (term, inside, frame): (&'e Term, &'e Comprehension, FrameId),
        other: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let solutions = match self.cached_solutions(goal, term, inside, frame)? {
            Some(known) => SolutionSource::Cached(known, frame),
            None => SolutionSource::Searched(Goal {
                frame,
                ..self.closure(goal, Exprs::Body(&inside.body))
            }),
        };
        self.tally(Count::ComprehensionCacheSkip);
        let collection =
            self.without_unknowns(|walk| walk.collect(&solutions, frame, term, inside))?;
        self.unify(goal, TermRef::Value(collection), other, next)
    }

    fn collect(
        &mut self,
        solutions: &SolutionSource<'e>,
        frame: FrameId,
        term: &'e Term,
        inside: &'e Comprehension,
    ) -> Result<ValueRef<'e>, Halt> {
        let arena = self.call.arena;
        let head = TermRef::Term(&inside.head, frame);
        Ok(match &term.kind {
            TermKind::ArrayComprehension(_) => {
                let mut items = arena.list();
                self.each_of(solutions, &mut |walk| {
                    items.push(walk.plug(head).unwrap_or_else(|| bug!(NO_VALUE)));
                    Ok(())
                })?;
                arena.array_of(items.into_bump_slice())
            }
            TermKind::ObjectComprehension(_) => {
                let mut object = ObjectBuilder::new(arena);
                self.each_of(solutions, &mut |walk| {
                    let Some(key) = &inside.key else {
                        bug!("an object comprehension without a key");
                    };
                    let found = walk
                        .plug(TermRef::Term(key, frame))
                        .unwrap_or_else(|| bug!(NO_VALUE));
                    let value = walk.plug(head).unwrap_or_else(|| bug!(NO_VALUE));
                    if object.put(found, value) == Put::Conflict {
                        return Err(Halt::duplicate_key(walk.program, key.span));
                    }
                    Ok(())
                })?;
                object.finish()
            }
            _ => {
                let mut set = SetBuilder::new(arena);
                self.each_of(solutions, &mut |walk| {
                    set.insert(walk.plug(head).unwrap_or_else(|| bug!(NO_VALUE)));
                    Ok(())
                })?;
                set.finish()
            }
        })
    }

    /// Calls `found` for each solution of a comprehension's body.
    fn each_of(
        &mut self,
        solutions: &SolutionSource<'e>,
        found: &mut dyn FnMut(&mut Self) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        match solutions {
            SolutionSource::Searched(child) => self.each_solution(*child, found),
            SolutionSource::Cached(known, frame) => self.each_cached(*frame, known, found),
        }
    }

    pub(super) fn each_solution(
        &mut self,
        child: Goal<'e>,
        found: &mut dyn FnMut(&mut Self) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        self.body_event(Op::Enter, child);
        self.run(child, &mut |walk| {
            walk.body_event(Op::Exit, child);
            found(walk)?;
            walk.body_event(Op::Redo, child);
            Ok(SearchFlow::More)
        })?;
        Ok(())
    }
}
