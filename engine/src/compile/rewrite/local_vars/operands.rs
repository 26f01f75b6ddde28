//! Operands of `not`, `and` and `or`: scopes of their variables.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Body, Expr, ExprKind, Logical, Term, TermKind};
use solon_syntax::stack;

use super::renamer::Renamer;

pub(super) const IN_NEGATION: &str = "cannot assign vars inside negated expression";
const IN_AND: &str = "cannot assign vars inside implicit and operand";
const IN_OR: &str = "cannot assign vars inside implicit or operand";

impl Renamer<'_> {
    /// Renames in `not` without braces, `and` and `or`: braced operands are scopes, others belong to the enclosing
    /// body.
    pub(super) fn operands(&mut self, expr: &mut Expr) {
        let before = self.errors.len();
        match &mut expr.kind {
            ExprKind::Not(not) => self.implicit_body(&mut not.body, IN_NEGATION),
            ExprKind::And(logical) => self.logical(logical, IN_AND),
            ExprKind::Or(logical) => self.logical(logical, IN_OR),
            _ => {}
        }
        if self.errors.len() == before {
            self.expr(expr);
        }
    }

    fn logical(&mut self, logical: &mut Logical, rejection: &str) {
        for (body, explicit) in [
            (&mut logical.lhs, logical.explicit_lhs),
            (&mut logical.rhs, logical.explicit_rhs),
        ] {
            // chains nest in the left operand
            stack::level(|| {
                if explicit {
                    self.scoped_body(body);
                } else {
                    self.implicit_body(body, rejection);
                }
            });
        }
    }

    /// Rejects assignments in a body without braces, and opens the scopes of the braced bodies inside it.
    fn implicit_body(&mut self, body: &mut Body, rejection: &str) {
        for expr in body {
            match &mut expr.kind {
                ExprKind::Call(terms)
                    if terms
                        .first()
                        .is_some_and(|operator| operator.is_operator("assign")) =>
                {
                    self.errors.push((expr.span, rejection.to_owned()));
                }
                ExprKind::Not(not) if not.explicit_body => {
                    self.statement(expr);
                }
                ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => self.operands(expr),
                _ => {}
            }
        }
    }

    /// Renames in a body within a scope of its own.
    pub(super) fn scoped_body(&mut self, body: &mut Body) {
        self.scopes.push();
        self.body(body, &BTreeSet::new());
        self.scopes.pop();
    }

    /// Renames in an operand whose braced bodies are already renamed. Their free variables count as used here.
    pub(super) fn operand(&mut self, body: &mut Body, explicit: bool) {
        if explicit {
            self.declare_free(body);
            return;
        }
        for expr in body {
            match &expr.kind {
                ExprKind::Not(not) if not.explicit_body => self.declare_free(&not.body),
                // renamed separately
                ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {}
                _ => self.expr(expr),
            }
        }
    }

    /// Declares the free variables of a renamed body, which keep their names. Comprehensions have scopes of their own.
    pub(super) fn declare_free(&mut self, body: &Body) {
        let scopes = &mut self.scopes;
        body.walk(&mut Terms(|term: &Term| {
            match &term.kind {
                TermKind::Var(name) if scopes.find(name).is_none() => scopes.keep(name),
                TermKind::ArrayComprehension(_)
                | TermKind::SetComprehension(_)
                | TermKind::ObjectComprehension(_) => return Descent::Over,
                _ => {}
            }
            Descent::Into
        }));
    }
}
