//! RewriteEquals: `==` compares as `=` does once safety is known. It may not bind, so this waits for safety.
//!
//! Queries keep `==`: there its `false` is an answer.

use solon_syntax::ast::visit::{Exprs, Flow, WalkMut};
use solon_syntax::ast::{Expr, ExprKind, Term};

use crate::compile::Compilation;

/// Turns calls of `equal` into calls of `eq`.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    compilation.modules.walk_mut(&mut Exprs(|expr: &mut Expr| {
        if let ExprKind::Call(terms) = &mut expr.kind
            && let [operator, _, _] = terms.as_mut_slice()
            && operator.is_operator("equal")
        {
            *operator = Term::operator("eq", operator.span);
        }
        Flow::Into
    }));
}
