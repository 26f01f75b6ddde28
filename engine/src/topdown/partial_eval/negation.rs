//! Negation of expressions that depend on unknowns.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Descent as Go, Visitor, Walk as _};
use solon_syntax::ast::{Body, Expr, ExprKind, Head, Name, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use super::number_keys::is_number_key;
use super::save::SavedKind;
use super::state::numbered;
use super::support::{namespace_package, never_empty, support_rule};
use crate::bug::Within as _;
use crate::limits;
use crate::runtime::{EvalError, Halt};
use crate::topdown::machine::{Continuation, Exprs, Goal, SearchFlow, SearchResult, Topdown};

impl<'e> Topdown<'e> {
    /// Calls `next` for each condition under which an expression does not hold.
    pub(in crate::topdown) fn open_negation(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let child = self.closure(goal, Exprs::Positive(expr));
        self.open_unless(goal, child, expr, next)
    }

    fn open_unless(
        &mut self,
        goal: Goal<'e>,
        child: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let unknown = self.unknown_names();
        let mut live = unknown.clone();
        live.extend(self.unknown_documents());
        let bodies =
            self.local_residuals(&live, &unknown, &mut |walk, next| walk.run(child, next))?;
        let bodies: Vec<Body> = bodies
            .into_iter()
            .map(|body| numbered(never_empty(body)))
            .collect();
        if bodies.is_empty() {
            return next(self);
        }
        let calls = match self.opened().map(|open| open.inlining) {
            Some(inlining) if inlining.complements => NegatedCalls::All,
            // rows of filters have all of their columns
            Some(inlining) if inlining.reports_choices => NegatedCalls::NumberKeys,
            _ => NegatedCalls::None,
        };
        if !can_complement(&unknown, &bodies, calls) {
            return self.negated_support(goal, child, expr, &unknown, bodies, next);
        }
        self.complements(goal, &bodies, &mut Vec::new(), next)
    }

    /// Returns the residual bodies of a search, without the expressions saved around it.
    pub(super) fn local_residuals(
        &mut self,
        live: &BTreeSet<Name>,
        unknown: &BTreeSet<Name>,
        search: &mut dyn FnMut(&mut Self, Continuation<'_, 'e>) -> SearchResult,
    ) -> Result<Vec<Body>, Halt> {
        if let Some(open) = self.opened_mut() {
            // rules may negate each other without end while the terminating condition is unknown
            if open.saved.len() > limits::OPEN_NEGATIONS {
                return Err(Halt::new(EvalError::too_deep()));
            }
            open.saved.push(Vec::new());
        }
        let mut bodies: Vec<Body> = Vec::new();
        let outcome = search(self, &mut |walk| {
            let body = walk.residual_body()?;
            if walk.is_possible(&body) {
                bodies.push(walk.simplified(body, live, unknown));
            }
            Ok(SearchFlow::More)
        });
        if let Some(open) = self.opened_mut() {
            open.saved.pop();
        }
        outcome.map(|_| bodies)
    }

    /// Returns the names of the unknown variables, as residuals spell them.
    pub(super) fn unknown_names(&self) -> BTreeSet<Name> {
        let vars = self.opened().into_iter().flat_map(|open| open.vars.iter());
        vars.map(|(name, frame)| self.residual_name(name, frame))
            .collect()
    }

    /// Calls `next` for each choice of one expression of each body, negated.
    pub(super) fn complements(
        &mut self,
        goal: Goal<'e>,
        bodies: &[Body],
        picked: &mut Vec<Expr>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some((body, rest)) = bodies.split_first() else {
            return self.save_negated(goal, picked, next);
        };
        self.alternatives(body, |walk, expr| {
            let mut complement = expr.clone();
            complement.negated = !complement.negated;
            picked.push(complement);
            let flow = walk.complements(goal, rest, picked, next);
            picked.pop();
            flow
        })
    }

    fn save_negated(
        &mut self,
        goal: Goal<'e>,
        exprs: &[Expr],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let kinds = exprs.iter().cloned().map(SavedKind::Done).collect();
        self.save(goal, kinds, &[], next)
    }

    /// Saves a negation as a support rule that holds if the expression does.
    fn negated_support(
        &mut self,
        goal: Goal<'e>,
        child: Goal<'e>,
        expr: &'e Expr,
        unknown: &BTreeSet<Name>,
        bodies: Vec<Body>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let name = format!("__not{}_{}_{}__", goal.id, goal.at, child.id);
        let mut args = BTreeSet::new();
        for body in &bodies {
            VarScan::default().collect(body, &mut args);
        }
        let args = args.into_iter().filter(|name| unknown.contains(name));
        let args: Vec<Term> = args.map(|name| Term::var(name, Span::default())).collect();
        for body in bodies {
            let head = Head {
                name: Some(name.as_str().into()),
                reference: vec![Term::var(name.as_str(), Span::default())],
                args: args.clone(),
                value: Some(Term::new(TermKind::Boolean(true), Span::default())),
                ..Head::default()
            };
            if let Some(open) = self.opened_mut() {
                let rule = support_rule(head, body, false);
                open.support
                    .insert(namespace_package(&open.inlining.namespace), rule);
            }
        }
        let rule = self.in_namespace(&name);
        let kind = if args.is_empty() {
            ExprKind::Term(rule)
        } else {
            let mut terms = vec![rule];
            terms.extend(args);
            ExprKind::Call(terms)
        };
        let mut negated = Expr::new(kind, expr.span);
        negated.negated = true;
        self.save_negated(goal, &[negated], next)
    }
}

/// Calls that can be negated like equations. All references in them are defined, so that the negated call is defined,
/// too.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum NegatedCalls {
    None,
    NumberKeys,
    All,
}

