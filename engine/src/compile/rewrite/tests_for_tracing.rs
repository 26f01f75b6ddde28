//! RewriteTestRulesForTracing: binds both sides of the equalities of test rules to variables, so that a report of a
//! failed test can show their values. Only on request.

use std::mem;

use solon_syntax::ast::{Body, Expr, ExprKind, TermKind};

use super::{each_branch, hoist, number};
use crate::compile::Compilation;
use crate::compile::locals::Locals;

/// Binds references and comprehensions that are sides of equalities in rules named `test_…`.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    if !compilation.options.trace_tests {
        return;
    }
    let locals = &mut compilation.locals;
    each_branch(&mut compilation.modules, |rule| {
        let name = rule.head.name.as_deref().unwrap_or_default();
        if name.starts_with("test_") {
            rewrite_body(locals, &mut rule.body);
        }
    });
}

fn rewrite_body(locals: &mut Locals, body: &mut Body) {
    let mut rewritten = Vec::with_capacity(body.len());
    for mut expr in mem::take(body) {
        // an undefined side must not fail before a negation
        if !expr.negated && !expr.generated {
            name_sides(locals, &mut expr, &mut rewritten);
        }
        rewritten.push(expr);
    }
    number(&mut rewritten);
    *body = rewritten;
}

fn name_sides(locals: &mut Locals, expr: &mut Expr, body: &mut Body) {
    match &mut expr.kind {
        ExprKind::Every(every) => rewrite_body(locals, &mut every.body),
        ExprKind::Call(terms) => {
            let [operator, left, right] = terms.as_mut_slice() else {
                return;
            };
            if !operator.is_operator("eq") {
                return;
            }
            for side in [left, right] {
                if matches!(side.kind, TermKind::Ref(_)) || side.kind.is_comprehension() {
                    let mut binding = hoist(locals, side);
                    binding.with.clone_from(&expr.with);
                    body.push(binding);
                }
            }
        }
        _ => {}
    }
}
