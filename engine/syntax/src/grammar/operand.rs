//! Operands of `and`, `or` and the composite `not`: expressions, groups and bodies.

use super::Parsed;
use super::body::braced_body;
use super::group::group;
use super::infix::infix;
use super::literal::{expression, is_negation};
use super::logical::{Operand, in_force, not_in_force};
use super::misuse::{Ambiguity, braces_of_value};
use super::stream::Stream;
use crate::ast::{Expr, ExprKind, Not, Term, TermKind};
use crate::lexer::Kind;
use crate::source::Span;

/// Parses an operand. `connective` is `None` during an attempt to parse a group.
pub(super) fn operand<'a>(input: Stream<'a>, connective: Option<&str>) -> Parsed<'a, Operand> {
    if input.is_kind(Kind::LBrace) {
        return braced_operand(input, connective);
    }
    let start = input.span();
    let negated = is_negation(input);
    let composite = negated && not_in_force(input);
    let stream = if negated { input.next() } else { input };
    if composite && stream.is_kind(Kind::LBrace) {
        let (rest, not) = braced_negation(stream, start)?;
        return Ok((rest, Operand::from_expr(not)));
    }
    if stream.is_kind(Kind::LParen)
        && in_force(stream)
        && (!negated || composite)
        && let (rest, Some(group)) = group(stream, true, if negated { "not " } else { "" })?
    {
        return Ok((
            rest,
            if negated {
                Operand::from_expr(negation(rest, group, start))
            } else {
                group
            },
        ));
    }
    let (rest, mut expr) = expression(stream)?;
    expr.span = rest.span_since(stream.span());
    if composite {
        let span = expr.span;
        expr = negation(
            rest,
            Operand {
                body: vec![expr],
                explicit: false,
                span,
            },
            start,
        );
    } else if negated {
        expr.negated = true;
    }
    Ok((rest, Operand::from_expr(expr)))
}

fn negation(rest: Stream<'_>, operand: Operand, not: Span) -> Expr {
    let span = rest.span_since(not);
    let kind = Not {
        body: operand.body,
        explicit_body: operand.explicit,
        span,
    };
    Expr::new(ExprKind::Not(Box::new(kind)), span)
}

fn braced_operand<'a>(input: Stream<'a>, connective: Option<&str>) -> Parsed<'a, Operand> {
    let session = input.session;
    let before = session.checkpoint();
    let reports = session.report_count();
    let failure = match session.attempt(|| braced_body(input)) {
        Ok((rest, body)) => {
            let operand = Operand {
                body,
                explicit: true,
                span: rest.span_since(input.span()),
            };
            if let Some(ambiguity) = Ambiguity::in_operand(input, rest, &operand.body, "") {
                // the operand stays: a group that backtracks withdraws the error with it
                let _complained = ambiguity.complain(rest);
            }
            return Ok((rest, operand));
        }
        Err(failure) => failure,
    };
    let (Some(connective), false) = (connective, input.kind_after() == Kind::RBrace) else {
        return Err(failure);
    };
    // the braces may be a value that continues after them
    let complaints = session.take_reports(reports);
    session.roll_back(before);
    let before = session.checkpoint();
    if let Ok((rest, _)) = session.attempt(|| infix(input)) {
        let text = rest.text_since(input.span().start);
        return Err(braces_of_value(rest, input.span(), text, connective));
    }
    session.roll_back(before);
    session.restore_reports(complaints);
    Err(failure)
}

/// Parses `not { … }`, starting at the brace. Ambiguous braces are an error.
pub(super) fn braced_negation(input: Stream<'_>, not: Span) -> Parsed<'_, Expr> {
    let session = input.session;
    let before = session.checkpoint();
    let reports = session.report_count();
    let failure = match session.attempt(|| braced_body(input)) {
        Ok((rest, body)) => {
            if let Some(ambiguity) = Ambiguity::in_operand(input, rest, &body, "not ") {
                return Err(ambiguity.complain(rest));
            }
            let operand = Operand {
                body,
                explicit: true,
                span: input.span(),
            };
            return Ok((rest, negation(rest, operand, not)));
        }
        Err(failure) => failure,
    };
    if input.kind_after() == Kind::RBrace {
        return Err(failure);
    }
    let complaints = session.take_reports(reports);
    session.roll_back(before);
    let before = session.checkpoint();
    if let Ok((rest, term)) = session.attempt(|| infix(input)) {
        let text = rest.text_since(input.span().start);
        session.hint(format!(
            "write `not ({text})` to negate the value, or `not {{{text}}}` for a body holding it"
        ));
        let term_kind = brace_led(&term).kind.name();
        let message = format!(
            "`{{...}}` in an operand position must contain expression(s), got: {term_kind}"
        );
        return Err(rest.complain(input.span(), message));
    }
    session.roll_back(before);
    session.restore_reports(complaints);
    Err(failure)
}

/// Returns the term that begins with the leading brace: the leftmost operand.
fn brace_led(term: &Term) -> &Term {
    let mut term = term;
    while let TermKind::Call(call) = &term.kind {
        match call.as_slice() {
            [operator, lhs, _] if INFIX.iter().any(|name| operator.is_operator(name)) => term = lhs,
            [operator, lhs, _, _] if operator.is_operator("internal.member_3") => term = lhs,
            _ => break,
        }
    }
    term
}

const INFIX: [&str; 16] = [
    "internal.member_2",
    "equal",
    "neq",
    "lt",
    "gt",
    "lte",
    "gte",
    "or",
    "and",
    "plus",
    "minus",
    "mul",
    "div",
    "rem",
    "eq",
    "assign",
];