impl NegatedCalls {
    fn contains(self, terms: &[Term]) -> bool {
        self == Self::All || self == Self::NumberKeys && is_number_key(terms)
    }
}

/// Returns `true` if bodies can be negated expression by expression without leaving variables unbound.
pub(super) fn can_complement(
    unknown: &BTreeSet<Name>,
    bodies: &[Body],
    calls: NegatedCalls,
) -> bool {
    let mut size = 1_usize;
    for body in bodies {
        size = size.saturating_mul(body.len());
        let plain = body.iter().all(|expr| {
            !is_nested(expr, calls)
                && expr.with.is_empty()
                && (expr.negated || is_bound(expr, unknown))
        });
        if !plain {
            return false;
        }
    }
    size <= limits::COMPLEMENTS
}

fn is_bound(expr: &Expr, unknown: &BTreeSet<Name>) -> bool {
    let scan = VarScan {
        skip_call_heads: true,
        ..VarScan::default()
    };
    !scan.any(expr, |name| {
        !unknown.contains(name) && !matches!(&**name, "data" | "input")
    })
}

/// Returns `true` if references or calls are nested in others.
fn is_nested(expr: &Expr, calls: NegatedCalls) -> bool {
    match &expr.kind {
        ExprKind::Term(term) => is_nested_term(term),
        ExprKind::Call(terms) => {
            let operands = terms.within(1..);
            let equation = terms
                .first()
                .is_some_and(|operator| operator.is_operator("eq"));
            if equation || calls.contains(terms) {
                operands.iter().any(is_nested_term)
            } else {
                operands.iter().any(looks_up)
            }
        }
        _ => true,
    }
}

fn is_nested_term(term: &Term) -> bool {
    match &term.kind {
        TermKind::Ref(terms) => terms
            .split_first()
            .is_some_and(|(head, steps)| head.as_var().is_none() || steps.iter().any(looks_up)),
        TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_) => looks_up(term),
        TermKind::Var(_)
        | TermKind::Null
        | TermKind::Boolean(_)
        | TermKind::Number(_)
        | TermKind::String(_) => false,
        _ => true,
    }
}

/// Returns `true` if a term contains a reference or a call.
fn looks_up(term: &Term) -> bool {
    struct LookupFinder(bool);
    impl<'a> Visitor<'a> for LookupFinder {
        fn term(&mut self, term: &'a Term) -> Go {
            self.0 |= matches!(
                &term.kind,
                TermKind::Ref(_) | TermKind::Call(_) | TermKind::Template(_)
            ) || term
                .as_var()
                .is_some_and(|name| matches!(&**name, "input" | "data"));
            if self.0 { Go::Over } else { Go::Into }
        }
    }
    let mut found = LookupFinder(false);
    term.walk(&mut found);
    found.0
}
