//! Saving expressions for the residual.

use std::rc::Rc;

use solon_syntax::ast::{Expr, Term, VarScan, With};
use solon_syntax::source::Span;

use crate::limits;
use crate::runtime::{EvalError, Halt};
use crate::topdown::documents::DATA;
use crate::topdown::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::reference::PendingRef;
use crate::topdown::scope::Mocked;
use crate::topdown::term::{BuiltTerm, FrameId, ResolvedTerm, TermList, TermRef, is_document};
use crate::value::ValueRef;

/// An expression that was not evaluated. Its terms are resolved when the solution is complete.
pub(in crate::topdown) struct Saved<'e> {
    pub kind: SavedKind<'e>,
    /// Its modifiers and their environment.
    pub with: (&'e [With], FrameId),
    /// Replaced functions in the scope of the expression.
    pub mocks: Option<Rc<Vec<Mocked<'e>>>>,
    pub span: Span,
}

pub(in crate::topdown) enum SavedKind<'e> {
    Equal(TermRef<'e>, TermRef<'e>),
    Term(TermRef<'e>),
    Call(Term, Vec<TermRef<'e>>),
    /// A complete expression without modifiers.
    Done(Expr),
}

impl<'e> Topdown<'e> {
    /// Continues with an expression saved and the variables that it binds unknown.
    pub(super) fn save(
        &mut self,
        goal: Goal<'e>,
        kinds: Vec<SavedKind<'e>>,
        unknown: &[TermRef<'e>],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        self.count_iteration()?;
        let mut vars = Vec::new();
        for term in unknown {
            self.open_vars(*term, &mut vars);
        }
        let expr = goal.expr();
        let with = match goal.exprs {
            crate::topdown::machine::Exprs::Positive(_) => &[],
            _ => expr.map_or(&[][..], |expr| &expr.with),
        };
        let span = expr.map_or(Span::default(), |expr| expr.span);
        self.save_event(goal, &kinds, with);
        let mocks = self.scope().mocks.clone();
        let saved = kinds.into_iter().map(|kind| Saved {
            kind,
            with: (with, goal.frame),
            mocks: mocks.clone(),
            span,
        });
        let Some(open) = self.opened_mut() else {
            return Ok(SearchFlow::More);
        };
        let known = open.vars.len();
        for var in vars {
            open.vars.push(var);
        }
        let Some(query) = self.saved_mut() else {
            return Ok(SearchFlow::More);
        };
        let before = query.len();
        query.extend(saved);
        if query.len() > limits::RESIDUAL_EXPRESSIONS {
            let error = EvalError::too_open(limits::RESIDUAL_EXPRESSIONS, "expressions");
            return Err(Halt::new(error));
        }
        let outcome = next(self);
        if let Some(open) = self.opened_mut() {
            open.vars.truncate(known);
        }
        if let Some(query) = self.saved_mut() {
            query.truncate(before);
        }
        outcome
    }

    /// Saves that two terms must be equal, and continues as if they were.
    pub(in crate::topdown) fn save_equal(
        &mut self,
        goal: Goal<'e>,
        left: TermRef<'e>,
        right: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (left, right) = (self.closed(left), self.closed(right));
        self.save_closed(goal, left, right, next)
    }

    /// Saves an equality with comprehensions that already contain the bindings they need.
    pub(super) fn save_closed(
        &mut self,
        goal: Goal<'e>,
        left: TermRef<'e>,
        right: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let kind = SavedKind::Equal(left, right);
        self.save(goal, vec![kind], &[left, right], next)
    }

    /// Saves a call; the term after its arguments becomes unknown.
    pub(in crate::topdown) fn save_call(
        &mut self,
        goal: Goal<'e>,
        operator: Term,
        operands: &'e [Term],
        arity: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let terms = operands.iter().map(|term| TermRef::Term(term, goal.frame));
        let terms: Vec<TermRef<'e>> = terms.collect();
        // a variadic function has no output operand
        let output: Vec<TermRef<'e>> = terms.iter().skip(arity).copied().collect();
        self.save(goal, vec![SavedKind::Call(operator, terms)], &output, next)
    }

    /// Saves that a term must be true, and continues as if it were.
    pub(super) fn save_term(
        &mut self,
        goal: Goal<'e>,
        term: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        self.save(goal, vec![SavedKind::Term(term)], &[], next)
    }

    /// Collects the unbound variables of a term, without heads of references and closures.
    fn open_vars(&mut self, term: TermRef<'e>, vars: &mut Vec<(&'e str, FrameId)>) {
        let term = self.apply(term);
        match (term.resolved(), term) {
            (ResolvedTerm::Var(name, frame), _) => vars.push((name, frame)),
            (_, TermRef::Term(term, frame)) => {
                let scan = VarScan {
                    skip_ref_heads: true,
                    skip_closures: true,
                    ..VarScan::default()
                };
                let mut names = Vec::new();
                scan.each(term, |term, name| {
                    if !is_document(name) {
                        names.push(term);
                    }
                });
                for name in names {
                    self.open_vars(TermRef::Term(name, frame), vars);
                }
            }
            (_, TermRef::Built(BuiltTerm::Ref(terms))) => {
                for term in terms.iter().skip(1) {
                    self.open_vars(*term, vars);
                }
            }
            _ => {}
        }
    }

    /// Returns a reference built from terms.
    pub(super) fn new_ref(&self, terms: &[TermRef<'e>]) -> TermRef<'e> {
        let bump = self.call.arena.bump();
        TermRef::Built(bump.alloc(BuiltTerm::Ref(bump.alloc_slice_copy(terms))))
    }

    /// Returns the reference to a path below `data`, followed by the remaining steps of `target`.
    pub(in crate::topdown) fn reference_at(
        &self,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
    ) -> TermRef<'e> {
        let steps = path.iter().map(|step| TermRef::Value(*step));
        let rest = terms_of(target.reference).into_iter().skip(target.at);
        let terms: Vec<TermRef<'e>> = std::iter::once(TermRef::Term(&DATA, 0))
            .chain(steps)
            .chain(rest)
            .collect();
        self.new_ref(&terms)
    }

    /// Returns a fresh variable for a term that is descended into.
    pub(super) fn fresh_ref(&mut self, frame: FrameId) -> TermRef<'e> {
        let id = self.frame_number(frame);
        let at = self.opened_mut().map_or(0, |open| {
            let made = open.ref_vars.entry(id).or_default();
            *made += 1;
            *made - 1
        });
        let name = bumpalo::format!(in self.call.arena.bump(), "$_ref_{}", at);
        TermRef::Built(self.variable(name.into_bump_str(), frame))
    }
}

pub(super) fn terms_of(list: TermList<'_>) -> Vec<TermRef<'_>> {
    (0..list.len()).filter_map(|at| list.get(at)).collect()
}
