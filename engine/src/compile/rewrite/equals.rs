//! RewriteEquals: `==` compares as `=` does once safety is known. It may not bind, so this waits for safety.
//!
//! Queries keep `==`: there its `false` is an answer.

use solon_syntax::ast::visit::{Exprs, Flow, WalkMut};
use solon_syntax::ast::{Expr, ExprKind, Term};

use crate::compile::facts::Facts;
use crate::compile::{Compilation, QueryCompilation};

/// Turns calls of `equal` into calls of `eq`.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut rewriter = Exprs(|expr: &mut Expr| {
        unify(expr);
        Flow::Into
    });
    for rule in compilation.modules.rules_with_mut(Facts::EQUAL) {
        rule.walk_mut(&mut rewriter);
    }
}

/// The same for the expressions of a query that is evaluated partially. What is undefined in a negated comparison
/// makes it undefined, and would make a negated equation hold.
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
