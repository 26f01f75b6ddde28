//! Terms during a search.

use solon_syntax::ast::{Comprehension, Name, Term, TermKind};
use solon_syntax::source::Span;

use crate::value::{ArrayView, RefRepr, ValueRef};

/// Index of an environment on the stack of environments.
pub(crate) type FrameId = u32;

/// A term has no value although all its variables have one.
pub(super) const NO_VALUE: &str = "a term without a value";

#[derive(Clone, Copy)]
pub(crate) enum TermRef<'e> {
    Value(ValueRef<'e>),
    /// A term of the program, and the environment of its variables.
    Term(&'e Term, FrameId),
    /// A term built during the search.
    Built(&'e BuiltTerm<'e>),
}

pub(crate) enum BuiltTerm<'e> {
    /// A generated variable.
    Var(&'e str, FrameId),
    Ref(&'e [TermRef<'e>]),
}

/// The terms of an array or a reference, in one of three representations.
#[derive(Clone, Copy)]
pub(crate) enum TermList<'e> {
    Terms(&'e [Term], FrameId),
    /// Terms built during the search.
    Built(&'e [TermRef<'e>]),
    Values(ArrayView<'e>),
}

/// A term after following bound variables.
#[derive(Clone, Copy)]
pub(crate) enum ResolvedTerm<'e> {
    Value(ValueRef<'e>),
    /// An unbound variable.
    Var(&'e str, FrameId),
    /// A reference, or the name of a document.
    Ref(TermList<'e>),
    /// An array with variables, references or closures.
    Array(TermList<'e>),
    /// An object with variables, references or closures.
    Object(&'e [(Term, Term)], FrameId),
    /// A set with variables, references or closures.
    Set(&'e [Term], FrameId),
    Comprehension(&'e Term, &'e Comprehension, FrameId),
    /// A term that cannot be unified.
    Other,
}

impl<'e> TermRef<'e> {
    /// Returns the source location of the term.
    pub fn span(self) -> Span {
        match self {
            Self::Term(term, _) => term.span,
            Self::Value(_) | Self::Built(_) => Span::default(),
        }
    }

    /// Classifies the term. Bound variables must have been followed.
    pub fn resolved(self) -> ResolvedTerm<'e> {
        match self {
            Self::Value(value) => ResolvedTerm::Value(value),
            Self::Built(BuiltTerm::Var(name, frame)) => ResolvedTerm::Var(name, *frame),
            Self::Built(BuiltTerm::Ref(terms)) => ResolvedTerm::Ref(TermList::Built(terms)),
            Self::Term(term, frame) => match &term.kind {
                TermKind::Var(name) if is_document(name) => {
                    ResolvedTerm::Ref(TermList::Terms(std::slice::from_ref(term), frame))
                }
                TermKind::Var(name) => ResolvedTerm::Var(name, frame),
                TermKind::Ref(terms) => ResolvedTerm::Ref(TermList::Terms(terms, frame)),
                TermKind::Array(items) => ResolvedTerm::Array(TermList::Terms(items, frame)),
                TermKind::Object(pairs) => ResolvedTerm::Object(pairs, frame),
                TermKind::Set(items) => ResolvedTerm::Set(items, frame),
                TermKind::ArrayComprehension(inside)
                | TermKind::SetComprehension(inside)
                | TermKind::ObjectComprehension(inside) => {
                    ResolvedTerm::Comprehension(term, inside, frame)
                }
                _ => ResolvedTerm::Other,
            },
        }
    }
}

impl<'e> TermList<'e> {
    pub fn len(self) -> usize {
        match self {
            Self::Terms(terms, _) => terms.len(),
            Self::Built(terms) => terms.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Returns the term at an index, or `None` after the last.
    pub fn get(self, at: usize) -> Option<TermRef<'e>> {
        match self {
            Self::Terms(terms, frame) => Some(TermRef::Term(terms.get(at)?, frame)),
            Self::Built(terms) => terms.get(at).copied(),
            Self::Values(values) => values.get(at).map(TermRef::Value),
        }
    }

    /// Iterates over the terms of an array with their indices.
    pub fn numbered(self) -> impl Iterator<Item = (ValueRef<'e>, TermRef<'e>)> {
        let indices = (0_i64..).map(|it| ValueRef(RefRepr::Int(it)));
        indices.zip((0..self.len()).filter_map(move |at| self.get(at)))
    }

    /// Returns the name of the document that a reference starts with, or `None` if it starts with another term.
    pub fn document(self) -> Option<&'e str> {
        match self.get(0)? {
            TermRef::Term(term, _) => term.as_var().filter(|name| is_document(name)).map(|n| &**n),
            _ => None,
        }
    }
}

/// Returns `true` if a variable names a document: `data` or `input`.
pub(crate) fn is_document(name: &Name) -> bool {
    matches!(&**name, "data" | "input")
}
