//! Terms that only need to be true, comprehensions, `every`, and bodies within expressions.

use std::borrow::Cow;

use solon_syntax::ast::visit::{
    Descent as Go, Terms, VisitorMut, Walk as _, WalkMut, has_comprehension,
};
use solon_syntax::ast::{
    Body, Children, Comprehension, Expr, ExprKind, Logical, Name, Term, TermKind, VarScan,
};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::residual::equation;
use super::save::SavedKind;
use super::state::Hidden;
use crate::topdown::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::term::{FrameId, ResolvedTerm, TermRef};
use crate::value::{RefRepr, ValueRef};

impl<'e> Topdown<'e> {
    /// Evaluates a term that must be true, under a variable name that marks its value as otherwise unused.
    pub(in crate::topdown) fn open_term(
        &mut self,
        goal: Goal<'e>,
        term: &'e Term,
        value: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let mut marked = false;
        if let ResolvedTerm::Var(name, frame) = value.resolved()
            && let Some(open) = self.opened_mut()
            && open.inlining.skip_false_defaults
        {
            open.hidden.push(Hidden::Truth(name, frame));
            marked = true;
        }
        let outcome = self.unify(goal, TermRef::Term(term, goal.frame), value, &mut |walk| {
            if walk.is_unknown(value) {
                return walk.save_term(goal, value, &mut |walk| {
                    if let Some(open) = &mut walk.open {
                        open.is_left = true;
                    }
                    next(walk)
                });
            }
            match walk.plug(value) {
                Some(ValueRef(RefRepr::Bool(false))) => Ok(SearchFlow::More),
                _ => next(walk),
            }
        });
        if marked && let Some(open) = self.opened_mut() {
            open.hidden.pop();
        }
        outcome
    }

    /// Returns `true` if the current solution depends on a saved term, and resets the flag.
    pub(in crate::topdown) fn is_left(&mut self) -> bool {
        let open = self.open.as_mut();
        open.is_some_and(|open| std::mem::take(&mut open.is_left))
    }

    /// Returns a comprehension whose body contains the outer bindings that it needs.
    pub(super) fn closed(&mut self, term: TermRef<'e>) -> TermRef<'e> {
        let ResolvedTerm::Comprehension(outer, inside, frame) = term.resolved() else {
            return term;
        };
        let mut inside: Comprehension = self.renamed(inside, frame);
        let mut extra = self.closing(outer, frame);
        if has_data_key(&inside) {
            // an unbound key would enumerate the strings of the document, which no number equals
            let (numbers, others): (Vec<Expr>, Vec<Expr>) =
                extra.into_iter().partition(is_number_assignment);
            inside.body.splice(..0, numbers);
            extra = others;
        }
        inside.body.extend(extra);
        for (at, expr) in (0_u32..).zip(&mut inside.body) {
            expr.index = at;
        }
        let inside = Box::new(inside);
        let kind = match &outer.kind {
            TermKind::ArrayComprehension(_) => TermKind::ArrayComprehension(inside),
            TermKind::SetComprehension(_) => TermKind::SetComprehension(inside),
            _ => TermKind::ObjectComprehension(inside),
        };
        let mut closed = Term::new(kind, outer.span);
        closed.walk_mut(&mut Settling(self));
        let kept = self.opened().and_then(|open| open.terms.keep(closed));
        // all variables have been renamed, so the environment is irrelevant
        kept.map_or(term, |kept| TermRef::Term(kept, 0))
    }

    /// Returns the bindings of an environment that a node needs, as equations.
    fn closing(&mut self, node: &'e Term, frame: FrameId) -> Vec<Expr> {
        let mut names: Vec<Name> = Vec::new();
        VarScan::default().collect(node, &mut names);
        names.sort();
        names.dedup();
        let mut bound: Vec<(&'e str, TermRef<'e>)> = self
            .all_bindings(frame)
            .filter(|(name, _)| names.binary_search_by(|other| (**other).cmp(name)).is_ok())
            .collect();
        bound.sort_by_key(|(name, _)| *name);
        bound
            .into_iter()
            .map(|(name, term)| {
                let name = Term::var(self.residual_name(name, frame), node.span);
                equation(vec![name, self.residual(term)])
            })
            .collect()
    }

    /// Saves an expression with its bodies unevaluated; bound variables are replaced.
    pub(in crate::topdown) fn save_whole(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let mut whole = self.plugged_expr(expr, goal.frame);
        whole.with = Vec::new();
        whole.walk_mut(&mut Settling(self));
        self.save(goal, vec![SavedKind::Done(whole)], &[], next)
    }

    pub(super) fn plugged_expr(&mut self, expr: &'e Expr, frame: FrameId) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Term(term) => ExprKind::Term(self.plugged_term(term, frame)),
            ExprKind::Call(terms) => {
                let mut plugged: Vec<Term> = terms.iter().take(1).cloned().collect();
                for term in terms.iter().skip(1) {
                    plugged.push(self.plugged_term(term, frame));
                }
                ExprKind::Call(plugged)
            }
            ExprKind::Every(every) => {
                let mut plugged = (**every).clone();
                plugged.key = every.key.as_ref().map(|key| self.plugged_term(key, frame));
                plugged.value = self.plugged_term(&every.value, frame);
                plugged.domain = self.plugged_term(&every.domain, frame);
                plugged.body = self.plugged_body(&every.body, frame);
                ExprKind::Every(Box::new(plugged))
            }
            ExprKind::Not(not) => {
                let mut plugged = (**not).clone();
                plugged.body = self.plugged_body(&not.body, frame);
                ExprKind::Not(Box::new(plugged))
            }
            ExprKind::And(pair) | ExprKind::Or(pair) => {
                // chains nest in the left operand
                let plugged = Box::new(Logical {
                    lhs: stack::level(|| self.plugged_body(&pair.lhs, frame)),
                    rhs: self.plugged_body(&pair.rhs, frame),
                    explicit_lhs: pair.explicit_lhs,
                    explicit_rhs: pair.explicit_rhs,
                    span: pair.span,
                });
                match &expr.kind {
                    ExprKind::And(_) => ExprKind::And(plugged),
                    _ => ExprKind::Or(plugged),
                }
            }
            ExprKind::Some(some) => ExprKind::Some(some.clone()),
        };
        Expr {
            kind,
            with: self.residual_with(&expr.with, frame),
            negated: expr.negated,
            generated: expr.generated,
            assigned: expr.assigned,
            index: expr.index,
            span: expr.span,
        }
    }

