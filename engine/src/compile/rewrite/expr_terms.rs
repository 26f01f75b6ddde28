//! RewriteExprTerms: moves calls out of terms into expressions of their own.
//!
//! `f(g(x))` becomes `g(x, y); f(y)`, and `[1, 2][i]` becomes `y = [1, 2]; y[i]`.

use std::mem;

use solon_syntax::ast::{Body, Expr, ExprKind, Rule, Term, TermKind, With};
use solon_syntax::stack;

use super::{append, arrange, comprehension, each_branch_with, hoist, with_support};
use crate::compile::facts::Facts;
use crate::compile::locals::Locals;
use crate::compile::{Compilation, QueryCompilation};

/// Moves calls out of terms in all modules.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut expander = Expander {
        locals: &mut compilation.locals,
    };
    let facts = Facts::INNER_CALL | Facts::ODD_HEAD | Facts::EVERY | Facts::COLLECTION;
    each_branch_with(&mut compilation.modules, facts, |rule| expander.rule(rule));
}

/// Moves calls out of terms in a query.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    let locals = query.locals.restart(&query.body);
    Expander { locals }.body(&mut query.body);
}

/// Moves calls out of the terms of a body.
pub fn expand(body: &mut Body, locals: &mut Locals) {
    Expander { locals }.body(body);
}

struct Expander<'l> {
    locals: &'l mut Locals,
}

impl Expander<'_> {
    fn rule(&mut self, rule: &mut Rule) {
        let head = &mut rule.head;
        let mut support = Vec::new();
        for term in head
            .args
            .iter_mut()
            .chain(&mut head.key)
            .chain(&mut head.value)
        {
            self.term(term, &mut support);
        }
        append(&mut rule.body, support);
        self.body(&mut rule.body);
    }

    fn body(&mut self, body: &mut Body) {
        with_support(body, |expr, support| self.expr(expr, support));
    }

    /// Adds an expression to a body, after the expressions that its terms need.
    fn expr(&mut self, expr: &mut Expr, body: &mut Body) {
        for with in &mut expr.with {
            self.term(&mut with.value, body);
        }
        let start = body.len();
        match &mut expr.kind {
            ExprKind::Term(term) => self.term(term, body),
            ExprKind::Call(terms) => {
                for operand in terms.iter_mut().skip(1) {
                    self.term(operand, body);
                }
            }
            ExprKind::Every(every) => {
                let mut binding = hoist(self.locals, &mut every.domain);
                binding.with.clone_from(&expr.with);
                self.expr(&mut binding, body);
                body.push(binding);
                self.body(&mut every.body);
                return;
            }
            ExprKind::Not(not) => self.body(&mut not.body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                // chains nest in the left operand
                stack::level(|| self.body(&mut logical.lhs));
                self.body(&mut logical.rhs);
            }
            ExprKind::Some(_) => {}
        }
        add_modifiers(&expr.with, body.get_mut(start..).unwrap_or_default());
    }

    /// Moves calls out of a term into `support`, innermost first.
    fn term(&mut self, term: &mut Term, support: &mut Body) {
        arrange(term);
        let span = term.span;
        match &mut term.kind {
            TermKind::Call(terms) => {
                for operand in terms.iter_mut().skip(1) {
                    self.term(operand, support);
                }
                let result = Term::var(self.locals.fresh(), span);
                let mut terms = mem::take(terms).into_vec();
                terms.push(result.clone());
                support.push(Expr {
                    generated: true,
                    ..Expr::new(ExprKind::Call(terms), span)
                });
                *term = result;
            }
            TermKind::Ref(terms) => {
                for part in terms.iter_mut() {
                    self.term(part, support);
                }
                if let Some(subject) = terms.first_mut()
                    && subject.as_var().is_none()
                    && !subject.is_scalar()
                {
                    support.push(hoist(self.locals, subject));
                }
            }
            TermKind::Array(terms) | TermKind::Set(terms) => {
                for element in terms {
                    self.term(element, support);
                }
            }
            TermKind::Object(pairs) => {
                for (key, value) in pairs {
                    self.term(key, support);
                    self.term(value, support);
                }
            }
            _ => {
                if let Some(inner) = comprehension(term) {
                    let mut support = Vec::new();
                    for head in inner.key.iter_mut().chain([&mut inner.head]) {
                        self.term(head, &mut support);
                    }
                    append(&mut inner.body, support);
                    self.body(&mut inner.body);
                }
            }
        }
    }
}

/// Adds the modifiers of an expression to the expressions generated for it, so that they see the same documents.
fn add_modifiers(with: &[With], exprs: &mut [Expr]) {
    if !with.is_empty() {
        for expr in exprs {
            expr.with = with.to_vec();
        }
    }
}
