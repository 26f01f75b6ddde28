//! `and`, `or`, and the composite `not`.
//!
//! Their operands are expressions, groups in parentheses, or bodies in braces. All three need an import, and where
//! none is in force nothing here is reached.

use super::body::braced_body;
use super::infix::infix;
use super::literal::{connective, expression, is_negation, modifiers};
use super::stream::{Stop, Stream};
use super::term::term;
use super::{Parsed, nested};
use crate::ast::{Body, Expr, ExprKind, Logical, Not, Term, TermKind};
use crate::dialect::{Keywords, is_void_builtin};
use crate::lexer::Kind;
use crate::source::Span;

/// An operand of `and`, `or` or `not`.
pub(super) struct Operand {
    pub body: Body,
    /// Written in braces.
    pub explicit: bool,
    pub span: Span,
}

impl Operand {
    pub(super) fn of(expr: Expr) -> Self {
        let span = expr.span;
        Self {
            body: vec![expr],
            explicit: false,
            span,
        }
    }
}

/// Whether `and` or `or` is a keyword.
pub(super) fn in_force(input: Stream<'_>) -> bool {
    input.session.has_keyword(Keywords::AND.with(Keywords::OR))
}

/// Whether `not` takes bodies and groups.
pub(super) fn not_in_force(input: Stream<'_>) -> bool {
    input.session.has_keyword(Keywords::NOT)
}

fn is_connective(input: Stream<'_>) -> bool {
    matches!(input.kind(), Kind::LogicalAnd | Kind::LogicalOr)
}

type Failure<'a> = nom::Err<Stop<'a>>;

/// Reads a literal that begins with a body or a group as its left operand.
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

/// Braces at the start of a literal are an operand if a connective follows them.
fn leading_body(input: Stream<'_>) -> Result<Option<(Stream<'_>, Expr)>, Failure<'_>> {
    let session = input.session;
    let before = session.checkpoint();
    match session.attempt(|| braced_body(input)) {
        Ok((rest, body)) if is_connective(rest) => {
            if let Some(ambiguity) = Ambiguity::of(input, rest, &body, "") {
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

/// Ends a literal that is an operand so far: with connectives and more operands, or with modifiers.
pub(super) fn chain_or_modifiers<'a>(input: Stream<'a>, operand: Operand) -> Parsed<'a, Expr> {
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

/// Goes on behind an expression that may be the left operand of a connective.
pub(super) fn continued<'a>(
    input: Stream<'a>,
    mut expr: Expr,
    start: Span,
    modified: Option<Span>,
    negated: bool,
) -> Parsed<'a, Expr> {
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
    chain_or_modifiers(input, Operand::of(expr))
}

/// Reads connectives and operands behind a left operand. `and` binds tighter than `or`.
fn chain<'a>(input: Stream<'a>, lhs: Operand) -> Parsed<'a, Expr> {
    let outer = input.session.measure();
    let (mut at, mut lhs) = conjunction(input, lhs)?;
    while at.is(Kind::LogicalOr) {
        let height = input.session.measure();
        let (rest, rhs) = operand(at.next(), Some("or"))?;
        let (rest, rhs) = conjunction(rest, rhs)?;
        input.session.merge(height);
        (at, lhs) = join(rest, at, lhs, rhs)?;
    }
    input.session.merge(outer);
    match lhs.body.into_iter().next() {
        Some(expr) => Ok((at, expr)),
        None => Err(at.failure()),
    }
}

fn conjunction<'a>(input: Stream<'a>, lhs: Operand) -> Parsed<'a, Operand> {
    let (mut at, mut lhs) = (input, lhs);
    while at.is(Kind::LogicalAnd) {
        let height = input.session.measure();
        let (rest, rhs) = operand(at.next(), Some("and"))?;
        input.session.merge(height);
        (at, lhs) = join(rest, at, lhs, rhs)?;
    }
    Ok((at, lhs))
}

