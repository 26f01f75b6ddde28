//! Template strings: texts and expressions in braces.

use super::Parsed;
use super::literal::literal;
use super::stream::{Failure, Stream, stopped_at};
use crate::ast::{Expr, ExprKind, Template, TemplatePart, Term, TermKind};
use crate::lexer::{Kind, decode_template};

/// Parses `$"… {expression} …"`. Fails if the features of the options exclude it.
pub(super) fn template(input: Stream<'_>) -> Parsed<'_, Term> {
    let span = input.span();
    if !input.session.options.features().template_strings {
        return Err(input.complain(
            span,
            "template strings are not supported by current capabilities",
        ));
    }
    let multi_line = matches!(input.kind(), Kind::RawTemplatePart | Kind::RawTemplateEnd);
    let mut parts = Vec::new();
    let mut stream = input;
    loop {
        if !matches!(
            stream.kind(),
            Kind::TemplatePart | Kind::TemplateEnd | Kind::RawTemplatePart | Kind::RawTemplateEnd
        ) {
            return Err(stream.complain(stream.span(), "expected template-string part"));
        }
        if let Some(text) = text_part(stream)? {
            parts.push(TemplatePart::Term(text));
        }
        if matches!(stream.kind(), Kind::TemplateEnd | Kind::RawTemplateEnd) {
            let rest = stream.next();
            let kind = TermKind::Template(Box::new(Template { parts, multi_line }));
            return Ok((rest, Term::new(kind, rest.span_since(span))));
        }
        let (rest, part) = expression_part(stream.next())?;
        parts.push(part);
        stream = rest;
    }
}

/// Returns the literal text of a part token, or `None` if it is empty.
fn text_part(stream: Stream<'_>) -> Result<Option<Term>, Failure<'_>> {
    let literal = stream.text();
    // the first part has `$"` before its text; later ones have no prefix, because the brace is a token of its own
    let first = stream.token().link == 0;
    let inner = literal
        .get(if first { 2 } else { 0 }..literal.len() - 1)
        .unwrap_or("");
    let raw = matches!(stream.kind(), Kind::RawTemplatePart | Kind::RawTemplateEnd);
    match decode_template(inner, raw) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => Ok(Some(Term::string(text, stream.span()))),
        Err(_) => {
            let (opening, part) = if first {
                ("", literal.get(1..).unwrap_or(""))
            } else {
                ("}", literal)
            };
            let part = part.replace("\\{", "{");
            Err(stream.complain(
                stream.span(),
                format!("illegal template-string part: {opening}{part}"),
            ))
        }
    }
}

fn expression_part(input: Stream<'_>) -> Parsed<'_, TemplatePart> {
    let (rest, expr) = match literal(input) {
        Ok(parsed) => parsed,
        Err(error) => {
            let stream = stopped_at(&error, input);
            return Err(stream.complain(stream.span(), "invalid template-string expression"));
        }
    };
    if let Some(reason) = rejection_reason(&expr) {
        return Err(rest.complain(
            expr.span,
            format!("unexpected {reason} in template-string expression"),
        ));
    }
    if !rest.is_kind(Kind::RBrace) {
        return Err(rest.complain(rest.span(), "expected } to end template string expression"));
    }
    // a comment before an expression prevents folding it into the text, so that printing retains the comment
    let commented = input
        .session
        .text(input.end_before(), input.token().start)
        .contains('#');
    let part = match expr {
        Expr {
            kind: ExprKind::Term(term),
            ..
        } if term.is_scalar() && !commented => TemplatePart::Term(term),
        expr => TemplatePart::Expr(expr),
    };
    Ok((rest.next(), part))
}

fn rejection_reason(expr: &Expr) -> Option<&'static str> {
    if expr.negated {
        return Some("negation ('not')");
    }
    match &expr.kind {
        ExprKind::Call(_) if expr.operands_of("eq").is_some() => Some("unification ('=')"),
        ExprKind::Call(_) if expr.operands_of("assign").is_some() => Some("assignment (':=')"),
        ExprKind::Every(_) => Some("'every'"),
        ExprKind::Some(_) => Some("'some'"),
        _ => None,
    }
}
