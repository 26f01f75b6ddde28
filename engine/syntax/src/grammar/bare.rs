//! Rules in the notation of expressions: `p`, `p[x]`, `p := 1`, `f(x)`, `f(x) := y`.

use super::checks::{self, Keyword};
use super::head::split_call;
use super::rule::{Draft, generated_true};
use crate::ast::{Body, Expr, ExprKind, Head, Rule, Term, TermKind};
use crate::dialect::is_builtin;
use crate::print::display_ref;
use crate::source::Span;

/// Converts a statement to a rule, or returns why that is not possible.
pub(super) fn rule(body: Body) -> Result<Draft, String> {
    let mut exprs = body.into_iter();
    let (Some(expr), None) = (exprs.next(), exprs.next()) else {
        return Err("multiple expressions cannot be used for rule head".to_owned());
    };
    let rule = of_expr(expr)?;
    let complaints = checks::complaints(&rule, Keyword::default());
    Ok(Draft { rule, complaints })
}

fn of_expr(expr: Expr) -> Result<Rule, String> {
    if !expr.with.is_empty() {
        return Err("expressions using with keyword cannot be used for rule head".to_owned());
    }
    if expr.negated {
        return Err("negated expressions cannot be used for rule head".to_owned());
    }
    let is_assignment = expr.operands_of("assign").is_some();
    let is_equality = expr.operands_of("eq").is_some();
    match expr.kind {
        ExprKind::Some(_) => Err("'some' declarations cannot be used for rule head".to_owned()),
        ExprKind::Term(term) => of_term(term),
        ExprKind::Call(terms) if is_assignment || is_equality => {
            let mut operands = terms.into_iter().skip(1);
            let (Some(lhs), Some(rhs)) = (operands.next(), operands.next()) else {
                return Err("assignment requires two operands".to_owned());
            };
            let mut rule = of_equation(lhs, rhs)?;
            rule.head.assign = is_assignment;
            rule.head.span = expr.span;
            rule.span = expr.span;
            Ok(rule)
        }
        ExprKind::Call(terms) => of_call(terms),
        _ => Err("expression cannot be used for rule head".to_owned()),
    }
}

fn with_body(head: Head, span: Span, body: Span) -> Rule {
    Rule {
        default: false,
        head: Head { span, ..head },
        body: vec![generated_true(body)],
        else_rule: None,
        annotations: Vec::new(),
        span,
    }
}

fn truth(span: Span) -> Term {
    Term::new(TermKind::Boolean(true), span)
}

/// Converts a term: `p.q.r` has the value `true`, `p[x]` is a partial set.
fn of_term(term: Term) -> Result<Rule, String> {
    let span = term.span;
    let TermKind::Ref(mut reference) = term.kind else {
        return Err(format!("{} cannot be used for rule name", term.kind.name()));
    };
    if reference.len() == 1 {
        return Err("refs cannot be used for rule head".to_owned());
    }
    check_head(&reference)?;
    let head = if reference.len() == 2 {
        let key = reference.pop();
        Head {
            key,
            ..Head::of_reference(reference)
        }
    } else {
        Head {
            value: Some(truth(span)),
            generated_value: true,
            ..Head::of_reference(reference)
        }
    };
    Ok(with_body(head, span, span))
}

/// Converts a call: `f(x)` has the value `true`. The error is OPA's message.
fn of_call(terms: Vec<Term>) -> Result<Rule, String> {
    let mut terms = terms.into_iter();
    let Some(Term {
        kind: TermKind::Ref(reference),
        span,
    }) = terms.next()
    else {
        return Err("expression cannot be used for rule head".to_owned());
    };
    if is_builtin(&display_ref(&reference).to_string()) {
        return Err("rule name conflicts with built-in function".to_owned());
    }
    let args: Vec<Term> = terms.collect();
    if args.is_empty() {
        return Err("rule argument list must take at least one argument".to_owned());
    }
    check_head(&reference)?;
    let head = Head {
        args,
        value: Some(truth(span)),
        ..Head::of_reference(reference)
    };
    Ok(with_body(head, span, span))
}

/// Converts `p := v`, `p[k] := v`, `f(x) := v`, and the same with `=`. The error is OPA's message.
fn of_equation(lhs: Term, rhs: Term) -> Result<Rule, String> {
    let (span, value) = (lhs.span, rhs.span);
    let head = match lhs.kind {
        TermKind::Call(terms) => {
            let Some((reference, args)) = split_call(terms.into_vec()) else {
                return Err("call cannot be used for rule name".to_owned());
            };
            if check_head(&reference).is_err() {
                return Err("call cannot be used for rule name".to_owned());
            }
            Head {
                args,
                ..Head::of_reference(reference)
            }
        }
        TermKind::Ref(reference) => {
            check_head(&reference)?;
            let mut head = Head::of_reference(reference);
            if let [first, last] = head.reference.as_slice() {
                head.name = first.as_var().cloned();
                head.key = Some(last.clone());
            }
            head
        }
        kind @ TermKind::Var(_) => Head::of_reference(vec![Term::new(kind, span)]),
        kind => return Err(format!("{} cannot be used for rule name", kind.name())),
    };
    Ok(with_body(
        Head {
            value: Some(rhs),
            ..head
        },
        span,
        value,
    ))
}

fn check_head(reference: &[Term]) -> Result<(), String> {
    match reference.first() {
        Some(first) if first.as_var().is_some() => Ok(()),
        _ => Err(format!("invalid rule head: {}", display_ref(reference))),
    }
}
