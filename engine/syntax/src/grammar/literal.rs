//! Literals, the statements of bodies.

use nom::Parser;
use nom::branch::alt;
use nom::combinator::map;
use nom::multi::{many0, separated_list1};
use nom::sequence::{preceded, separated_pair};

use super::Parsed;
use super::body::braced_body;
use super::group::group;
use super::infix::infix;
use super::logical::{self, Operand};
use super::operand::braced_negation;
use super::stream::{Stream, expect, token};
use super::term::term;
use crate::ast::{Every, Expr, ExprKind, Not, SomeDecl, Term, TermKind, Version, With};
use crate::dialect::Keywords;
use crate::lexer::Kind;
use crate::source::Span;

/// Parses a literal with its modifiers. Its span includes them.
pub(super) fn literal(input: Stream<'_>) -> Parsed<'_, Expr> {
    let outer = input.session.measure();
    let outcome = bare_literal(input);
    input.session.merge(outer);
    let (rest, mut expr) = outcome?;
    expr.span = rest.span_since(input.span());
    // The span of an implicitly negated expression is that of the whole negation.
    if let ExprKind::Not(not) = &mut expr.kind
        && !not.explicit_body
    {
        for inner in &mut not.body {
            inner.span = expr.span;
        }
    }
    Ok((rest, expr))
}

fn bare_literal(input: Stream<'_>) -> Parsed<'_, Expr> {
    if logical::in_force(input)
        && let Some(operand) = logical::leading_operand(input)?
    {
        return Ok(operand);
    }
    if input.is_keyword_of_reference() {
        return plain(input.as_name());
    }
    if !is_negation(input) {
        return match input.kind() {
            Kind::Some => some(input),
            Kind::Every => every(input),
            _ => plain(input),
        };
    }
    let stream = input.next();
    if stream.is_kind(Kind::LBrace) && logical::not_in_force(stream) {
        let (rest, not) = braced_negation(stream, input.span())?;
        return logical::chain_or_modifiers(rest, Operand::from_expr(not));
    }
    match stream.kind() {
        Kind::Some => Err(stream.expected("illegal negation of 'some'")),
        Kind::Every => Err(stream.expected("illegal negation of 'every'")),
        _ => negated(stream, input.span()),
    }
}

/// Returns `true` if the current token is the operator `not`, and not a name as in `not.x`.
pub(super) fn is_negation(input: Stream<'_>) -> bool {
    input.is_kind(Kind::Not)
        && (input.session.token(input.index() + 1).spaced
            || !matches!(input.kind_after(), Kind::Dot | Kind::LBracket))
}

/// Parses an expression without a prefix, and any `and` or `or` after it.
fn plain(input: Stream<'_>) -> Parsed<'_, Expr> {
    let (rest, mut expr) = expression(input)?;
    let (rest, modified) = modifiers(rest, &mut expr)?;
    hint_at_every(input, &expr);
    logical::continued(rest, expr, input.span(), modified, false)
}

/// Parses the operand of `not`, which may be a group or a body in braces if an import allows it.
fn negated(input: Stream<'_>, not: Span) -> Parsed<'_, Expr> {
    let composite = logical::not_in_force(input);
    if composite
        && input.is_kind(Kind::LParen)
        && let (rest, Some(group)) = group(input, true, "not ")?
    {
        let span = rest.span_since(not);
        let kind = Not {
            body: group.body,
            explicit_body: group.explicit,
            span,
        };
        let expr = Expr::new(ExprKind::Not(Box::new(kind)), span);
        return logical::chain_or_modifiers(rest, Operand::from_expr(expr));
    }
    let (rest, mut expr) = expression(input)?;
    let (rest, modified) = modifiers(rest, &mut expr)?;
    hint_at_every(input, &expr);
    if composite {
        // Modifiers belong to the negation.
        let with = std::mem::take(&mut expr.with);
        let span = rest.span_since(not);
        expr.span = span;
        let kind = Not {
            body: vec![expr],
            explicit_body: false,
            span,
        };
        expr = Expr {
            with,
            ..Expr::new(ExprKind::Not(Box::new(kind)), span)
        };
    } else {
        expr.negated = true;
    }
    logical::continued(rest, expr, not, modified, true)
}

/// Parses a term, or two terms joined by `=` or `:=`. The caller sets the span.
pub(super) fn expression(input: Stream<'_>) -> Parsed<'_, Expr> {
    let (rest, lhs) = infix(input)?;
    let name = match rest.kind() {
        Kind::Assign => "assign",
        Kind::Unify => "eq",
        _ => {
            let kind = match lhs.kind {
                TermKind::Call(terms) => ExprKind::Call(terms.into_vec()),
                kind => ExprKind::Term(Term::new(kind, lhs.span)),
            };
            return Ok((rest, Expr::new(kind, rest.span_since(input.span()))));
        }
    };
    let operator = Term::operator(name, rest.span());
    let (rest, rhs) = infix(rest.next())?;
    Ok((
        rest,
        Expr::new(
            ExprKind::Call(vec![operator, lhs, rhs]),
            rest.span_since(input.span()),
        ),
    ))
}

/// Parses `with` modifiers, if any. Returns the location of the first.
pub(super) fn modifiers<'a>(input: Stream<'a>, expr: &mut Expr) -> Parsed<'a, Option<Span>> {
    if !input.is_kind(Kind::With) {
        return Ok((input, None));
    }
    let (rest, with) = many0(modifier).parse(input)?;
    expr.with.extend(with);
    Ok((rest, Some(input.span())))
}

/// Parses `with target as value`.
fn modifier(input: Stream<'_>) -> Parsed<'_, With> {
    let (rest, (target, value)) = preceded(
        token(Kind::With),
        separated_pair(target, expect(Kind::As, "expected as keyword"), infix),
    )
    .parse(input)?;
    let span = rest.span_since(input.span());
    Ok((
        rest,
        With {
            target,
            value,
            span,
        },
    ))
}

fn target(input: Stream<'_>) -> Parsed<'_, Term> {
    if !input.is_kind(Kind::Ident) {
        return Err(input.expected("expected ident"));
    }
    let (rest, target) = term(input)?;
    if !matches!(target.kind, TermKind::Ref(_) | TermKind::Var(_)) {
        // Continues in order to report a missing `as`, too.
        let _complained = rest.expected("expected with target path");
    }
    Ok((rest, target))
}

/// Parses `some x, y` or `some x in xs`, after `some`. Any other call fails.
fn some(input: Stream<'_>) -> Parsed<'_, Expr> {
    let session = input.session;
    let before = session.checkpoint();
    if let Ok((rest, term)) = session.attempt(|| infix(input.next()))
        && let TermKind::Call(call) = &term.kind
    {
        match membership(call) {
            Membership::Value(..) | Membership::Pair(..) => {}
            Membership::Misused => return Err(rest.expected("illegal domain")),
            Membership::No => {
                return Err(rest.expected("expected `x in xs` or `x, y in xs` expression"));
            }
        }
        let declaration = SomeDecl {
            symbols: vec![term],
            span: input.span(),
        };
        let mut expr = Expr::new(ExprKind::Some(declaration), input.span());
        let (rest, _) = modifiers(rest, &mut expr)?;
        return Ok((rest, expr));
    }
    session.roll_back(before);
    hint_at_in(input);
    let (rest, symbols) = preceded(
        token(Kind::Some),
        separated_list1(token(Kind::Comma), declared_var),
    )
    .parse(input)?;
    let span = input.span();
    let declaration = ExprKind::Some(SomeDecl { symbols, span });
    Ok((rest, Expr::new(declaration, span)))
}

fn declared_var(input: Stream<'_>) -> Parsed<'_, Term> {
    map(expect(Kind::Ident, "expected var"), |_| input.variable()).parse(input)
}

/// Parses `every k, v in xs { … }`. Fails if key or value is not a variable.
fn every(input: Stream<'_>) -> Parsed<'_, Expr> {
    let (rest, term) = infix(input.next())?;
    let TermKind::Call(call) = term.kind else {
        return Err(rest.expected("expected `x[, y] in xs { ... }` expression"));
    };
    match membership(&call) {
        Membership::Pair(key, _) if key.as_var().is_none() => {
            return Err(rest.expected("expected key to be a variable"));
        }
        Membership::Value(value) | Membership::Pair(_, value) if value.as_var().is_none() => {
            return Err(rest.expected("expected value to be a variable"));
        }
        Membership::Value(..) | Membership::Pair(..) => {}
        Membership::Misused => return Err(rest.expected("illegal domain")),
        Membership::No => return Err(rest.expected("expected `x[, y] in xs { ... }` expression")),
    }
    if !rest.is_kind(Kind::LBrace) {
        return Err(rest.expected("missing body"));
    }
    let (rest, body) = braced_body(rest)?;
    let mut operands = call.into_vec().into_iter().skip(1);
    let (key, value, domain) = match (operands.next(), operands.next(), operands.next()) {
        (Some(key), Some(value), Some(domain)) => (Some(key), value, domain),
        (Some(value), Some(domain), None) => (None, value, domain),
        _ => return Err(rest.expected("illegal domain")),
    };
    let every = Every {
        key,
        value,
        domain,
        body,
        span: input.span(),
    };
    let mut expr = Expr::new(ExprKind::Every(Box::new(every)), input.span());
    let (rest, _) = modifiers(rest, &mut expr)?;
    Ok((rest, expr))
}

/// Treatment of membership operators in a call.
enum Membership<'t> {
    /// `value in …`.
    Value(&'t Term),
    /// `key, value in …`.
    Pair(&'t Term, &'t Term),
    /// A direct call of the built-in, with operands that the keyword cannot produce.
    Misused,
    No,
}

fn membership(call: &[Term]) -> Membership<'_> {
    match call {
        [operator, operands @ ..] if operator.is_operator("internal.member_2") => match operands {
            [value, _] => Membership::Value(value),
            _ => Membership::Misused,
        },
        [operator, operands @ ..] if operator.is_operator("internal.member_3") => match operands {
            [key, value, _] => Membership::Pair(key, value),
            _ => Membership::Misused,
        },
        _ => Membership::No,
    }
}

/// Adds a hint which import enables `in`. Without it `some x in xs` fails at the `in`.
fn hint_at_in(input: Stream<'_>) {
    let session = input.session;
    if session.options.version == Version::V1 || session.is_pretending() {
        return;
    }
    if would_be_membership(input.next_quietly()) {
        session.hint("`import future.keywords.in` for `some x in xs` expressions");
    }
}

/// Returns `true` if a membership test would start here with all keywords in force.
pub(super) fn would_be_membership(input: Stream<'_>) -> bool {
    let outcome = input.session.pretend(Keywords::ALL, || infix(input));
    match outcome {
        Ok((_, term)) => match term.kind {
            TermKind::Call(call) => !matches!(membership(&call), Membership::No),
            _ => false,
        },
        Err(_) => false,
    }
}

/// Adds a hint which import enables `every`. Without it the word parses as a variable.
fn hint_at_every(input: Stream<'_>, expr: &Expr) {
    let session = input.session;
    let is_every = matches!(&expr.kind, ExprKind::Term(term) if term.as_var().is_some_and(|name| &**name == "every"));
    if !is_every || session.options.version == Version::V1 || session.is_pretending() {
        return;
    }
    if session.pretend(Keywords::ALL, || every(input)).is_ok() {
        session.hint("`import future.keywords.every` for `every x in xs { ... }` expressions");
    }
}

/// Parses `and` or `or`. Fails at any other token.
pub(super) fn connective(input: Stream<'_>) -> Parsed<'_, Kind> {
    alt((token(Kind::LogicalAnd), token(Kind::LogicalOr)))
        .map(|token| token.kind)
        .parse(input)
}
