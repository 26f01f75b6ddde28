//! `with` during partial evaluation: replacements that are unknown or replace unknowns.

use solon_syntax::ast::visit::{Descent, Visitor, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Term, TermKind, With};

use super::save::SavedKind;
use super::state::Hidden;
use crate::bug::{Within as _, bug};
use crate::topdown::calls::ResolvedOperator;
use crate::topdown::machine::{Continuation, Goal, SearchResult, Topdown};
use crate::topdown::scope::ReplacedTarget;
use crate::topdown::term::{TermRef, is_document};

impl<'e> Topdown<'e> {
    /// Searches an expression in the scope of its `with`; documents that it refers to are not inlined.
    pub(in crate::topdown) fn open_with(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.replaces_by_unknown(goal, expr) {
            return self.save_with(goal, expr, next);
        }
        let scope = self.modified(goal, expr)?;
        let hidden = self.hide_refs(expr);
        let outcome = self.scoped(
            scope,
            |walk, next| walk.step(goal, expr, next),
            &mut |walk| {
                let hidden = walk.unhide(hidden);
                let flow = next(walk);
                walk.hide_again(hidden);
                flow
            },
        );
        self.unhide(hidden);
        outcome
    }

    /// Returns `true` if a modifier replaces a function, not a document.
    pub(super) fn replaces_function(&mut self, with: &'e With) -> bool {
        matches!(self.replaced(&with.target), ReplacedTarget::Function)
    }

    /// Returns `true` if a modifier replaces a function by another function.
    fn is_mock(&mut self, goal: Goal<'e>, with: &'e With) -> bool {
        if !self.replaces_function(with) || !self.is_callable(&with.value, goal) {
            return false;
        }
        // a rule is a value
        match self.callee(&with.value) {
            ResolvedOperator::Function(site) => {
                let group = self
                    .doc_node(Some(site))
                    .and_then(|site| site.group.as_ref());
                group.is_some_and(|group| group.arity > 0)
            }
            _ => true,
        }
    }

    /// Returns `true` if an expression must be saved unevaluated because a replacement value is unknown, or the rules of a replacement
    /// function depend on an unknown.
    fn replaces_by_unknown(&mut self, goal: Goal<'e>, expr: &'e Expr) -> bool {
        let mut modifiers = expr.with.iter();
        modifiers.any(|with| self.depends(TermRef::Term(&with.value, goal.frame)))
    }

    /// Saves an expression unevaluated; the variables that it would bind are unknown.
    fn save_with(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let terms: Vec<TermRef<'e>> = match &expr.kind {
            ExprKind::Term(term) => vec![TermRef::Term(term, goal.frame)],
            ExprKind::Call(terms) => terms
                .iter()
                .skip(1)
                .map(|term| TermRef::Term(term, goal.frame))
                .collect(),
            _ => Vec::new(),
        };
        let mut whole = self.plugged_expr(expr, goal.frame);
        whole.with = expr
            .with
            .iter()
            .map(|with| With {
                target: with.target.clone(),
                value: if self.is_mock(goal, with) {
                    with.value.clone()
                } else {
                    self.residual(TermRef::Term(&with.value, goal.frame))
                },
                span: with.span,
            })
            .collect();
        self.save(goal, vec![SavedKind::Done(whole)], &terms, next)
    }

    /// Hides the references of an expression with modifiers from inlining, so that the modifiers keep their meaning.
    fn hide_refs(&mut self, expr: &'e Expr) -> usize {
        let mut refs = Refs(Vec::new());
        expr.walk(&mut refs);
        let paths: Vec<_> = refs
            .0
            .into_iter()
            .map(|terms| self.path_of(terms))
            .collect();
        let count = paths.len();
        if let Some(open) = self.opened_mut() {
            open.hidden.extend(paths.into_iter().map(Hidden::Replaced));
        }
        count
    }

    /// Reverts [`Self::hide_refs`].
    fn unhide(&mut self, count: usize) -> Vec<Hidden<'e>> {
        self.opened_mut().map_or_else(Vec::new, |open| {
            let from = open.hidden.len().checked_sub(count);
            let from = from.unwrap_or_else(|| bug!("more is shown than was hidden"));
            open.hidden.split_off(from)
        })
    }

    fn hide_again(&mut self, hidden: Vec<Hidden<'e>>) {
        if let Some(open) = self.opened_mut() {
            open.hidden.extend(hidden);
        }
    }
}

/// All references of an expression.
struct Refs<'e>(Vec<&'e [Term]>);

impl<'e> Visitor<'e> for Refs<'e> {
    fn term(&mut self, term: &'e Term) -> Descent {
        match &term.kind {
            TermKind::Ref(terms) => {
                self.0.push(terms);
                // the document name alone would hide everything
                terms.within(1..).walk(self);
                Descent::Over
            }
            TermKind::Var(name) if is_document(name) => {
                self.0.push(std::slice::from_ref(term));
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}
