//! Heads of rules: names, arguments, keys and values.

use super::infix::infix;
use super::stream::{Failure, Stream, stopped_at};
use super::term::{reference, standing_alone};
use super::{Parsed, nested};
use crate::ast::{Head, Ref, Term, TermKind};
use crate::lexer::Kind;
use crate::print::display_ref;
use crate::source::Span;

/// A head, with details of its text that the syntax tree does not keep.
pub(super) struct WrittenHead {
    pub head: Head,
    pub uses_contains: bool,
    /// `true` if no blank separates the name from the text after it, so that the head also parses as a term.
    pub is_term: bool,
    /// `true` if the head has a valid explicit value.
    pub has_value: bool,
}

/// Parses a head up to its key or value.
pub(super) fn head(input: Stream<'_>, default: bool) -> Parsed<'_, WrittenHead> {
    let session = input.session;
    let name = input.variable();
    let stream = input.next();
    let is_term = stream.touches() || !stream.kind().continues_reference();
    let (stream, term) = if stream.touches() && stream.kind().is_infix() {
        // Reported here because `a-b` is not a name and would parse as an expression.
        let _complained = stream.unexpected();
        (stream, standing_alone(name))
    } else if stream.kind().continues_reference() {
        reference(stream, name).map_err(|error| headless(stopped_at(&error, stream)))?
    } else {
        (stream, standing_alone(name))
    };
    // Also for calls without arguments.
    let is_call = matches!(term.kind, TermKind::Call(_));
    let mut head = of_term(stream, term)?;
    head.span = stream.span_since(input.span());
    let reference_text = || display_ref(&head.reference).to_string();
    let mut head_without_value = WrittenHead {
        head: Head::default(),
        uses_contains: false,
        is_term,
        has_value: false,
    };
    let rest = match stream.kind() {
        Kind::Contains => {
            if is_call {
                let name = reference_text();
                let _complained = stream.expected(&format!(
                    "the contains keyword can only be used with multi-value rule definitions (e.g., {name} contains <VALUE> {{ ... }})"
                ));
            }
            head_without_value.uses_contains = true;
            match nested(stream.next(), infix) {
                Ok((rest, key)) => {
                    head.key = Some(key);
                    rest
                }
                Err(error) => {
                    let rest = stopped_at(&error, stream);
                    let name = reference_text();
                    let _complained = rest.expected(&format!(
                        "expected rule key term (e.g., {name} contains <VALUE> {{ ... }})"
                    ));
                    rest
                }
            }
        }
        kind @ (Kind::Unify | Kind::Assign) => {
            head.assign = kind == Kind::Assign;
            let reports = session.report_count();
            match nested(stream.next(), infix) {
                Ok((rest, value)) => {
                    head_without_value.has_value = session.report_count() == reports;
                    head.value = Some(value);
                    rest
                }
                Err(error) => {
                    let rest = stopped_at(&error, stream);
                    let note = missing_value(&head, kind, default);
                    let _complained = rest.expected(&note);
                    rest
                }
            }
        }
        _ => stream,
    };
    head.span = rest.span_since(input.span());
    if !head_without_value.uses_contains
        && head.value.is_none()
        && (head.reference.len() != 2 || !head.args.is_empty())
    {
        head.generated_value = true;
        head.value = Some(Term::new(TermKind::Boolean(true), Span::default()));
    }
    head_without_value.head = head;
    Ok((rest, head_without_value))
}

fn headless(stream: Stream<'_>) -> Failure<'_> {
    stream.expected("expected rule head name")
}

/// Splits a call that was parsed in place of a head into its name and arguments.
pub(super) fn split_call(mut terms: Vec<Term>) -> Option<(Ref, Vec<Term>)> {
    let args = terms.split_off(1.min(terms.len()));
    match terms.pop()?.kind {
        TermKind::Ref(reference) => Some((reference, args)),
        _ => None,
    }
}

/// Converts a term to a head. Fails if no rule can have it as its head.
fn of_term(stream: Stream<'_>, term: Term) -> Result<Head, Failure<'_>> {
    let span = term.span;
    match term.kind {
        TermKind::Call(terms) => {
            let Some((reference, args)) = split_call(terms.into_vec()) else {
                return Err(stream.mismatch());
            };
            if reference
                .first()
                .is_none_or(|first| first.as_var().is_none())
            {
                return Err(stream.expected(&format!(
                    "rule head ref {} invalid",
                    display_ref(&reference)
                )));
            }
            Ok(Head {
                args,
                ..Head::of_reference(reference)
            })
        }
        TermKind::Ref(reference) => Ok(Head::of_reference(reference)),
        kind @ TermKind::Var(_) => Ok(Head::of_reference(vec![Term::new(kind, span)])),
        _ => Err(stream.mismatch()),
    }
}

fn missing_value(head: &Head, kind: Kind, default: bool) -> String {
    let name = display_ref(&head.reference);
    if kind == Kind::Unify {
        // The key is not known at this point, so OPA's message contains `<nil>`.
        format!("expected rule value term (e.g., {name}[<nil>] = <VALUE> {{ ... }})")
    } else if !head.args.is_empty() {
        format!("expected function value term (e.g., {name}(...) := <VALUE> {{ ... }})")
    } else if default {
        format!("expected default rule value term (e.g., default {name} := <VALUE>)")
    } else {
        format!("expected rule value term (e.g., {name} := <VALUE> {{ ... }})")
    }
}

impl Head {
    /// Returns a head that consists of a reference only. A reference with one term is a name, too.
    pub(super) fn of_reference(reference: Vec<Term>) -> Self {
        let name = match reference.as_slice() {
            [name_term] => name_term.as_var().cloned(),
            _ => None,
        };
        Self {
            name,
            reference,
            ..Self::default()
        }
    }
}