    fn plugged_body(&mut self, body: &'e [Expr], frame: FrameId) -> Vec<Expr> {
        body.iter()
            .map(|expr| self.plugged_expr(expr, frame))
            .collect()
    }

    fn plugged_term(&mut self, term: &'e Term, frame: FrameId) -> Term {
        let mut inner = TermRef::Term(term, frame);
        if matches!(inner.resolved(), ResolvedTerm::Comprehension(..)) {
            inner = self.closed(inner);
        }
        self.residual(inner)
    }
}

/// Replaces bodies that types rule out by their constant truth value. Specialised to a known value, such a body is not
/// a mistake of the policy, but it would not compile again.
struct Settling<'w, 'e>(&'w Topdown<'e>);

impl Settling<'_, '_> {
    /// Returns `false` if types rule a body out, given the values that its variables have at its end.
    fn is_possible(&self, body: &Body) -> bool {
        // the check only reads the operands of a connective, which have already been replaced; checking a chain here
        // would read it once for each operand
        if let [only] = body.as_slice()
            && matches!(only.kind, ExprKind::And(_) | ExprKind::Or(_))
            && only.with.is_empty()
        {
            return true;
        }
        let mut body = body.clone();
        body.sort_by_key(|expr| !is_assignment(expr));
        self.0.is_possible(&body)
    }

    fn body(&self, body: &mut Body) {
        if !self.is_possible(body) {
            let never = Term::new(TermKind::Boolean(false), Span::default());
            *body = vec![Expr::new(ExprKind::Term(never), Span::default())];
        }
    }
}

impl VisitorMut for Settling<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) -> Go {
        expr.kind.walk_mut(self);
        expr.with.walk_mut(self);
        match &mut expr.kind {
            ExprKind::Every(every) => self.body(&mut every.body),
            ExprKind::Not(not) => self.body(&mut not.body),
            ExprKind::And(pair) | ExprKind::Or(pair) => {
                self.body(&mut pair.lhs);
                self.body(&mut pair.rhs);
            }
            ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_) => {}
        }
        Go::Over
    }

    fn term(&mut self, term: &mut Term) -> Go {
        let (inside, empty) = match &mut term.kind {
            TermKind::ArrayComprehension(inside) => (inside, TermKind::Array(Children::new())),
            TermKind::SetComprehension(inside) => (inside, TermKind::Set(Children::new())),
            TermKind::ObjectComprehension(inside) => (inside, TermKind::Object(Children::new())),
            _ => return Go::Into,
        };
        inside.walk_mut(self);
        if !self.is_possible(&inside.body) {
            term.kind = empty;
        }
        Go::Over
    }
}

/// Returns `true` for a comprehension with a variable as a step of a reference into `data`.
fn has_data_key(inside: &Comprehension) -> bool {
    let mut found = false;
    inside.walk(&mut Terms(|term: &Term| {
        if let TermKind::Ref(steps) = &term.kind
            && let Some((head, steps)) = steps.split_first()
        {
            let is_data = head.as_var().is_some_and(|name| &**name == "data");
            found |= is_data && steps.iter().any(|step| step.as_var().is_some());
        }
        Go::Into
    }));
    found
}

/// Returns `true` for an equation that assigns a number to a variable.
fn is_number_assignment(expr: &Expr) -> bool {
    let operands = expr.operands_of("eq");
    operands.is_some_and(|operands| match operands {
        [_, value] => matches!(value.kind, TermKind::Number(_)),
        _ => false,
    })
}

/// Moves the assignments at the end of each closure to its beginning, so that variables have values before they are
/// used.
pub(super) fn assigned_first(body: &Body) -> Cow<'_, Body> {
    if !has_comprehension(body) {
        return Cow::Borrowed(body);
    }
    let mut body = body.clone();
    body.walk_mut(&mut Terms(|term: &mut Term| {
        if let TermKind::ArrayComprehension(inside)
        | TermKind::SetComprehension(inside)
        | TermKind::ObjectComprehension(inside) = &mut term.kind
        {
            inside.body.sort_by_key(|expr| !is_assignment(expr));
        }
        Go::Into
    }));
    Cow::Owned(body)
}

/// Returns `true` if an expression assigns a value to a variable.
fn is_assignment(expr: &Expr) -> bool {
    let plain = !expr.negated && expr.with.is_empty();
    plain
        && expr
            .operands_of("eq")
            .is_some_and(|operands| match operands {
                [name, value] => {
                    name.as_var().is_some() && !VarScan::default().any(value, |_| true)
                }
                _ => false,
            })
}
