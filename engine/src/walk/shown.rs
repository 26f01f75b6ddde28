//! Terms and values as events show them.

use solon_syntax::ast::{Term, TermKind};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::machine::Walk;
use super::term::{List, Made, T, TermShape};
use crate::value::{Kind, ValueRef};

/// Most parts of a term that holds free variables whose other variables are shown as their values.
const PARTS: usize = 1 << 12;

impl<'e> Walk<'e> {
    /// A term that holds free variables, with what the others stand for in their place.
    pub(super) fn half_known(&mut self, term: T<'e>) -> Term {
        let mut left = PARTS;
        self.half_known_part(term, &mut left)
    }

    fn half_known_part(&mut self, term: T<'e>, left: &mut usize) -> Term {
        let term = self.apply(term);
        let Some(fewer) = left.checked_sub(1) else {
            return shown(term);
        };
        *left = fewer;
        let kind = match term.shape() {
            TermShape::Array(items) => TermKind::Array(self.half_known_parts(items, left).into()),
            TermShape::Set(items, frame) => TermKind::Set(
                self.half_known_parts(List::Terms(items, frame), left)
                    .into(),
            ),
            TermShape::Ref(steps) if steps.document().is_none() => {
                TermKind::Ref(self.half_known_parts(steps, left))
            }
            TermShape::Object(pairs, frame) => {
                let pairs = pairs.iter().map(|(key, value)| {
                    let mut part =
                        |term| stack::level(|| self.half_known_part(T::Term(term, frame), left));
                    (part(key), part(value))
                });
                TermKind::Object(pairs.collect())
            }
            _ => return shown(term),
        };
        Term::new(kind, term.span())
    }

    fn half_known_parts(&mut self, items: List<'e>, left: &mut usize) -> Vec<Term> {
        let items = (0..items.len()).filter_map(|at| items.get(at));
        items
            .map(|item| stack::level(|| self.half_known_part(item, left)))
            .collect()
    }
}

/// A term as it stands.
pub(super) fn shown(term: T<'_>) -> Term {
    match term {
        T::Known(value) => value_term(value),
        T::Term(term, _) => term.clone(),
        T::Made(Made::Var(name, _)) => Term::var(*name, Span::default()),
        T::Made(Made::Ref(terms)) => {
            let terms = terms.iter().map(|term| shown(*term)).collect();
            Term::new(TermKind::Ref(terms), Span::default())
        }
    }
}

/// A value as a term.
pub(super) fn value_term(value: ValueRef<'_>) -> Term {
    stack::level(|| term_of(value))
}

fn term_of(value: ValueRef<'_>) -> Term {
    let kind = match value.kind() {
        Kind::Null => TermKind::Null,
        Kind::Boolean => TermKind::Boolean(value.holds()),
        Kind::Number => TermKind::Number(value.to_string().into()),
        Kind::String => TermKind::String(value.text_or_empty().to_str().into()),
        Kind::Array => {
            let items = value.as_array().into_iter().flat_map(|items| items.iter());
            TermKind::Array(items.map(value_term).collect())
        }
        Kind::Object => {
            let pairs = value
                .as_object()
                .into_iter()
                .flat_map(|object| object.iter());
            let pairs = pairs.map(|(key, value)| (value_term(key), value_term(value)));
            TermKind::Object(pairs.collect())
        }
        Kind::Set => {
            let members = value.as_set().into_iter().flat_map(|set| set.iter());
            TermKind::Set(members.map(value_term).collect())
        }
    };
    Term::new(kind, Span::default())
}
