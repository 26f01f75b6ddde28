//! RewriteEquals: `==` becomes `=`. Since `==` must not bind variables, this runs after the safety check.
//!
//! Queries keep `==`, because its `false` is a result there.

use solon_syntax::ast::visit::{Descent, Exprs, WalkMut};
use solon_syntax::ast::{Expr, ExprKind, Term};

use crate::compile::facts::Facts;
use crate::compile::{Compilation, QueryCompilation};

/// Replaces calls of `equal` by calls of `eq`.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut rewriter = Exprs(|expr: &mut Expr| {
        unify(expr);
        Descent::Into
    });
    for rule in compilation.modules.rules_with_mut(Facts::EQUAL) {
        rule.walk_mut(&mut rewriter);
    }
}

/// Replaces calls of `equal` in a query for partial evaluation, except negated ones: an undefined operand makes a
/// negated comparison undefined, but a negated equation true.
pub fn rewrite_query(compilation: &mut QueryCompilation<'_>) {
    if compilation.unify_equals {
        let body = compilation.body.iter_mut();
        body.filter(|expr| !expr.negated).for_each(unify);
    }
}

fn unify(expr: &mut Expr) {
    if let ExprKind::Call(terms) = &mut expr.kind
        && let [operator, _, _] = terms.as_mut_slice()
        && operator.is_operator("equal")
    {
        *operator = Term::operator("eq", operator.span);
    }
}
