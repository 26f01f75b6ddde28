//! Terms that must not be moved into or out of the scope of `with` modifiers.

use solon_syntax::ast::visit::{Descent, Terms, Walk as _};
use solon_syntax::ast::{Term, TermKind};

/// Returns `true` if a term may have another value where `targets` are replaced.
pub fn is_shadowed(value: &Term, targets: &[Term]) -> bool {
    if targets.is_empty() {
        return false;
    }
    let mut found = false;
    value.walk(&mut Terms(|term: &Term| {
        found |= match &term.kind {
            TermKind::Ref(terms) => is_replaced(terms, targets),
            TermKind::Var(_) => is_replaced(std::slice::from_ref(term), targets),
            TermKind::Call(terms) => terms.first().is_some_and(|operator| {
                let name = operator.to_string();
                targets.iter().any(|target| target.to_string() == name)
            }),
            _ => false,
        };
        if found { Descent::Over } else { Descent::Into }
    }));
    found
}

/// Returns `true` if a reference leads into a replaced document, around it, or to rules, which may read any document.
fn is_replaced(reference: &[Term], targets: &[Term]) -> bool {
    let root = |terms: &[Term]| terms.first().and_then(Term::as_var).cloned();
    match root(reference).as_deref() {
        Some("data") => true,
        Some("input") => targets.iter().any(|target| {
            let target = match &target.kind {
                TermKind::Ref(terms) => terms,
                _ => std::slice::from_ref(target),
            };
            let steps = reference.iter().zip(target).skip(1);
            root(target).as_deref() == Some("input")
                && steps
                    .filter(|(step, _)| is_known(step))
                    .all(|(step, other)| step == other)
        }),
        _ => false,
    }
}

fn is_known(step: &Term) -> bool {
    step.is_scalar()
}
