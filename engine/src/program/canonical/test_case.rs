//! Calls that name the cases of a test.

use solon_syntax::ast::{Expr, ExprKind, Term};
use solon_syntax::source::Span;

use crate::builtins::TEST_CASE;

/// Creates the call that the compiler adds to a test, with the keys of the case. Unlike a call of the user, its operator has no span.
pub fn add_test_case(keys: Term, span: Span) -> Expr {
    Expr::new(
        ExprKind::Call(vec![Term::operator(TEST_CASE, Span::default()), keys]),
        span,
    )
}

/// Returns `true` for a call that [`add_test_case`] created.
pub fn is_added_test_case(expr: &Expr) -> bool {
    let ExprKind::Call(terms) = &expr.kind else {
        return false;
    };
    let operator = terms.first();
    operator
        .is_some_and(|operator| operator.span == Span::default() && operator.is_operator(TEST_CASE))
}

#[cfg(test)]
mod tests {
    use solon_syntax::ast::{Expr, Term, TermKind};
    use solon_syntax::source::Span;

    use super::{add_test_case, is_added_test_case};
    use crate::builtins::TEST_CASE;

    #[test]
    fn calls_of_users_have_a_span() {
        let span = Span {
            row: 1,
            ..Span::default()
        };
        let keys = || Term::new(TermKind::Array(Vec::new().into()), Span::default());
        let added = add_test_case(keys(), span);
        assert!(is_added_test_case(&added));
        assert_eq!(added.span, span);
        let written = Expr::generated_call(TEST_CASE, vec![keys()], span);
        assert!(!is_added_test_case(&written));
    }
}
