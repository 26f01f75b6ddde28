//! RewriteToCaptureValue: binds the values of a query's expressions.
//!
//! `data.p; count(x)` becomes `data.p = a; count(x, b); a; b`. A single expression that cannot iterate may be false.
//! Among several expressions, or under iteration, each must be true, hence the expressions at the end.

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Term, TermKind};

use super::number;
use crate::compile::QueryCompilation;
use crate::compile::functions::{CallTarget, CallableFunctions};

/// Prefix of the names of captured values.
const PREFIX: &str = "$term";

/// Adds a variable for the value of each expression that has one.
pub fn rewrite(query: &mut QueryCompilation<'_>) {
    if !query.capture {
        return;
    }
    let functions = CallableFunctions::new(query.options, &query.compiled.rule_tree);
    let must_hold = query.body.len() > 1 || iterates(&query.body);
    let mut captured = Vec::new();
    for expr in &mut query.body {
        let variable = Term::var(format!("{PREFIX}{}", captured.len() + 1), expr.span);
        if capture(expr, &variable, functions) {
            captured.push(Expr {
                generated: true,
                ..Expr::new(ExprKind::Term(variable), expr.span)
            });
        }
    }
    if must_hold {
        query.body.extend(captured);
        number(&mut query.body);
    }
}

/// Returns the variable that holds the captured value of an expression of the query, or `None` if none was captured.
pub fn captured(expr: &Expr) -> Option<&Name> {
    match &expr.kind {
        ExprKind::Call(terms) if !expr.generated => {
            let last = terms.last()?.as_var()?;
            last.starts_with(PREFIX).then_some(last)
        }
        _ => None,
    }
}

fn capture(expr: &mut Expr, variable: &Term, functions: CallableFunctions<'_>) -> bool {
    if expr.negated {
        return false;
    }
    match &mut expr.kind {
        ExprKind::Term(term) => {
            let term = std::mem::take(term);
            let operator = Term::operator("eq", expr.span);
            expr.kind = ExprKind::Call(vec![operator, term, variable.clone()]);
            true
        }
        ExprKind::Call(terms) => {
            let Some((operator, operands)) = terms.split_first() else {
                return false;
            };
            let has_value = !operator.is_operator("assign")
                && !operator.is_operator("eq")
                && functions.find(operator).is_some_and(|callee| {
                    let void =
                        matches!(callee, CallTarget::Builtin(function) if function.result.is_none());
                    !void && callee.arity() == operands.len()
                });
            if has_value {
                terms.push(variable.clone());
            }
            has_value
        }
        _ => false,
    }
}

/// Returns `true` if a body has a reference with a variable or calls `walk`, outside of comprehensions.
fn iterates(body: &Body) -> bool {
    let mut occurs = false;
    body.walk(&mut Terms(|term: &Term| {
        match &term.kind {
            TermKind::Ref(terms) => {
                let mut operands = terms.iter().skip(1);
                occurs = occurs
                    || term.is_operator("walk")
                    || operands.any(|operand| operand.as_var().is_some());
            }
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => return Descent::Over,
            _ => {}
        }
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}
