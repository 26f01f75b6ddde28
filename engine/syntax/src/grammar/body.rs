//! Bodies: literals separated by semicolons or line ends.

use nom::Parser;
use nom::sequence::delimited;

use super::literal::{literal, would_be_membership};
use super::stream::{Stream, token};
use super::{Parsed, nested};
use crate::ast::{Body, Expr};
use crate::lexer::Kind;

/// Parses literals up to a closing token, which is not consumed.
pub(super) fn body(input: Stream<'_>, end: Kind) -> Parsed<'_, Body> {
    nested(input, |input| literals(input, end, Separation::Lines))
}

/// Parses `{ … }` as a body, never as a set or an object.
pub(super) fn braced_body(input: Stream<'_>) -> Parsed<'_, Body> {
    let literals_of_body = |input| body(input, Kind::RBrace);
    delimited(token(Kind::LBrace), literals_of_body, token(Kind::RBrace)).parse(input)
}

/// Parses a statement of a query: literals separated by semicolons.
pub(super) fn statement(input: Stream<'_>) -> Parsed<'_, Body> {
    literals(input, Kind::Eof, Separation::Semicolons)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separation {
    Lines,
    Semicolons,
}

fn literals(input: Stream<'_>, end: Kind, separation: Separation) -> Parsed<'_, Body> {
    if input.is_kind(end) {
        return Err(input.complain(input.span(), "found empty body"));
    }
    let mut body = Vec::new();
    let mut stream = input;
    loop {
        let (rest, expr) = literal(stream)?;
        append(&mut body, expr);
        if rest.is_kind(Kind::Semicolon) {
            stream = rest.next();
            continue;
        }
        if rest.is_kind(end) || separation == Separation::Semicolons {
            return Ok((rest, body));
        }
        if !rest.token().newline {
            // the error of the unfinished expression has been reported
            if input.session.has_reports() {
                return Err(rest.failure());
            }
            hint_at_keyword(rest);
            return Err(rest.expected(&format!("expected \\n or ; or {}", end.name())));
        }
        stream = rest;
    }
}

/// If a name precedes the current token where an operator belongs, adds a hint which import would make the name an
/// operator.
fn hint_at_keyword(input: Stream<'_>) {
    if input.session.has_hints() {
        return;
    }
    let name = match input.kind() {
        Kind::Ident => input.text(),
        // `key, value in xs`
        Kind::Comma if would_be_membership(input.next_quietly()) => "in",
        _ => return,
    };
    let (keyword, example) = match name {
        "in" => (name, "x in xs"),
        "and" => (name, "x and y"),
        "or" => (name, "x or y"),
        _ => return,
    };
    input.session.hint(format!(
        "`import future.keywords.{keyword}` for `{example}` expressions"
    ));
}

pub(super) fn append(body: &mut Body, mut expr: Expr) {
    expr.index = u32::try_from(body.len()).unwrap_or(u32::MAX);
    body.push(expr);
}
