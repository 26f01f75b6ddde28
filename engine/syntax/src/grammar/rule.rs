//! Rules: heads, bodies, `else`, and further bodies.

use super::alternative::attach_else;
use super::body::braced_body;
use super::checks::{self, Keyword};
use super::head::{WrittenHead, head};
use super::literal::literal;
use super::stream::{Failure, Stream};
use super::{Parsed, nested};
use crate::ast::visit::{Descent, VisitorMut, WalkMut};
use crate::ast::{Body, Expr, ExprKind, Head, Rule, Term, TermKind};
use crate::lexer::{Inside, Kind};
use crate::source::Span;
use crate::stack;

use super::errors::Report;

/// A rule, and the errors that v1 reports about its notation.
pub(super) struct Draft {
    pub rule: Rule,
    pub complaints: Vec<Report>,
}

/// Parses a rule with its further bodies. Fails without a report if the text is not a rule, or is a rule without a
/// body, because the latter parses as an expression, too.
pub(super) fn rules(input: Stream<'_>) -> Parsed<'_, Vec<Draft>> {
    let start = input.span();
    let mut stream = input.name_if_reference();
    let default = stream.is_kind(Kind::Default);
    if default {
        stream = stream.next().name_if_reference();
    }
    reject_keyword(stream, default)?;
    if !stream.is_kind(Kind::Ident) {
        return Err(input.mismatch());
    }
    let (rest, written_head) = head(stream, default)?;
    if default {
        let rule = default_rule(rest, written_head, start)?;
        return Ok((rest, vec![rule]));
    }
    let keyword = Keyword {
        is_if: rest.is_kind(Kind::If),
        is_contains: written_head.uses_contains,
    };
    if !keyword.is_if && !written_head.uses_contains && !rest.is_kind(Kind::LBrace) {
        return without_body(input, rest, written_head);
    }
    let WrittenHead {
        mut head,
        uses_contains,
        ..
    } = written_head;
    if !uses_contains && !complete(&mut head, keyword.is_if) {
        return Err(rest.mismatch());
    }
    let (rest, body) = match rest.kind() {
        Kind::If => if_body(rest.next())?,
        Kind::LBrace => braced_body(rest)?,
        _ => {
            let body = vec![generated_true(start)];
            let span = head.span;
            let rule = new_rule(head, body, span);
            let complaints = checks::complaints(&rule, keyword);
            return Ok((rest, vec![Draft { rule, complaints }]));
        }
    };
    let mut rule = new_rule(head, body, start);
    let (rest, else_complaints) = attach_else(rest, &mut rule)?;
    rule.span = rest.span_since(start);
    let mut complaints = checks::complaints(&rule, keyword);
    complaints.extend(else_complaints);
    let mut drafts = vec![Draft { rule, complaints }];
    let rest = further_bodies(rest, &mut drafts, keyword)?;
    Ok((rest, drafts))
}

pub(super) fn new_rule(head: Head, body: Body, span: Span) -> Rule {
    Rule {
        default: false,
        head,
        body,
        else_rule: None,
        annotations: Vec::new(),
        span,
    }
}

/// Reports a keyword that is used as a rule's name.
fn reject_keyword(stream: Stream<'_>, default: bool) -> Result<(), Failure<'_>> {
    let kind = stream.kind();
    let after = stream.kind_after();
    let assigns = matches!(after, Kind::Assign | Kind::Unify);
    let defines = matches!(after, Kind::If | Kind::Contains);
    let calls = after == Kind::LParen;
    let is_name = match kind {
        Kind::Package | Kind::Import => default || assigns || calls,
        Kind::As | Kind::Some | Kind::In | Kind::Every | Kind::If => {
            default || assigns || defines || calls
        }
        Kind::Not | Kind::LogicalAnd | Kind::LogicalOr => default || assigns || defines,
        // otherwise it parses as a variable, and is rejected as a name later
        Kind::Contains => default || defines,
        _ => false,
    };
    if is_name {
        return Err(stream.complain(
            stream.span(),
            format!("{} keyword cannot be used for rule name", kind.name()),
        ));
    }
    Ok(())
}

/// Completes a head without a body. It is a rule if it has a value; otherwise the text parses as an expression.
fn without_body<'a>(
    input: Stream<'a>,
    rest: Stream<'a>,
    written_head: WrittenHead,
) -> Parsed<'a, Vec<Draft>> {
    let goes_on = matches!(
        rest.kind(),
        Kind::With
            | Kind::Semicolon
            | Kind::LogicalAnd
            | Kind::LogicalOr
            | Kind::Comma
            | Kind::Assign
            | Kind::Unify
    );
    let reads_the_same =
        written_head.has_value && written_head.is_term && !goes_on && !input.session.has_reports();
    if !reads_the_same {
        return Err(input.mismatch());
    }
    let WrittenHead { mut head, .. } = written_head;
    if head
        .reference
        .first()
        .is_none_or(|first| first.as_var().is_none())
    {
        return Err(input.mismatch());
    }
    let Some(value) = &head.value else {
        return Err(input.mismatch());
    };
    let session = input.session;
    let display_span = value.display_span(|span| session.text(span.start, span.end));
    let body = vec![generated_true(display_span)];
    if head.args.is_empty() && head.reference.len() == 2 {
        head.name = head.reference.first().and_then(Term::as_var).cloned();
        head.key = head.reference.get(1).cloned();
    }
    let span = rest.span_since(input.span());
    head.span = span;
    let rule = new_rule(head, body, span);
    let complaints = checks::complaints(&rule, Keyword::default());
    Ok((rest, vec![Draft { rule, complaints }]))
}

