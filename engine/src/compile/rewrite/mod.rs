//! Rewrites of parsed bodies to canonical ones, one file for each stage.
//!
//! Traces and messages show the result, so the following is part of the compatibility contract: which terms move, in
//! which order, with which generated names. Sets and objects are therefore traversed in the order of their members and
//! keys.

pub mod capture;
pub mod comprehensions;
pub mod dynamics;
pub mod equals;
pub mod expr_terms;
pub mod imports;
pub mod keywords;
pub mod local_vars;
pub mod metadata;
pub mod prints;
pub mod ref_heads;
pub mod refs_in_head;
pub mod templates;
pub mod test_rules;
pub mod tests_for_tracing;
pub mod void_calls;
pub mod with;

use std::mem;

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut};
use solon_syntax::ast::{Body, Comprehension, Expr, ExprKind, Rule, Term, TermKind};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::facts::Facts;
use super::locals::Locals;
use super::modules::Modules;

/// Calls `change` for every rule, and after each rule for its `else` branches.
pub(super) fn each_branch(modules: &mut Modules, mut change: impl FnMut(&mut Rule)) {
    for rule in modules.open_mut().flat_map(|module| &mut module.rules) {
        each_branch_of(rule, &mut change);
    }
}

/// Calls `change` for every rule that may have one of some facts, and after each rule for its `else` branches.
pub(super) fn each_branch_with(
    modules: &mut Modules,
    facts: Facts,
    mut change: impl FnMut(&mut Rule),
) {
    for rule in modules.rules_with_mut(facts) {
        each_branch_of(rule, &mut change);
    }
}

/// Calls `change` for a rule, then for its `else` branches.
pub(super) fn each_branch_of(rule: &mut Rule, mut change: impl FnMut(&mut Rule)) {
    let mut next = Some(rule);
    while let Some(rule) = next {
        change(rule);
        next = rule.else_rule.as_deref_mut();
    }
}

/// Replaces a term by a generated local and returns the expression that binds it: `local = term`.
pub(super) fn hoist(locals: &mut Locals, term: &mut Term) -> Expr {
    let span = term.span;
    let local = Term::var(locals.fresh(), span);
    let value = mem::replace(term, local.clone());
    Expr::generated_call("eq", vec![local, value], span)
}

pub(super) fn truth(span: Span) -> Expr {
    Expr::new(
        ExprKind::Term(Term::new(TermKind::Boolean(true), span)),
        span,
    )
}

/// Returns `true` if a body consists of `true` only.
pub(super) fn is_truth(body: &Body) -> bool {
    match body.as_slice() {
        [expr] => {
            matches!(&expr.kind, ExprKind::Term(term) if matches!(term.kind, TermKind::Boolean(true)))
        }
        _ => false,
    }
}

/// Adds expressions to a body; the first one replaces a lone `true`.
pub(super) fn append(body: &mut Body, exprs: impl IntoIterator<Item = Expr>) {
    let mut exprs = exprs.into_iter().peekable();
    if exprs.peek().is_none() {
        return;
    }
    if is_truth(body) {
        body.clear();
    }
    body.extend(exprs);
    number(body);
}

/// Calls `prepare` for each expression of a body; it adds the expressions needed before it to its second argument.
pub(super) fn with_support(body: &mut Body, mut prepare: impl FnMut(&mut Expr, &mut Body)) {
    let mut support = Vec::new();
    // expressions that need nothing are not moved
    let first = body.iter_mut().position(|expr| {
        prepare(expr, &mut support);
        !support.is_empty()
    });
    if let Some(first) = first {
        let rest = body.split_off(first);
        let mut rest = rest.into_iter();
        body.reserve(support.len() + rest.len());
        body.append(&mut support);
        body.extend(rest.next());
        for mut expr in rest {
            prepare(&mut expr, body);
            body.push(expr);
        }
    }
    number(body);
}

/// Assigns indices to the expressions of a body.
pub(super) fn number(body: &mut Body) {
    for (expr, position) in body.iter_mut().zip(0..) {
        expr.index = position;
    }
}

/// Sorts the members of a set or the pairs of an object and removes duplicates. Rewrites may have changed both.
#[inline]
pub(super) fn arrange(term: &mut Term) {
    if matches!(term.kind, TermKind::Set(_) | TermKind::Object(_)) {
        arrange_members(term);
    }
}

fn arrange_members(term: &mut Term) {
    match &mut term.kind {
        TermKind::Set(members) if !members.is_sorted_by(|left, right| left < right) => {
            members.sort();
            members.dedup();
        }
        TermKind::Object(pairs) if !pairs.is_sorted_by(|left, right| left.0 < right.0) => {
            pairs.sort_by(|left, right| left.0.cmp(&right.0));
            // of equal keys, the first one stays with the last value
            pairs.dedup_by(|later, earlier| {
                let same_key = later.0 == earlier.0;
                if same_key {
                    mem::swap(&mut later.1, &mut earlier.1);
                }
                same_key
            });
        }
        _ => {}
    }
}

/// Returns the comprehension of any kind that a term is, or `None` for other terms.
pub(super) fn comprehension(term: &mut Term) -> Option<&mut Comprehension> {
    match &mut term.kind {
        TermKind::ArrayComprehension(inner)
        | TermKind::SetComprehension(inner)
        | TermKind::ObjectComprehension(inner) => Some(inner),
        _ => None,
    }
}

/// Returns `true` if a term contains a reference or a comprehension, so that it must be evaluated before use.
pub(super) fn requires_evaluation(term: &Term) -> bool {
    use solon_syntax::ast::visit::{Terms, Walk};
    let mut occurs = false;
    term.walk(&mut Terms(|term: &Term| {
        occurs = occurs || matches!(term.kind, TermKind::Ref(_)) || term.kind.is_comprehension();
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

/// Calls `show` for the bodies nested in a node (of comprehensions, `every`, `not`, `and` and `or`), but not for bodies
/// within those.
pub(super) fn nested_bodies<N: WalkMut + ?Sized>(node: &mut N, show: impl FnMut(&mut Body)) {
    node.walk_mut(&mut BodyVisitor(show));
}

struct BodyVisitor<F>(F);

impl<F: FnMut(&mut Body)> VisitorMut for BodyVisitor<F> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        match &mut expr.kind {
            ExprKind::Every(every) => {
                every.domain.walk_mut(self);
                (self.0)(&mut every.body);
            }
            ExprKind::Not(not) => (self.0)(&mut not.body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                // chains nest in the left operand
                stack::level(|| (self.0)(&mut logical.lhs));
                (self.0)(&mut logical.rhs);
            }
            ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_) => return Descent::Into,
        }
        expr.with.walk_mut(self);
        Descent::Over
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        arrange(term);
        let Some(inner) = comprehension(term) else {
            return Descent::Into;
        };
        inner.key.walk_mut(self);
        inner.head.walk_mut(self);
        (self.0)(&mut inner.body);
        Descent::Over
    }
}