/// Makes one expression of two operands.
fn join<'a>(
    rest: Stream<'a>,
    connective_at: Stream<'a>,
    lhs: Operand,
    rhs: Operand,
) -> Parsed<'a, Operand> {
    let (_, kind) = connective(connective_at)?;
    refuse_void_calls(rest, &lhs.body, kind.name());
    refuse_void_calls(rest, &rhs.body, kind.name());
    // bodies are a level of their own
    if !(rest.session.grow(connective_at) && rest.session.grow(connective_at)) {
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
    Ok((rest, Operand::of(Expr::new(kind, span))))
}

/// Reads an operand. `connective` is missing while a group is only tried.
fn operand<'a>(input: Stream<'a>, connective: Option<&str>) -> Parsed<'a, Operand> {
    if input.is(Kind::LBrace) {
        return braced_operand(input, connective);
    }
    let start = input.span();
    let negated = is_negation(input);
    let composite = negated && not_in_force(input);
    let at = if negated { input.next() } else { input };
    if composite && at.is(Kind::LBrace) {
        let (rest, not) = braced_negation(at, start)?;
        return Ok((rest, Operand::of(not)));
    }
    if at.is(Kind::LParen) && in_force(at) && (!negated || composite) {
        if let (rest, Some(group)) = group(at, true, if negated { "not " } else { "" })? {
            return Ok((
                rest,
                if negated {
                    Operand::of(negation(rest, group, start))
                } else {
                    group
                },
            ));
        }
    }
    let (rest, mut expr) = expression(at)?;
    expr.span = rest.span_since(at.span());
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
    Ok((rest, Operand::of(expr)))
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
            if let Some(ambiguity) = Ambiguity::of(input, rest, &operand.body, "") {
                // the operand stands: a group that goes back takes the complaint with it
                let _complained = ambiguity.complain(rest);
            }
            return Ok((rest, operand));
        }
        Err(failure) => failure,
    };
    let (Some(connective), false) = (connective, input.kind_after() == Kind::RBrace) else {
        return Err(failure);
    };
    // perhaps the braces hold a value, which can go on behind them
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

/// `not { … }`, from the brace on.
pub(super) fn braced_negation<'a>(input: Stream<'a>, not: Span) -> Parsed<'a, Expr> {
    let session = input.session;
    let before = session.checkpoint();
    let reports = session.report_count();
    let failure = match session.attempt(|| braced_body(input)) {
        Ok((rest, body)) => {
            if let Some(ambiguity) = Ambiguity::of(input, rest, &body, "not ") {
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
        let what = brace_led(&term).kind.name();
        let message =
            format!("`{{...}}` in an operand position must contain expression(s), got: {what}");
        return Err(rest.complain(input.span(), message));
    }
    session.roll_back(before);
    session.restore_reports(complaints);
    Err(failure)
}

/// The term that the leading brace opens: the leftmost operand.
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

/// Reads `( … )` if it groups operands; answers nothing if it is a term in parentheses.
///
/// `is_operand` says that a connective or `not` already stands before it; `prefix` is what to show of that.
pub(super) fn group<'a>(
    input: Stream<'a>,
    is_operand: bool,
    prefix: &str,
) -> Parsed<'a, Option<Operand>> {
    let session = input.session;
    let before = session.checkpoint();
    let read = session.attempt(|| nested(input, |input| try_group(input, is_operand, prefix)));
    if let Ok((_, None)) = &read {
        session.roll_back(before);
    }
    read
}

fn try_group<'a>(input: Stream<'a>, is_operand: bool, prefix: &str) -> Parsed<'a, Option<Operand>> {
    let before = input.session.checkpoint();
    let inside = input.next();
    if inside.is(Kind::RParen) {
        if is_operand {
            return Err(inside.complain(input.span(), "empty parenthesized group"));
        }
        return Ok((input, None));
    }
    let Ok((rest, mut lhs)) = operand(inside, None) else {
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
    if rest.is(Kind::With) && !lhs.explicit && lhs.body.len() == 1 {
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
        return Ok((
            rest,
            Some(Operand {
                explicit: false,
                span: rest.span_since(input.span()),
                ..lhs
            }),
        ));
    }
    if lhs.explicit {
        // parentheses hold no body, so the braces must be a value
        input.session.roll_back(before);
        let is_value = input.session.try_out(|| term(inside)).is_ok();
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
        return Ok((
            rest,
            Some(Operand {
                explicit: false,
                span: rest.span_since(input.span()),
                ..lhs
            }),
        ));
    }
    Ok((input, None))
}