fn default_rule(
    rest: Stream<'_>,
    written_head: WrittenHead,
    start: Span,
) -> Result<Draft, Failure<'_>> {
    let head = written_head.head;
    let reports = rest.session.report_count();
    checks::default_rule(&head, |message| rest.session.report(start, message));
    if rest.session.report_count() > reports {
        return Err(rest.failure());
    }
    let mut rule = new_rule(head, vec![generated_true(start)], start);
    rule.default = true;
    let complaints = checks::complaints(
        &rule,
        Keyword {
            is_contains: written_head.uses_contains,
            is_if: false,
        },
    );
    Ok(Draft { rule, complaints })
}

/// Resolves what `p[x]` means before a body: with `if` a rule with one value, otherwise a partial set or object.
/// Returns `false` if the head is invalid.
fn complete(head: &mut Head, has_if: bool) -> bool {
    let [first, last] = head.reference.as_slice() else {
        return true;
    };
    let name = first.as_var().cloned();
    if has_if {
        if head.args.is_empty() && (!is_ground(last) || matches!(last.kind, TermKind::Ref(_))) {
            head.key = Some(last.clone());
        }
        if head.value.is_none() {
            head.generated_value = true;
            head.value = Some(Term::new(TermKind::Boolean(true), head.span));
            return true;
        }
        head.name = name;
        return head.name.is_some();
    }
    if !head.args.is_empty() {
        return true;
    }
    head.name = name;
    head.key = Some(last.clone());
    if head.value.is_none() {
        head.reference.truncate(1);
    }
    head.name.is_some()
}

/// Returns `true` if a term has a single value. Heads of references do not count, and comprehensions are never ground.
pub(super) fn is_ground(term: &Term) -> bool {
    match &term.kind {
        TermKind::Null | TermKind::Boolean(_) | TermKind::Number(_) | TermKind::String(_) => true,
        TermKind::Ref(terms) => terms.iter().skip(1).all(is_ground),
        TermKind::Array(terms) | TermKind::Set(terms) => terms.iter().all(is_ground),
        TermKind::Call(terms) => stack::operands(|| terms.iter().all(is_ground)),
        TermKind::Object(pairs) => {
            let mut pairs = pairs.iter();
            pairs.all(|(key, value)| is_ground(key) && is_ground(value))
        }
        _ => false,
    }
}

