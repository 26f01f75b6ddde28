//! `else` clauses after a rule.

use super::Parsed;
use super::body::braced_body;
use super::checks::{self, Keyword};
use super::errors::Report;
use super::infix::infix;
use super::literal::literal;
use super::rule::{generated_true, is_ground, new_rule, relocate, rename_wildcards};
use super::stream::Stream;
use crate::ast::{Head, Rule, Term, TermKind};
use crate::lexer::Kind;
use crate::source::Span;

/// Parses `else` after a body, unless it is the name of the next rule.
pub(super) fn attach_else<'a>(input: Stream<'a>, rule: &mut Rule) -> Parsed<'a, Vec<Report>> {
    if !input.is_kind(Kind::Else) || input.is_keyword_of_reference() {
        return Ok((input, Vec::new()));
    }
    if rule.head.reference.len() > 1 && !rule.head.reference.iter().skip(1).all(is_ground) {
        return Err(input.complain(
            input.span(),
            "else keyword cannot be used on rules with variables in head",
        ));
    }
    if rule.head.key.is_some() {
        return Err(input.complain(
            input.span(),
            "else keyword cannot be used on multi-value rules",
        ));
    }
    let (rest, clauses) = else_clauses(input, &rule.head)?;
    let end = rest.end_before();
    let mut complaints = Vec::new();
    let mut chain = None;
    for (mut clause, keyword) in clauses.into_iter().rev() {
        clause.span.end = end;
        // From the last clause to the first, so that the errors stay in source order.
        complaints.splice(0..0, checks::complaints(&clause, keyword));
        clause.else_rule = chain;
        chain = Some(Box::new(clause));
    }
    rule.else_rule = chain;
    Ok((rest, complaints))
}

/// Parses an `else` chain iteratively, because its length is not limited.
fn else_clauses<'a>(input: Stream<'a>, first: &Head) -> Parsed<'a, Vec<(Rule, Keyword)>> {
    let mut clauses: Vec<(Rule, Keyword)> = Vec::new();
    let mut stream = input;
    loop {
        let (rest, (clause, goes_on)) = else_clause(stream, first)?;
        clauses.push(clause);
        stream = rest;
        if !(goes_on && stream.is_kind(Kind::Else)) {
            return Ok((stream, clauses));
        }
    }
}

/// Parses `else` with a value, a body or both. Also returns whether another `else` may follow.
fn else_clause<'a>(input: Stream<'a>, first: &Head) -> Parsed<'a, ((Rule, Keyword), bool)> {
    let start = input.span();
    let mut head = Head {
        generated_value: false,
        span: start,
        ..first.clone()
    };
    rename_wildcards(input, &mut head);
    let stream = input.next();
    let stream = match stream.kind() {
        Kind::LBrace | Kind::If => {
            head.generated_value = true;
            head.value = Some(Term::new(TermKind::Boolean(true), Span::default()));
            stream
        }
        kind @ (Kind::Assign | Kind::Unify) => {
            head.assign = kind == Kind::Assign;
            let (rest, value) = infix(stream.next())?;
            head.value = Some(value);
            head.span = rest.span_since(start);
            rest
        }
        _ => return Err(stream.expected("expected else value term or rule body")),
    };
    let keyword = Keyword {
        is_if: stream.is_kind(Kind::If),
        is_contains: false,
    };
    let body_start = if keyword.is_if { stream.next() } else { stream };
    let (rest, body) = match body_start.kind() {
        Kind::LBrace => braced_body(body_start)?,
        _ if !keyword.is_if => (
            body_start,
            vec![generated_true(body_start.span_since(start))],
        ),
        Kind::Eof => return Err(body_start.expected("rule body expected")),
        _ => {
            let (rest, mut expr) = literal(body_start)?;
            relocate(&mut expr, rest.span_since(start));
            (rest, vec![expr])
        }
    };
    let has_body = body.iter().any(|expr| !expr.generated);
    let rule = new_rule(head, body, rest.span_since(start));
    Ok((rest, ((rule, keyword), has_body)))
}
