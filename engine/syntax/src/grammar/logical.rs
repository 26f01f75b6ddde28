//! `and`, `or`, and the composite `not`.
//!
//! Their operands are expressions, groups in parentheses, or bodies in braces. All three need an import. Without it,
//! none of these functions is called.

use super::Parsed;
use super::body::braced_body;
use super::group::group;
use super::literal::{connective, modifiers};
use super::misuse::{Ambiguity, braces_of_value, modifier_on_operand, reject_void_calls};
use super::operand::operand;
use super::peak::Peak;
use super::stream::{Failure, Stream};
use crate::ast::{Body, Expr, ExprKind, Logical, Term, TermKind};
use crate::dialect::Keywords;
use crate::lexer::Kind;
use crate::source::Span;

/// An operand of `and`, `or` or `not`, as a body.
pub(super) struct Operand {
    pub body: Body,
    /// `true` if the operand was written in braces.
    pub explicit: bool,
    pub span: Span,
}

impl Operand {
    /// Returns the operand with the span of the parentheses around it.
    pub(super) fn grouped(self, span: Span) -> Self {
        Self {
            explicit: false,
            span,
            ..self
        }
    }

    pub(super) fn from_expr(expr: Expr) -> Self {
        let span = expr.span;
        Self {
            body: vec![expr],
            explicit: false,
            span,
        }
    }
}

/// Returns `true` if `and` or `or` is a keyword here. Otherwise they are names.
pub(super) fn in_force(input: Stream<'_>) -> bool {
    input.session.has_keyword(Keywords::AND.with(Keywords::OR))
}

/// Returns `true` if `not` accepts bodies and groups.
pub(super) fn not_in_force(input: Stream<'_>) -> bool {
    input.session.has_keyword(Keywords::NOT)
}

pub(super) fn is_connective(input: Stream<'_>) -> bool {
    matches!(input.kind(), Kind::LogicalAnd | Kind::LogicalOr)
}

/// Parses a literal whose left operand is a body or a group.
pub(super) fn leading_operand(
    input: Stream<'_>,
) -> Result<Option<(Stream<'_>, Expr)>, Failure<'_>> {
    match input.kind() {
        Kind::LBrace => leading_body(input),
        Kind::LParen => match group(input, false, "")? {
            (rest, Some(operand)) => chain_or_modifiers(rest, operand).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Parses braces at the start of a literal as an operand if a connective follows them.
fn leading_body(input: Stream<'_>) -> Result<Option<(Stream<'_>, Expr)>, Failure<'_>> {
    let session = input.session;
    let before = session.checkpoint();
    match session.attempt(|| braced_body(input)) {
        Ok((rest, body)) if is_connective(rest) => {
            if let Some(ambiguity) = Ambiguity::in_operand(input, rest, &body, "") {
                return Err(ambiguity.complain(rest));
            }
            let operand = Operand {
                body,
                explicit: true,
                span: rest.span_since(input.span()),
            };
            chain_or_modifiers(rest, operand).map(Some)
        }
        _ => {
            session.roll_back(before);
            Ok(None)
        }
    }
}

/// Completes a literal that begins with an operand: with connectives and more operands, or with modifiers.
pub(super) fn chain_or_modifiers(input: Stream<'_>, operand: Operand) -> Parsed<'_, Expr> {
    let (rest, mut expr) = match operand {
        operand if is_connective(input) => chain(input, operand)?,
        Operand { body, .. } => match body.into_iter().next() {
            Some(expr) => (input, expr),
            None => return Err(input.failure()),
        },
    };
    let (rest, _) = modifiers(rest, &mut expr)?;
    Ok((rest, expr))
}

/// Continues after an expression that may be the left operand of a connective.
pub(super) fn continued(
    input: Stream<'_>,
    mut expr: Expr,
    start: Span,
    modified: Option<Span>,
    negated: bool,
) -> Parsed<'_, Expr> {
    if !is_connective(input) {
        return Ok((input, expr));
    }
    let name = input.kind().name();
    if let Some(with) = modified {
        return Err(modifier_on_operand(input, with, name));
    }
    expr.span = input.span_since(start);
    let text = input.session.text(expr.span.start, expr.span.end);
    if !negated && text.starts_with('{') {
        let is_empty = matches!(&expr.kind, ExprKind::Term(Term { kind: TermKind::Object(pairs), .. }) if pairs.is_empty());
        if is_empty {
            return Err(input.complain(expr.span, "found empty body"));
        }
        return Err(braces_of_value(input, expr.span, text, name));
    }
    chain_or_modifiers(input, Operand::from_expr(expr))
}

/// Parses connectives and operands after a left operand, and measures their nesting. `and` binds tighter than `or`.
/// Only right operands are a level deeper: left operands nest as those of operators do.
pub(super) fn chain(input: Stream<'_>, lhs: Operand) -> Parsed<'_, Expr> {
    let (mut stream, mut lhs) = conjunction(input, lhs)?;
    while stream.is_kind(Kind::LogicalOr) {
        let height = input.session.measure();
        let (rest, rhs) = operand(stream.next(), Some("or"))?;
        let (rest, rhs) = conjunction(rest, rhs)?;
        (stream, lhs) = join(rest, stream, lhs, rhs, height)?;
    }
    match lhs.body.into_iter().next() {
        Some(expr) => Ok((stream, expr)),
        None => Err(stream.failure()),
    }
}

fn conjunction(input: Stream<'_>, lhs: Operand) -> Parsed<'_, Operand> {
    let (mut stream, mut lhs) = (input, lhs);
    while stream.is_kind(Kind::LogicalAnd) {
        let height = input.session.measure();
        let (rest, rhs) = operand(stream.next(), Some("and"))?;
        (stream, lhs) = join(rest, stream, lhs, rhs, height)?;
    }
    Ok((stream, lhs))
}

/// Joins two operands. `peak` is the height of the left one. The right one was measured last.
fn join<'a>(
    rest: Stream<'a>,
    connective_at: Stream<'a>,
    lhs: Operand,
    rhs: Operand,
    peak: Peak,
) -> Parsed<'a, Operand> {
    let (_, kind) = connective(connective_at)?;
    reject_void_calls(rest, &lhs.body, kind.name());
    reject_void_calls(rest, &rhs.body, kind.name());
    // bodies add a level of their own
    let session = rest.session;
    let fits = session.grow(connective_at) && session.grow(connective_at);
    session.merge(peak);
    if !(fits && session.link(connective_at)) {
        return Err(rest.failure());
    }
    let span = rest.span_since(lhs.span);
    let logical = Box::new(Logical {
        lhs: lhs.body,
        rhs: rhs.body,
        explicit_lhs: lhs.explicit,
        explicit_rhs: rhs.explicit,
        span,
    });
    let kind = if kind == Kind::LogicalAnd {
        ExprKind::And(logical)
    } else {
        ExprKind::Or(logical)
    };
    Ok((rest, Operand::from_expr(Expr::new(kind, span))))
}
