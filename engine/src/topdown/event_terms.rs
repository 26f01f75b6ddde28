//! Conversion of terms and values for events.

use solon_syntax::ast::{Term, TermKind};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::machine::Topdown;
use super::term::{BuiltTerm, ResolvedTerm, TermList, TermRef};
use crate::value::{Kind, ValueRef};

/// Maximum number of nodes of a partly bound term whose variables are replaced by their values in events.
const MAX_NODES: usize = 1 << 12;

impl<'e> Topdown<'e> {
    /// Returns a term with free variables in which the bound variables are replaced by their values.
    pub(super) fn partially_plugged(&mut self, term: TermRef<'e>) -> Term {
        let mut left = MAX_NODES;
        self.partially_plugged_node(term, &mut left)
    }

    fn partially_plugged_node(&mut self, term: TermRef<'e>, left: &mut usize) -> Term {
        let term = self.apply(term);
        let Some(fewer) = left.checked_sub(1) else {
            return unplugged(term);
        };
        *left = fewer;
        let kind = match term.resolved() {
            ResolvedTerm::Array(items) => {
                TermKind::Array(self.partially_plugged_nodes(items, left).into())
            }
            ResolvedTerm::Set(items, frame) => TermKind::Set(
                self.partially_plugged_nodes(TermList::Terms(items, frame), left)
                    .into(),
            ),
            ResolvedTerm::Ref(steps) if steps.document().is_none() => {
                TermKind::Ref(self.partially_plugged_nodes(steps, left))
            }
            ResolvedTerm::Object(pairs, frame) => {
                let pairs = pairs.iter().map(|(key, value)| {
                    let mut part = |term| {
                        stack::level(|| {
                            self.partially_plugged_node(TermRef::Term(term, frame), left)
                        })
                    };
                    (part(key), part(value))
                });
                TermKind::Object(pairs.collect())
            }
            _ => return unplugged(term),
        };
        Term::new(kind, term.span())
    }

    fn partially_plugged_nodes(&mut self, items: TermList<'e>, left: &mut usize) -> Vec<Term> {
        let items = (0..items.len()).filter_map(|at| items.get(at));
        items
            .map(|item| stack::level(|| self.partially_plugged_node(item, left)))
            .collect()
    }
}

/// Returns a term without following its variables.
pub(super) fn unplugged(term: TermRef<'_>) -> Term {
    match term {
        TermRef::Value(value) => value_term(value),
        TermRef::Term(term, _) => term.clone(),
        TermRef::Built(BuiltTerm::Var(name, _)) => Term::var(*name, Span::default()),
        TermRef::Built(BuiltTerm::Ref(terms)) => {
            let terms = terms.iter().map(|term| unplugged(*term)).collect();
            Term::new(TermKind::Ref(terms), Span::default())
        }
    }
}

/// Converts a value to a term. Grows the stack for deep values.
pub(super) fn value_term(value: ValueRef<'_>) -> Term {
    stack::level(|| term_of(value))
}

fn term_of(value: ValueRef<'_>) -> Term {
    let kind = match value.kind() {
        Kind::Null => TermKind::Null,
        Kind::Boolean => TermKind::Boolean(value.is_truthy()),
        Kind::Number => TermKind::Number(value.rego_text().to_string().into()),
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
