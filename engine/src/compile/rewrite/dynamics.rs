//! RewriteDynamicTerms: binds operands that must be evaluated before their expression.
//!
//! `f(input.x)` becomes `y = input.x; f(y)`. So operands are evaluated eagerly, from left to right, and an expression
//! with an undefined one is undefined as a whole.

use solon_syntax::ast::{Body, Expr, ExprKind, Term, TermKind, With};
use solon_syntax::stack;

use super::{arrange, comprehension, each_branch, hoist, with_support};
use crate::compile::locals::Locals;
use crate::compile::{Compilation, QueryCompilation};

/// Binds references and comprehensions inside operands, in all modules.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut binder = Binder {
        locals: &mut compilation.locals,
    };
    each_branch(&mut compilation.modules, |rule| binder.body(&mut rule.body));
}

/// Binds references and comprehensions inside operands, in a query.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    let locals = query.locals.restart(&query.body);
    Binder { locals }.body(&mut query.body);
}

struct Binder<'l> {
    locals: &'l mut Locals,
}

impl Binder<'_> {
    fn body(&mut self, body: &mut Body) {
        with_support(body, |expr, support| self.expr(expr, support));
    }

    fn expr(&mut self, expr: &mut Expr, body: &mut Body) {
        let with = expr.with.as_slice();
        match &mut expr.kind {
            ExprKind::Term(term) => self.top(term, with, body),
            ExprKind::Call(terms) => match terms.as_mut_slice() {
                [operator, left, right] if operator.is_operator("eq") => {
                    self.top(left, with, body);
                    self.top(right, with, body);
                }
                [operator, ..] if operator.is_operator("eq") => {}
                terms => {
                    for operand in terms.iter_mut().skip(1) {
                        self.operand(operand, with, body);
                    }
                }
            },
            ExprKind::Every(every) => {
                self.operand(&mut every.domain, with, body);
                self.body(&mut every.body);
            }
            ExprKind::Not(not) => self.body(&mut not.body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                // chains nest in the left operand
                stack::level(|| self.body(&mut logical.lhs));
                self.body(&mut logical.rhs);
            }
            ExprKind::Some(_) => {}
        }
    }

    /// Rewrites a side of `=` or a term used as an expression: a reference or comprehension stays, and only its
    /// subterms move.
    fn top(&mut self, term: &mut Term, with: &[With], body: &mut Body) {
        if let TermKind::Ref(terms) = &mut term.kind {
            for part in terms.iter_mut().skip(1) {
                self.operand(part, with, body);
            }
        } else if let Some(inner) = comprehension(term) {
            self.body(&mut inner.body);
        } else {
            self.operand(term, with, body);
        }
    }

    fn operand(&mut self, term: &mut Term, with: &[With], body: &mut Body) {
        arrange(term);
        match &mut term.kind {
            TermKind::Ref(terms) => {
                for part in terms.iter_mut().skip(1) {
                    self.operand(part, with, body);
                }
                self.bind(term, with, body);
            }
            TermKind::Array(terms) | TermKind::Set(terms) => {
                for element in terms {
                    self.operand(element, with, body);
                }
            }
            TermKind::Object(pairs) => {
                for (key, value) in pairs {
                    self.operand(key, with, body);
                    self.operand(value, with, body);
                }
            }
            _ => {
                if let Some(inner) = comprehension(term) {
                    self.body(&mut inner.body);
                    self.bind(term, with, body);
                }
            }
        }
    }

    fn bind(&mut self, term: &mut Term, with: &[With], body: &mut Body) {
        let mut binding = hoist(self.locals, term);
        binding.with = with.to_vec();
        body.push(binding);
    }
}
