//! Terms without operators: literals, references and calls.

use nom::Parser;
use nom::branch::alt;
use nom::combinator::{map, value};

use super::collection::{array, elements, set_or_object};
use super::infix::infix;
use super::scalar::{number, string};
use super::stream::{Stream, stopped_at, token};
use super::template::template;
use super::{Parsed, nested};
use crate::ast::{Children, Ref, Term, TermKind};
use crate::lexer::Kind;
use crate::source::Span;

/// Parses a term and the references and calls that continue it.
pub(super) fn term(input: Stream<'_>) -> Parsed<'_, Term> {
    let reports = input.session.report_count();
    let outcome = read(input);
    if let Err(error) = &outcome
        && stopped_at(error, input).index() == input.index()
    {
        input.session.complain_once(input, reports);
    }
    outcome
}

fn read(input: Stream<'_>) -> Parsed<'_, Term> {
    // where a term is required, `and(` and `or(` are the set functions
    let input = match input.kind() {
        Kind::LogicalAnd | Kind::LogicalOr if directly_before(input, Kind::LParen) => {
            input.as_name()
        }
        _ => input,
    };
    match input.kind() {
        Kind::Null | Kind::True | Kind::False => {
            constant(input).and_then(|(rest, head)| finish(rest, head))
        }
        Kind::Minus => match input.kind_after() {
            Kind::Ident | Kind::Contains => negated_reference(input),
            _ => number(input).and_then(|(rest, head)| finish(rest, head)),
        },
        Kind::Dot | Kind::Number => number(input).and_then(|(rest, head)| finish(rest, head)),
        Kind::String | Kind::RawString => string(input).and_then(|(rest, head)| finish(rest, head)),
        Kind::Ident | Kind::Contains => {
            let head = input.variable();
            finish(input.next(), head)
        }
        Kind::LBracket => bracketed(input, array),
        Kind::LBrace => bracketed(input, set_or_object),
        Kind::LParen => input.session.remember(input, || parenthesised(input)),
        Kind::TemplatePart | Kind::TemplateEnd | Kind::RawTemplatePart | Kind::RawTemplateEnd => {
            bracketed(input, template)
        }
        _ => Err(input.unexpected()),
    }
}

fn directly_before(input: Stream<'_>, kind: Kind) -> bool {
    input.kind_after() == kind && !input.session.token(input.index() + 1).spaced
}

fn constant(input: Stream<'_>) -> Parsed<'_, Term> {
    let span = input.span();
    map(
        alt((
            value(TermKind::Null, token(Kind::Null)),
            value(TermKind::Boolean(true), token(Kind::True)),
            value(TermKind::Boolean(false), token(Kind::False)),
        )),
        |kind| Term::new(kind, span),
    )
    .parse(input)
}

fn bracketed<'a>(input: Stream<'a>, parse: fn(Stream<'a>) -> Parsed<'a, Term>) -> Parsed<'a, Term> {
    input.session.remember(input, || {
        let (rest, head) = nested(input, parse)?;
        finish(rest, head)
    })
}

/// Parses `-x.y` as `0 - x.y`.
fn negated_reference(input: Stream<'_>) -> Parsed<'_, Term> {
    let session = input.session;
    let span = input.span();
    let name = input.next();
    let outer = session.measure();
    let head = name.variable();
    let (rest, operand) = finish(name.next(), head)?;
    if !session.grow(input) {
        return Err(rest.failure());
    }
    session.merge(outer);
    let zero = Term::new(TermKind::Number("0".into()), span);
    let operator = Term::new(
        TermKind::Ref(vec![Term::var(session.operator(Kind::Minus), span)]),
        span,
    );
    Ok((
        rest,
        Term::call(vec![operator, zero, operand], rest.span_since(span)),
    ))
}

/// Parses `( … )`. The term keeps its own row and column, while its text includes the parentheses.
fn parenthesised(input: Stream<'_>) -> Parsed<'_, Term> {
    let (rest, mut term) = nested(input.next(), infix)?;
    if !rest.is_kind(Kind::RParen) {
        return Err(rest.complain(rest.span(), "non-terminated expression"));
    }
    let rest = rest.next();
    let span = term.span;
    term.span.start = input.span().start;
    term.span.end = rest.end_before();
    if rest.continues_reference() {
        check_head(rest, &term, span);
        operands(rest, term)
    } else {
        Ok((rest, standing_alone(term)))
    }
}

/// Parses the text after the head of a reference.
fn finish(input: Stream<'_>, head: Term) -> Parsed<'_, Term> {
    if input.continues_reference() {
        reference(input, head)
    } else {
        Ok((input, standing_alone(head)))
    }
}

/// Converts root documents to references, even without operands.
pub(super) fn standing_alone(head: Term) -> Term {
    match head.as_var().map(|name| &**name) {
        Some("input" | "data") => {
            let span = head.span;
            Term::new(TermKind::Ref(vec![head]), span)
        }
        _ => head,
    }
}

/// Parses a reference or call, starting after its head.
pub(super) fn reference(input: Stream<'_>, head: Term) -> Parsed<'_, Term> {
    check_head(input, &head, head.span);
    operands(input, head)
}

/// Reports a head that does not support lookups. Parsing continues.
fn check_head(input: Stream<'_>, head: &Term, span: Span) {
    match head.kind {
        TermKind::Var(_)
        | TermKind::Array(_)
        | TermKind::Object(_)
        | TermKind::Set(_)
        | TermKind::ArrayComprehension(_)
        | TermKind::ObjectComprehension(_)
        | TermKind::SetComprehension(_)
        | TermKind::Call(_) => {}
        _ => {
            let message = format!("illegal ref (head cannot be {})", head.kind.name());
            input.session.report(span, message);
        }
    }
}

/// Parses `.name`, `[term]` and `(terms)` after a head, as long as no blank separates them.
fn operands(input: Stream<'_>, head: Term) -> Parsed<'_, Term> {
    let outer = input.session.measure();
    let start = head.span;
    let mut stream = input;
    // most references are short
    let mut path = Vec::with_capacity(3);
    path.push(head);
    // a blank may separate the first token from a rule's name
    let mut touches = true;
    while touches {
        match stream.kind() {
            Kind::Dot => {
                let (rest, part) = part(stream.next_directly())?;
                path.push(part);
                stream = rest;
            }
            Kind::LBracket => {
                let (rest, operand) = nested(stream.next(), infix)?;
                if !rest.is_kind(Kind::RBracket) {
                    return Err(rest.expected("expected ["));
                }
                path.push(operand);
                stream = rest.next();
            }
            Kind::LParen => {
                let (rest, call) = call(stream, path, start)?;
                if !rest.touches() || !matches!(rest.kind(), Kind::Dot | Kind::LBracket) {
                    input.session.merge(outer);
                    return Ok((rest, call));
                }
                if !input.session.grow(rest) {
                    return Err(rest.failure());
                }
                path = vec![call];
                stream = rest;
            }
            _ => break,
        }
        touches = stream.touches();
    }
    input.session.merge(outer);
    Ok((
        stream,
        Term::new(TermKind::Ref(path), stream.span_since(start)),
    ))
}

/// Parses the name after a dot.
fn part(input: Stream<'_>) -> Parsed<'_, Term> {
    if input.is_kind(Kind::Ident) || input.is_reference_keyword() {
        Ok((input.next(), Term::string(input.word(), input.span())))
    } else {
        Err(input.expected("expected identifier"))
    }
}

/// Parses `path(…)`, starting at the parenthesis. `set()` is the empty set.
fn call(input: Stream<'_>, path: Ref, start: Span) -> Parsed<'_, Term> {
    let operator = Term::new(TermKind::Ref(path), input.span_since(start));
    let inner = input.next();
    if inner.is_kind(Kind::RParen) {
        let rest = inner.next();
        let span = rest.span_since(start);
        let term = if operator.is_operator("set") {
            Term::new(TermKind::Set(Children::new()), span)
        } else {
            Term::call(vec![operator], span)
        };
        return Ok((rest, term));
    }
    let (rest, terms) = nested(inner, |inner| elements(inner, Kind::RParen, vec![operator]))?;
    Ok((rest, Term::call(terms, rest.span_since(start))))
}
