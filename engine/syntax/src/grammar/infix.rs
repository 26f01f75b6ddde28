//! Terms joined by operators.
//!
//! Precedence from lowest to highest: `in`; comparisons; `|`; `&`; `+` and `-`; `*`, `/` and `%`. All operators are
//! left-associative. If the right operand cannot be parsed, the left operand is returned and the error is reported.

use nom::Parser;
use nom::sequence::preceded;

use super::Parsed;
use super::peak::Peak;
use super::stream::{Stream, stopped_at, token};
use super::term::term;
use crate::ast::{Term, TermKind};
use crate::lexer::Kind;
use crate::source::Span;

/// Precedence of an operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Relation,
    Union,
    Intersection,
    Sum,
    Product,
    /// Higher than every operator.
    Operand,
}

impl Level {
    fn from_kind(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Equal
            | Kind::NotEqual
            | Kind::Less
            | Kind::Greater
            | Kind::LessEqual
            | Kind::GreaterEqual => Some(Self::Relation),
            Kind::Pipe => Some(Self::Union),
            Kind::Ampersand => Some(Self::Intersection),
            Kind::Plus | Kind::Minus => Some(Self::Sum),
            Kind::Times | Kind::Divide | Kind::Remainder => Some(Self::Product),
            _ => None,
        }
    }

    fn tighter(self) -> Self {
        match self {
            Self::Relation => Self::Union,
            Self::Union => Self::Intersection,
            Self::Intersection => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product | Self::Operand => Self::Operand,
        }
    }
}

/// Parses a term where `key, value in xs` is allowed.
pub(super) fn infix(input: Stream<'_>) -> Parsed<'_, Term> {
    let outer = input.session.measure();
    let start = input.offset();
    let (rest, lhs) = comparison(input)?;
    let (rest, lhs) = paired_membership(rest, lhs, start)?;
    let result = membership(rest, lhs, start);
    input.session.merge(outer);
    result
}

/// Parses a term where a comma separates elements.
pub(super) fn element(input: Stream<'_>) -> Parsed<'_, Term> {
    let outer = input.session.measure();
    let start = input.offset();
    let (rest, lhs) = comparison(input)?;
    let result = membership(rest, lhs, start);
    input.session.merge(outer);
    result
}

/// Continues with an element whose first term has been parsed.
pub(super) fn element_from(input: Stream<'_>, head: Term, outer: Peak) -> Parsed<'_, Term> {
    let start = head.span.start;
    let (rest, lhs) = operators(input, head, Level::Relation, start)?;
    let result = membership(rest, lhs, start);
    input.session.merge(outer);
    result
}

/// Parses a term up to a possible `in`.
fn comparison(input: Stream<'_>) -> Parsed<'_, Term> {
    binary(input, Level::Relation)
}

fn binary(input: Stream<'_>, loosest: Level) -> Parsed<'_, Term> {
    let start = input.offset();
    let (rest, lhs) = term(input)?;
    if Level::from_kind(rest.kind()).is_none() {
        return Ok((rest, lhs));
    }
    operators(rest, lhs, loosest, start)
}

/// Parses operators of at least the precedence `loosest` after a left operand.
fn operators(input: Stream<'_>, lhs: Term, loosest: Level, start: u32) -> Parsed<'_, Term> {
    let session = input.session;
    let (mut stream, mut lhs) = (input, lhs);
    let mut tightest = Level::Product;
    while let Some(level) = Level::from_kind(stream.kind())
        && level >= loosest
        && level <= tightest
    {
        let span = stream.span();
        let operator = Term::new(
            TermKind::Ref(vec![Term::var(session.operator(stream.kind()), span)]),
            span,
        );
        let height = session.measure();
        match right_side(stream.next(), level.tighter()) {
            Ok((rest, rhs)) => {
                session.merge(height);
                if !session.link(stream) {
                    return Err(stream.failure());
                }
                lhs = call(rest, lhs, start, |lhs| vec![operator, lhs, rhs]);
                stream = rest;
                tightest = level;
            }
            Err(error) => {
                session.merge(height);
                stream = stopped_at(&error, stream);
                let Some(looser) = looser(level) else { break };
                tightest = looser;
            }
        }
    }
    Ok((stream, lhs))
}

fn right_side(input: Stream<'_>, loosest: Level) -> Parsed<'_, Term> {
    if loosest == Level::Operand {
        term(input)
    } else {
        binary(input, loosest)
    }
}

fn looser(level: Level) -> Option<Level> {
    match level {
        Level::Relation => None,
        Level::Union => Some(Level::Relation),
        Level::Intersection => Some(Level::Union),
        Level::Sum => Some(Level::Intersection),
        Level::Product | Level::Operand => Some(Level::Sum),
    }
}

fn call(rest: Stream<'_>, lhs: Term, start: u32, terms: impl FnOnce(Term) -> Vec<Term>) -> Term {
    let span = Span {
        start,
        end: rest.end_before(),
        ..lhs.span
    };
    Term::call(terms(lhs), span)
}

/// Parses `, value in xs` after a key. Without the `in` the comma is not consumed.
fn paired_membership(input: Stream<'_>, key: Term, start: u32) -> Parsed<'_, Term> {
    if !input.is_kind(Kind::Comma) {
        return Ok((input, key));
    }
    let session = input.session;
    let before = session.checkpoint();
    let height = session.measure();
    let mut pair = preceded(
        token(Kind::Comma),
        (comparison, token(Kind::In), comparison),
    );
    let outcome = session.attempt(|| pair.parse(input));
    session.merge(height);
    let Ok((rest, (value, keyword, domain))) = outcome else {
        session.roll_back(before);
        return Ok((input, key));
    };
    let span = session.span_of(&keyword);
    if !session.link(input) {
        return Err(rest.failure());
    }
    let operator = Term::operator("internal.member_3", span);
    Ok((
        rest,
        call(rest, key, start, |key| vec![operator, key, value, domain]),
    ))
}

/// Parses any number of `in xs` after an element.
fn membership(input: Stream<'_>, lhs: Term, start: u32) -> Parsed<'_, Term> {
    let session = input.session;
    let (mut stream, mut lhs) = (input.name_if_reference(), lhs);
    while stream.is_kind(Kind::In) {
        let operator = Term::operator("internal.member_2", stream.span());
        let height = session.measure();
        let outcome = comparison(stream.next());
        session.merge(height);
        match outcome {
            Ok((rest, rhs)) => {
                if !session.link(stream) {
                    return Err(stream.failure());
                }
                lhs = call(rest, lhs, start, |lhs| vec![operator, lhs, rhs]);
                stream = if rest.is_kind(Kind::In) {
                    rest.name_if_reference()
                } else {
                    rest
                };
            }
            Err(error) => return Ok((stopped_at(&error, stream), lhs)),
        }
    }
    Ok((stream, lhs))
}
