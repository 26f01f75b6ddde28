//! Errors of the operands of `and`, `or` and `not`, with suggestions.

use super::stream::{Failure, Stream};
use crate::ast::{Expr, ExprKind, Term};
use crate::dialect::is_void_builtin;
use crate::source::Span;

pub(super) fn modifier_on_operand<'a>(stream: Stream<'a>, with: Span, name: &str) -> Failure<'a> {
    stream.session.hint(format!(
        "Wrap the operand in `(...)` or `{{...}}` to scope, or move `with` after the `{name}` expression to apply it to the whole expression"
    ));
    stream.complain(
        with,
        format!("`with` modifier is not allowed on operand of `{name}`"),
    )
}

pub(super) fn braces_of_value<'a>(
    stream: Stream<'a>,
    span: Span,
    text: &str,
    name: &str,
) -> Failure<'a> {
    stream.session.hint(format!(
        "wrap the operand to keep the value: `({text}) {name} ...`"
    ));
    stream.complain(
        span,
        format!("operand of `{name}` cannot begin with `{{` unless the braces hold a body"),
    )
}

/// Rejects a body that consists only of calls without a result: it is always true, which is never intended.
pub(super) fn reject_void_calls(stream: Stream<'_>, body: &[Expr], connective: &str) {
    let mut first: Option<(String, Span)> = None;
    for expr in body {
        let ExprKind::Call(call) = &expr.kind else {
            return;
        };
        let Some(name) = call.first().and_then(void_name).filter(|_| !expr.negated) else {
            return;
        };
        first.get_or_insert((name, expr.span));
    }
    if let Some((name, span)) = first {
        stream.session.hint(format!(
            "`{name}` produces no value and always succeeds, so the operand can never fail; move it out of the operand, or add an expression that can fail"
        ));
        let _complained = stream.complain(
            span,
            format!("operand of `{connective}` cannot consist only of calls to `{name}`"),
        );
    }
}

fn void_name(operator: &Term) -> Option<String> {
    let terms = operator.as_ref()?;
    let parts: Vec<&str> = terms
        .iter()
        .filter_map(|term| Some(&**term.as_var().or_else(|| term.as_string())?))
        .collect();
    let name = parts.join(".");
    (parts.len() == terms.len() && is_void_builtin(&name)).then_some(name)
}

/// A braced operand `{ a | b }`, which parses both as a body with a union and as a set comprehension.
pub(super) struct Ambiguity {
    span: Span,
    hint: String,
}

impl Ambiguity {
    /// Checks the first expression only, because a comprehension's body could follow it just as well.
    pub(super) fn in_operand<'a>(
        open: Stream<'a>,
        rest: Stream<'a>,
        body: &[Expr],
        prefix: &str,
    ) -> Option<Self> {
        let first = body.first()?;
        let ExprKind::Call(call) = &first.kind else {
            return None;
        };
        let operator = call.first().filter(|operator| operator.is_operator("or"))?;
        let session = open.session;
        let source_text = |span: Span| session.text(span.start, span.end);
        // the call `or(a, b)` and a union in parentheses are not ambiguous
        if source_text(operator.span) != "|" || source_text(first.span).starts_with('(') {
            return None;
        }
        let start = open.span().start;
        let braces = rest.text_since(start);
        let (before, after) = (
            session.text(start, first.span.start),
            session.text(first.span.end, rest.end_before()),
        );
        let union = format!("{before}({}){after}", source_text(first.span));
        let hint = format!(
            "write `{prefix}({braces})` for the comprehension, or `{prefix}{union}` for the set union"
        );
        Some(Self {
            span: open.span(),
            hint,
        })
    }

    pub(super) fn complain(self, stream: Stream<'_>) -> Failure<'_> {
        stream.session.hint(self.hint);
        stream.complain(
            self.span,
            "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension",
        )
    }
}