fn close(input: Stream<'_>) -> Result<Stream<'_>, Failure<'_>> {
    if input.is(Kind::RParen) {
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

fn modifier_on_operand<'a>(at: Stream<'a>, with: Span, name: &str) -> Failure<'a> {
    at.session.hint(format!(
        "Wrap the operand in `(...)` or `{{...}}` to scope, or move `with` after the `{name}` expression to apply it to the whole expression"
    ));
    at.complain(
        with,
        format!("`with` modifier is not allowed on operand of `{name}`"),
    )
}

fn braces_of_value<'a>(at: Stream<'a>, span: Span, text: &str, name: &str) -> Failure<'a> {
    at.session.hint(format!(
        "wrap the operand to keep the value: `({text}) {name} ...`"
    ));
    at.complain(
        span,
        format!("operand of `{name}` cannot begin with `{{` unless the braces hold a body"),
    )
}

/// A body of nothing but calls without a value always holds, which nobody means.
fn refuse_void_calls(at: Stream<'_>, body: &[Expr], connective: &str) {
    let mut first: Option<(String, Span)> = None;
    for expr in body {
        let ExprKind::Call(call) = &expr.kind else {
            return;
        };
        let Some(name) = call.first().and_then(void_name).filter(|_| !expr.negated) else {
            return;
        };
        first.get_or_insert((name, expr.span));
    }
    if let Some((name, span)) = first {
        at.session.hint(format!(
            "`{name}` produces no value and always succeeds, so the operand can never fail; move it out of the operand, or add an expression that can fail"
        ));
        let _complained = at.complain(
            span,
            format!("operand of `{connective}` cannot consist only of calls to `{name}`"),
        );
    }
}

fn void_name(operator: &Term) -> Option<String> {
    let terms = operator.as_ref()?;
    let parts: Vec<&str> = terms
        .iter()
        .filter_map(|term| Some(&**term.as_var().or_else(|| term.as_string())?))
        .collect();
    let name = parts.join(".");
    (parts.len() == terms.len() && is_void_builtin(&name)).then_some(name)
}

/// A braced operand `{ a | b }`, which reads as a body holding a union and as a set comprehension.
struct Ambiguity {
    span: Span,
    hint: String,
}

impl Ambiguity {
    /// Looks at the first expression only: what follows it would be a comprehension's body just as well.
    fn of<'a>(open: Stream<'a>, rest: Stream<'a>, body: &[Expr], prefix: &str) -> Option<Self> {
        let first = body.first()?;
        let ExprKind::Call(call) = &first.kind else {
            return None;
        };
        let operator = call.first().filter(|operator| operator.is_operator("or"))?;
        let session = open.session;
        let written = |span: Span| session.text(span.start, span.end);
        // the call `or(a, b)` and the union in parentheses are plain enough
        if written(operator.span) != "|" || written(first.span).starts_with('(') {
            return None;
        }
        let start = open.span().start;
        let braces = rest.text_since(start);
        let (before, after) = (
            session.text(start, first.span.start),
            session.text(first.span.end, rest.end_before()),
        );
        let union = format!("{before}({}){after}", written(first.span));
        let hint = format!(
            "write `{prefix}({braces})` for the comprehension, or `{prefix}{union}` for the set union"
        );
        Some(Self {
            span: open.span(),
            hint,
        })
    }

    fn complain(self, at: Stream<'_>) -> Failure<'_> {
        at.session.hint(self.hint);
        at.complain(
            self.span,
            "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension",
        )
    }
}