/// Parses `if literal` or `if { … }`, starting after the `if`. Braces that also parse as a set are a body.
fn if_body(input: Stream<'_>) -> Parsed<'_, Body> {
    if !input.is_kind(Kind::LBrace) {
        let (rest, expr) = nested(input, literal)?;
        return Ok((rest, vec![expr]));
    }
    if may_be_value(input) {
        let session = input.session;
        let before = session.checkpoint();
        if let Ok((rest, expr)) = session.attempt(|| nested(input, literal))
            && !matches!(
                &expr.kind,
                ExprKind::Term(Term {
                    kind: TermKind::Set(_),
                    ..
                })
            )
        {
            return Ok((rest, vec![expr]));
        }
        session.roll_back(before);
    }
    braced_body(input)
}

/// Returns `true` if braces after `if` may be something other than a body: an object, a comprehension, or the start of
/// a longer expression. In most cases the separators inside them decide that.
fn may_be_value(open: Stream<'_>) -> bool {
    let token = open.token();
    let Some(close) = Some(token.link).filter(|link| *link != 0) else {
        return true;
    };
    let is_empty = close == open.index() + 1;
    is_empty
        || token.inside.has(Inside::COLON)
        || token.inside.has(Inside::PIPE)
        || goes_on(open.jump(close + 1))
}

/// Returns `true` if a token can continue the term before it.
fn goes_on(stream: Stream<'_>) -> bool {
    match stream.kind() {
        Kind::LParen | Kind::Dot | Kind::LBracket => stream.touches(),
        kind if kind.is_infix() => true,
        Kind::Assign
        | Kind::Unify
        | Kind::Comma
        | Kind::In
        | Kind::With
        | Kind::LogicalAnd
        | Kind::LogicalOr => true,
        _ => false,
    }
}

/// Parses further bodies in braces. Each becomes a rule with the same head.
fn further_bodies<'a>(
    input: Stream<'a>,
    drafts: &mut Vec<Draft>,
    keyword: Keyword,
) -> Result<Stream<'a>, Failure<'a>> {
    let mut stream = input;
    while stream.is_kind(Kind::LBrace) {
        let Some(Draft { rule: first, .. }) = drafts.first() else {
            return Ok(stream);
        };
        if first.else_rule.is_some() {
            return Err(stream.complain(stream.span(), "expected else keyword"));
        }
        let (rest, body) = braced_body(stream)?;
        let span = rest.span_since(stream.span());
        let mut head = first.head.clone();
        rename_wildcards(stream, &mut head);
        relocate(&mut head.args, span);
        relocate(&mut head.key, span);
        relocate(&mut head.value, span);
        head.span = span;
        let rule = new_rule(head, body, span);
        let complaints = checks::complaints(&rule, keyword);
        drafts.push(Draft { rule, complaints });
        stream = rest;
    }
    Ok(stream)
}

/// Gives wildcards in copied arguments names of their own.
pub(super) fn rename_wildcards(stream: Stream<'_>, head: &mut Head) {
    for argument in &mut head.args {
        if argument.is_wildcard() {
            argument.kind = TermKind::Var(stream.session.wildcard());
        }
    }
}

/// Sets the spans of all descendants of a node, for nodes that are copied to another place.
pub(super) fn relocate(node: &mut impl WalkMut, span: Span) {
    struct Relocation(Span);
    impl VisitorMut for Relocation {
        fn expr(&mut self, expr: &mut Expr) -> Descent {
            expr.span = self.0;
            Descent::Into
        }

        fn term(&mut self, term: &mut Term) -> Descent {
            term.span = self.0;
            Descent::Into
        }
    }
    node.walk_mut(&mut Relocation(span));
}

/// Returns the body of a rule that has none.
pub(super) fn generated_true(span: Span) -> Expr {
    let kind = ExprKind::Term(Term::new(TermKind::Boolean(true), span));
    Expr {
        generated: true,
        ..Expr::new(kind, span)
    }
}
