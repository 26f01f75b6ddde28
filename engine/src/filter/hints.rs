//! Hints for names that are nearly right: what fails because nothing of that name is in the input, though something that is
//! unknown is called nearly so.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Flow, Terms, Walk};
use solon_syntax::ast::{Body, Ref, Term, TermKind};
use solon_syntax::source::Span;

use crate::trace::{Event, Node, Observer, Op};

/// How many letters a name may be away.
const NEAR: usize = 3;

/// What may be meant by a name that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The reference that is undefined, and what it may mean.
    pub message: String,
    /// Where it stands.
    pub place: Span,
}

/// Collects hints from what fails in a search.
pub struct Hints<'u> {
    /// The first names below `input` of what is unknown.
    names: &'u [String],
    /// What was found so far, and the references that it is about.
    found: Vec<(Ref, Near)>,
}

/// The names that are unknown below `input`.
pub fn unknown_names(unknowns: &[Ref]) -> Vec<String> {
    let below = unknowns.iter().filter(|unknown| is_input(unknown));
    let names = below.filter_map(|unknown| unknown.get(1)?.as_string());
    names.map(ToString::to_string).collect()
}

/// The first names below `input` that bodies ask for.
pub fn input_names<'b>(bodies: impl Iterator<Item = &'b Body>) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for body in bodies {
        body.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && is_input(terms)
                && let Some(name) = terms.get(1).and_then(Term::as_string)
                && !asked.contains(&**name)
            {
                asked.insert(name.to_string());
            }
            Flow::Into
        }));
    }
    asked
}

/// Whether something is asked for that is called nearly as something unknown, so that there may be hints.
pub fn may_hint(asked: &BTreeSet<String>, names: &[String]) -> bool {
    asked.iter().any(|name| !near(name, names).is_empty())
}

impl<'u> Hints<'u> {
    /// With the names that are unknown.
    pub fn new(names: &'u [String]) -> Self {
        Self {
            names,
            found: Vec::new(),
        }
    }

    /// The hints, in the order in which they came.
    pub fn finish(self) -> Vec<Near> {
        self.found.into_iter().map(|(_, near)| near).collect()
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
        let Node::Expr(expr) = &event.node else {
            return;
        };
        let (names, found) = (self.names, &mut self.found);
        expr.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && !found.iter().any(|(known, _)| known == terms)
            {
                let name = terms.get(1).and_then(Term::as_string);
                let name = name.filter(|_| is_input(terms));
                let meant = name.map_or_else(Vec::new, |name| near(name, names));
                if !meant.is_empty() {
                    let message = worded(terms, &meant);
                    let place = event.span;
                    found.push((terms.clone(), Near { message, place }));
                }
            }
            Flow::Into
        }));
    }
}

fn is_input(terms: &[Term]) -> bool {
    let head = terms.first().and_then(Term::as_var);
    head.is_some_and(|name| &**name == "input")
}

/// The unknown names that another one may mean.
fn near<'u>(name: &str, names: &'u [String]) -> Vec<&'u str> {
    if names.iter().any(|known| known == name) {
        return Vec::new();
    }
    let near = names.iter().filter(|known| distance(name, known) <= NEAR);
    near.map(String::as_str).collect()
}

fn worded(terms: &[Term], meant: &[&str]) -> String {
    let shown = |terms: Vec<Term>| Term::new(TermKind::Ref(terms), Span::default()).to_string();
    let named = |name: &&str| {
        let mut terms = terms.to_vec();
        if let Some(step) = terms.get_mut(1) {
            *step = Term::string(*name, step.span);
        }
        shown(terms)
    };
    let undefined = shown(terms.to_vec());
    match meant {
        [one] => format!("{undefined} undefined, did you mean {}?", named(one)),
        several => {
            let several: Vec<String> = several.iter().map(named).collect();
            format!(
                "{undefined} undefined, did you mean any of [{}]?",
                several.join(" ")
            )
        }
    }
}

/// How many letters must be put in, taken out or changed to come from one text to the other (Levenshtein). More than
/// [`NEAR`] stands for any number above it.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    if one.chars().count().abs_diff(other.len()) > NEAR {
        return NEAR + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut next = vec![at + 1];
        for (column, second) in other.iter().enumerate() {
            let changed = row.get(column).copied().unwrap_or(0) + usize::from(letter != *second);
            let taken = row.get(column + 1).copied().unwrap_or(0) + 1;
            let put = next.last().copied().unwrap_or(0) + 1;
            next.push(changed.min(taken).min(put));
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
        for (one, other, letters) in [
            ("fruit", "fruits", 1),
            ("prize", "price", 1),
            ("fruit", "baskets", 4),
            ("", "abc", 3),
            ("same", "same", 0),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other).min(4), letters, "{one} {other}");
        }
    }
}
