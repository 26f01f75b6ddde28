//! Parentheses that group operands.

use super::literal::modifiers;
use super::logical::{Operand, chain, is_connective};
use super::misuse::modifier_on_operand;
use super::operand::operand;
use super::stream::{Failure, Stream};
use super::term::term;
use super::{Parsed, nested};
use crate::ast::{Expr, ExprKind};
use crate::lexer::Kind;

/// Parses `( … )` if it groups operands. Returns `None` if it is a term in parentheses.
///
/// `is_operand` is `true` after a connective or `not`; messages then show `prefix`.
pub(super) fn group<'a>(
    input: Stream<'a>,
    is_operand: bool,
    prefix: &str,
) -> Parsed<'a, Option<Operand>> {
    let session = input.session;
    let before = session.checkpoint();
    let outcome = session.attempt(|| nested(input, |input| try_group(input, is_operand, prefix)));
    if let Ok((_, None)) = &outcome {
        session.roll_back(before);
    }
    outcome
}

fn try_group<'a>(input: Stream<'a>, is_operand: bool, prefix: &str) -> Parsed<'a, Option<Operand>> {
    let before = input.session.checkpoint();
    let inner = input.next();
    if inner.is_kind(Kind::RParen) {
        if is_operand {
            return Err(inner.complain(input.span(), "empty parenthesized group"));
        }
        return Ok((input, None));
    }
    let Ok((rest, mut lhs)) = operand(inner, None) else {
        return Ok((input, None));
    };
    if is_connective(rest) {
        let (rest, mut expr) = chain(rest, lhs)?;
        let (rest, _) = modifiers(rest, &mut expr)?;
        let rest = close(rest)?;
        return Ok((
            rest,
            Some(Operand {
                body: vec![expr],
                explicit: false,
                span: rest.span_since(input.span()),
            }),
        ));
    }
    if rest.is_kind(Kind::With) && !lhs.explicit && lhs.body.len() == 1 {
        let with = rest.span();
        let mut rest = rest;
        for expr in &mut lhs.body {
            (rest, _) = modifiers(rest, expr)?;
        }
        if is_connective(rest) {
            return Err(modifier_on_operand(rest, with, rest.kind().name()));
        }
        let rest = close(rest)?;
        if !is_operand && !is_connective(rest) {
            return Ok((input, None));
        }
        return Ok((rest, Some(lhs.grouped(rest.span_since(input.span())))));
    }
    if lhs.explicit {
        // a group cannot contain a body, so the braces must be a value
        input.session.roll_back(before);
        let is_value = input.session.try_out(|| term(inner)).is_ok();
        if is_value {
            return Ok((input, None));
        }
        let braces = rest.text_since(lhs.span.start);
        input.session.hint(format!(
            "drop the parens to keep the body: `{prefix}{braces}`"
        ));
        return Err(rest.complain(
            input.span(),
            "`(...)` in an operand position cannot contain a body",
        ));
    }
    if is_logical(&lhs.body) || is_negated(&lhs.body) {
        let rest = close(rest)?;
        return Ok((rest, Some(lhs.grouped(rest.span_since(input.span())))));
    }
    Ok((input, None))
}

fn close(input: Stream<'_>) -> Result<Stream<'_>, Failure<'_>> {
    if input.is_kind(Kind::RParen) {
        Ok(input.next())
    } else {
        Err(input.complain(input.span(), "expected ) to close parenthesized group"))
    }
}

fn is_logical(body: &[Expr]) -> bool {
    matches!(
        body,
        [Expr {
            kind: ExprKind::And(_) | ExprKind::Or(_),
            ..
        }]
    )
}

fn is_negated(body: &[Expr]) -> bool {
    matches!(body, [expr] if expr.negated || matches!(expr.kind, ExprKind::Not(_)))
}
