//! Queries on terms and bodies.

use solon_syntax::ast::visit::{Descent, Terms, Visitor, Walk};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Term, TermKind};

use super::sets::variable;
use crate::bug::Within as _;

/// Returns `true` if terms are nested deeper than `levels`. Stops at the first that is.
pub fn nests_deeper(expr: &Expr, levels: usize) -> bool {
    struct Depth {
        remaining: usize,
        exceeded: bool,
    }
    impl<'a> Visitor<'a> for Depth {
        fn term(&mut self, term: &'a Term) -> Descent {
            if self.remaining == 0 {
                self.exceeded = true;
            }
            if self.exceeded {
                return Descent::Over;
            }
            self.remaining -= 1;
            match &term.kind {
                TermKind::Ref(terms) => terms.walk(self),
                TermKind::Array(terms) | TermKind::Set(terms) | TermKind::Call(terms) => {
                    terms.walk(self);
                }
                TermKind::Object(pairs) => pairs.walk(self),
                TermKind::ArrayComprehension(inside)
                | TermKind::SetComprehension(inside)
                | TermKind::ObjectComprehension(inside) => inside.walk(self),
                _ => {}
            }
            self.remaining += 1;
            Descent::Over
        }
    }
    let mut depth = Depth {
        remaining: levels,
        exceeded: false,
    };
    expr.walk(&mut depth);
    depth.exceeded
}

/// Returns `true` if a body contains a variable.
pub fn names(body: &Body, name: &Name) -> bool {
    solon_syntax::ast::VarScan::default().any(body, |other| other == name)
}

/// Returns `true` if a term contains a variable.
pub fn mentions(value: &Term, name: &Name) -> bool {
    solon_syntax::ast::VarScan::default().any(value, |other| other == name)
}

/// Returns `true` if a term is a root document, not a variable.
pub fn is_document(value: &Term) -> bool {
    value.as_var().is_some() && variable(value).is_none()
}

/// Returns `true` if a reference or a call has no variables except the head of the reference.
pub fn is_ground(term: &Term) -> bool {
    let parts = match &term.kind {
        TermKind::Ref(terms) => terms.within(1..),
        TermKind::Call(terms) => terms.within(1..),
        _ => std::slice::from_ref(term),
    };
    !solon_syntax::ast::VarScan::default().any(parts, |name| !matches!(&**name, "data" | "input"))
}

/// Returns `true` if a body requires a term to be defined, bodies of closures excluded. A negated equation does not: it
/// succeeds if one side is undefined.
pub fn is_required(value: &Term, body: &[Expr]) -> bool {
    struct RequiredTerm<'v>(&'v Term, bool);
    impl<'a> Visitor<'a> for RequiredTerm<'_> {
        fn expr(&mut self, expr: &'a Expr) -> Descent {
            match &expr.kind {
                ExprKind::Term(_) if expr.negated => Descent::Over,
                ExprKind::Call(_) if expr.negated && expr.operands_of("eq").is_some() => {
                    Descent::Over
                }
                ExprKind::Every(every) => {
                    every.domain.walk(self);
                    expr.with.walk(self);
                    Descent::Over
                }
                _ => Descent::Into,
            }
        }

        fn term(&mut self, term: &'a Term) -> Descent {
            let Self(value, found) = self;
            if *found {
                return Descent::Over;
            }
            match (&term.kind, &value.kind) {
                (
                    TermKind::ArrayComprehension(_)
                    | TermKind::SetComprehension(_)
                    | TermKind::ObjectComprehension(_),
                    _,
                ) => return Descent::Over,
                (TermKind::Ref(terms), TermKind::Ref(prefix)) => *found = terms.starts_with(prefix),
                (TermKind::Ref(terms), TermKind::Var(_)) => *found = terms.first() == Some(*value),
                _ => *found = term == *value,
            }
            Descent::Into
        }
    }
    let mut asked = RequiredTerm(value, false);
    body.walk(&mut asked);
    asked.1
}

/// Returns `true` if calls or closures are nested within terms.
pub fn is_nested(body: &[Expr]) -> bool {
    let mut found = false;
    body.walk(&mut Terms(|term: &Term| {
        found |= matches!(term.kind, TermKind::Call(_)) || term.kind.is_comprehension();
        if found { Descent::Over } else { Descent::Into }
    }));
    found
}

/// Returns `true` if an expression may fail with an error: because of conflicting keys of an object, or because of
/// rules that it refers to.
pub fn may_conflict(expr: &Expr, leads_to_rules: &impl Fn(&[Term]) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut Terms(|term: &Term| {
        found |= match &term.kind {
            TermKind::ObjectComprehension(_) => true,
            TermKind::Ref(terms) => leads_to_rules(terms),
            _ => false,
        };
        if found { Descent::Over } else { Descent::Into }
    }));
    found
}
