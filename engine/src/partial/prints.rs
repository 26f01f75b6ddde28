//! Removal of `print` calls from bodies.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Expr, ExprKind, Name, TermKind, VarScan};

/// Returns a body without calls of `print` and without equations that only they use. Their arguments are in sets, so
/// these equations are always true.
pub fn without_prints(mut body: Body) -> Body {
    let mut shown: BTreeSet<Name> = BTreeSet::new();
    body.retain(|expr| {
        let prints = is_print(expr);
        if prints {
            VarScan::default().collect(expr, &mut shown);
        }
        !prints
    });
    if shown.is_empty() {
        return body;
    }
    let kept = body.clone();
    let is_asked = |name: &Name| {
        let times = |expr: &Expr| {
            let mut times = 0;
            VarScan::default().each(expr, |_, other| times += usize::from(other == name));
            times
        };
        kept.iter().map(times).sum::<usize>() > 1
    };
    body.retain(|expr| {
        let plain = !expr.negated && expr.with.is_empty();
        let Some([left, right]) = expr.operands_of("eq").filter(|_| plain) else {
            return true;
        };
        let named = left.as_var().filter(|name| shown.contains(*name));
        let is_shown = named.is_some_and(|name| !is_asked(name));
        !(is_shown && matches!(right.kind, TermKind::SetComprehension(_)))
    });
    body
}

fn is_print(expr: &Expr) -> bool {
    let ExprKind::Call(terms) = &expr.kind else {
        return false;
    };
    let operator = terms.first();
    !expr.negated && operator.is_some_and(|operator| operator.is_operator("internal.print"))
}
