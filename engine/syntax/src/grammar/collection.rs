//! Arrays, sets, objects and comprehensions.
//!
//! A first term followed by `|` begins a comprehension, unless the text after the bar is not a body: then the bar is a
//! union. To limit the cost of the second attempt, the first term is parsed once and passed to both.

use super::body::body;
use super::infix::{element, element_from};
use super::peak::Peak;
use super::stream::{Failure, Stream, stopped_at};
use super::term::term;
use super::{Parsed, distinct};
use crate::ast::{Body, Children, Comprehension, Term, TermKind};
use crate::lexer::{Inside, Kind};
use crate::source::Span;

/// Parses `[ … ]`: an array or an array comprehension.
pub(super) fn array(input: Stream<'_>) -> Parsed<'_, Term> {
    let open = OpenBracket::new(input);
    let inner = input.next();
    if inner.is_kind(Kind::RBracket) {
        return Ok(open.close(inner, TermKind::Array(Children::new())));
    }
    let (inner, may_comprehend) = leading_comma(inner);
    let outer = input.session.measure();
    let (rest, head) = term(inner)?;
    if rest.is_kind(Kind::Pipe)
        && may_comprehend
        && let Some((rest, body)) = open.comprehension(rest, Kind::RBracket)?
    {
        input.session.merge(outer);
        let inner = Comprehension {
            key: None,
            head,
            body,
        };
        let kind = TermKind::ArrayComprehension(Box::new(inner));
        return Ok((rest, open.term(rest, kind)));
    }
    let (rest, first) = first_element(rest, head, outer)?;
    let (rest, terms) = more_elements(rest, Kind::RBracket, vec![first])?;
    Ok((rest, open.term(rest, TermKind::Array(terms.into()))))
}

/// Parses `{ … }`: an object, a set, or a comprehension of either.
pub(super) fn set_or_object(input: Stream<'_>) -> Parsed<'_, Term> {
    let open = OpenBracket::new(input);
    let inner = input.next();
    if inner.is_kind(Kind::RBrace) {
        return Ok(open.close(inner, TermKind::Object(Children::new())));
    }
    let (inner, may_comprehend) = leading_comma(inner);
    let outer = input.session.measure();
    let (rest, head) = term(inner)?;
    match rest.kind() {
        Kind::Colon => {
            input.session.merge(outer);
            return object(rest, head, open, may_comprehend);
        }
        Kind::Pipe if may_comprehend => {
            if let Some((rest, body)) = open.comprehension(rest, Kind::RBrace)? {
                input.session.merge(outer);
                let inner = Comprehension {
                    key: None,
                    head,
                    body,
                };
                let kind = TermKind::SetComprehension(Box::new(inner));
                return Ok((rest, open.term(rest, kind)));
            }
            let (rest, first) = first_element(rest, head, outer)?;
            let (rest, terms) = more_elements(rest, Kind::RBrace, vec![first])?;
            let kind = TermKind::Set(distinct::members(terms).into());
            return Ok((rest, open.term(rest, kind)));
        }
        _ => {}
    }
    let (rest, first) = first_element(rest, head, outer)?;
    match rest.kind() {
        Kind::RBrace | Kind::Comma => {
            let (rest, terms) = more_elements(rest, Kind::RBrace, vec![first])?;
            Ok((
                rest,
                open.term(rest, TermKind::Set(distinct::members(terms).into())),
            ))
        }
        // `{a + 1: b | …}`
        Kind::Colon => object(rest, first, open, may_comprehend),
        _ => Err(rest.expected("non-terminated set")),
    }
}

/// Parses an object or object comprehension, starting at the colon after its first key.
fn object<'a>(
    input: Stream<'a>,
    key: Term,
    open: OpenBracket<'a>,
    may_comprehend: bool,
) -> Parsed<'a, Term> {
    let session = input.session;
    let inner = input.next();
    let outer = session.measure();
    let (rest, value) = term(inner)?;
    if rest.is_kind(Kind::Pipe) && may_comprehend {
        let before = session.checkpoint();
        match session.attempt(|| body(rest.next(), Kind::RBrace)) {
            Ok((rest, body)) => {
                session.merge(outer);
                let rest = rest.next();
                let inner = Comprehension {
                    key: Some(key),
                    head: value,
                    body,
                };
                return Ok((
                    rest,
                    open.term(rest, TermKind::ObjectComprehension(Box::new(inner))),
                ));
            }
            Err(_) => session.roll_back(before),
        }
    }
    let (rest, value) = first_element(rest, value, outer)?;
    if !matches!(rest.kind(), Kind::RBrace | Kind::Comma) {
        return Err(rest.expected("non-terminated object"));
    }
    let (rest, pairs) = more_pairs(rest, vec![(key, value)])?;
    Ok((rest, open.term(rest, TermKind::Object(pairs.into()))))
}

