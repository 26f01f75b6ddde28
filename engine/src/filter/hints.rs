//! Hints for misspelled names: references that are undefined although an unknown has a similar name.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Body, Ref, Term, TermKind};
use solon_syntax::source::Span;

use crate::trace::{Event, EventNode, Observer, Op};

/// Maximum edit distance of a similar name.
const NEAR: usize = 3;

/// Hint for an undefined name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The undefined reference, and similar names.
    pub message: String,
    pub span: Span,
}

/// Observer that collects hints from failing expressions.
pub struct Hints<'u> {
    /// Names of unknowns directly below `input`.
    names: &'u [String],
    /// Hints so far, with the references that they are about.
    hints: Vec<(Ref, Near)>,
}

/// Returns the names of unknowns directly below `input`.
pub fn unknown_names(unknowns: &[Ref]) -> Vec<String> {
    let input_unknowns = unknowns.iter().filter(|unknown| is_input(unknown));
    let names = input_unknowns.filter_map(|unknown| unknown.get(1)?.as_string());
    names.map(ToString::to_string).collect()
}

/// Returns the names directly below `input` that bodies refer to.
pub fn input_names<'b>(bodies: impl Iterator<Item = &'b Body>) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    for body in bodies {
        body.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && is_input(terms)
                && let Some(name) = terms.get(1).and_then(Term::as_string)
                && !members.contains(&**name)
            {
                members.insert(name.to_string());
            }
            Descent::Into
        }));
    }
    members
}

/// Returns `true` if a referenced name is similar to an unknown, so that there may be hints.
pub fn may_hint(members: &BTreeSet<String>, names: &[String]) -> bool {
    members
        .iter()
        .any(|name| !similar_names(name, names).is_empty())
}

impl<'u> Hints<'u> {
    /// Creates a collector for the names of unknowns.
    pub fn new(names: &'u [String]) -> Self {
        Self {
            names,
            hints: Vec::new(),
        }
    }

    /// Returns the hints in the order in which they were found.
    pub fn finish(self) -> Vec<Near> {
        self.hints.into_iter().map(|(_, hint)| hint).collect()
    }
}

impl Observer for Hints<'_> {
    fn wants(&self, op: Op) -> bool {
        op == Op::Fail
    }

    fn needs_locals(&self) -> bool {
        false
    }

    fn event(&mut self, event: Event) {
        let EventNode::Expr(expr) = &event.node else {
            return;
        };
        let (names, hints) = (self.names, &mut self.hints);
        expr.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && !hints.iter().any(|(hinted, _)| hinted == terms)
            {
                let name = terms.get(1).and_then(Term::as_string);
                let name = name.filter(|_| is_input(terms));
                let candidates = name.map_or_else(Vec::new, |name| similar_names(name, names));
                if !candidates.is_empty() {
                    let message = suggestion_message(terms, &candidates);
                    let span = event.span;
                    hints.push((terms.clone(), Near { message, span }));
                }
            }
            Descent::Into
        }));
    }
}

fn is_input(terms: &[Term]) -> bool {
    let head = terms.first().and_then(Term::as_var);
    head.is_some_and(|name| &**name == "input")
}

/// Returns the names of unknowns that are similar to a name; none if it is one of them.
fn similar_names<'u>(name: &str, names: &'u [String]) -> Vec<&'u str> {
    if names.iter().any(|candidate| candidate == name) {
        return Vec::new();
    }
    let similar = names
        .iter()
        .filter(|candidate| distance(name, candidate) <= NEAR);
    similar.map(String::as_str).collect()
}

fn suggestion_message(terms: &[Term], candidates: &[&str]) -> String {
    let text = |terms: Vec<Term>| Term::new(TermKind::Ref(terms), Span::default()).to_string();
    let suggestion = |name: &&str| {
        let mut terms = terms.to_vec();
        if let Some(step) = terms.get_mut(1) {
            *step = Term::string(*name, step.span);
        }
        text(terms)
    };
    let undefined = text(terms.to_vec());
    match candidates {
        [candidate] => format!(
            "{undefined} undefined, did you mean {}?",
            suggestion(candidate)
        ),
        several => {
            let several: Vec<String> = several.iter().map(suggestion).collect();
            format!(
                "{undefined} undefined, did you mean any of [{}]?",
                several.join(" ")
            )
        }
    }
}

/// Levenshtein distance in code points. A result greater than [`NEAR`] is only a lower bound.
fn distance(first: &str, second: &str) -> usize {
    let other: Vec<char> = second.chars().collect();
    if first.chars().count().abs_diff(other.len()) > NEAR {
        return NEAR + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in first.chars().enumerate() {
        let mut next = vec![index + 1];
        for (column, letter_of_second) in other.iter().enumerate() {
            let replaced_cost =
                row.get(column).copied().unwrap_or(0) + usize::from(letter != *letter_of_second);
            let removed_cost = row.get(column + 1).copied().unwrap_or(0) + 1;
            let inserted_cost = next.last().copied().unwrap_or(0) + 1;
            next.push(replaced_cost.min(removed_cost).min(inserted_cost));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        for (first, second, letters) in [
            ("fruit", "fruits", 1),
            ("prize", "price", 1),
            ("fruit", "baskets", 4),
            ("", "abc", 3),
            ("same", "same", 0),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(first, second).min(4), letters, "{first} {second}");
        }
    }
}