/// Continues with the first element, whose first term may be followed by a bar that did not begin a comprehension.
fn first_element(input: Stream<'_>, head: Term, outer: Peak) -> Parsed<'_, Term> {
    if input.is_kind(Kind::Pipe) {
        let session = input.session;
        session.attempt(|| element_from(input, head, outer))
    } else {
        element_from(input, head, outer)
    }
}

/// Accepts a comma before the first element, for backward compatibility. With such a comma it cannot be a
/// comprehension.
fn leading_comma(input: Stream<'_>) -> (Stream<'_>, bool) {
    if input.is_kind(Kind::Comma) {
        (input.next(), false)
    } else {
        (input, true)
    }
}

/// Parses elements up to a closing token, and consumes that token.
pub(super) fn elements(
    input: Stream<'_>,
    end: Kind,
    mut terms: Vec<Term>,
) -> Parsed<'_, Vec<Term>> {
    let mut stream = input;
    loop {
        if stream.is_kind(end) {
            return Ok((stream.next(), terms));
        }
        let (rest, term) = element(stream)?;
        terms.push(term);
        stream = separator(rest, end)?;
    }
}

/// Continues after the first elements.
fn more_elements(input: Stream<'_>, end: Kind, terms: Vec<Term>) -> Parsed<'_, Vec<Term>> {
    let stream = separator(input, end)?;
    elements(stream, end, terms)
}

fn more_pairs(input: Stream<'_>, mut pairs: Vec<(Term, Term)>) -> Parsed<'_, Vec<(Term, Term)>> {
    let mut stream = separator(input, Kind::RBrace)?;
    loop {
        if stream.is_kind(Kind::RBrace) {
            return Ok((stream.next(), pairs));
        }
        let (rest, key) = element(stream)?;
        if !rest.is_kind(Kind::Colon) {
            return Err(rest.expected("expected \":\""));
        }
        let (rest, value) = element(rest.next())?;
        pairs.push((key, value));
        stream = separator(rest, Kind::RBrace)?;
    }
}

/// Consumes a comma. Does not consume the end.
fn separator(input: Stream<'_>, end: Kind) -> Result<Stream<'_>, Failure<'_>> {
    match input.kind() {
        Kind::Comma => Ok(input.next()),
        kind if kind == end => Ok(input),
        _ => Err(input.expected(&format!("expected \",\" or \"{}\"", end.name()))),
    }
}

#[derive(Clone, Copy)]
struct OpenBracket<'a> {
    input: Stream<'a>,
    span: Span,
}

impl<'a> OpenBracket<'a> {
    fn new(input: Stream<'a>) -> Self {
        Self {
            input,
            span: input.span(),
        }
    }

    fn term(&self, rest: Stream<'a>, kind: TermKind) -> Term {
        Term::new(kind, rest.span_since(self.span))
    }

    fn close(&self, end: Stream<'a>, kind: TermKind) -> (Stream<'a>, Term) {
        let rest = end.next();
        (rest, self.term(rest, kind))
    }

    /// Parses a comprehension's body, starting at the bar, and the closing bracket. Returns `None` if the bar is a
    /// union.
    fn comprehension(
        &self,
        bar: Stream<'a>,
        end: Kind,
    ) -> Result<Option<(Stream<'a>, Body)>, Failure<'a>> {
        let session = self.input.session;
        let parse = || body(bar.next(), end);
        let before = session.checkpoint();
        // without a comma between these brackets hardly anything is parsed a second time
        let outcome = if self.input.token().inside.has(Inside::COMMA) {
            session.attempt(parse)
        } else {
            parse()
        };
        match outcome {
            Ok((rest, body)) => Ok(Some((rest.next(), body))),
            Err(error) if stopped_at(&error, bar).is_kind(Kind::Comma) => {
                session.roll_back(before);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
