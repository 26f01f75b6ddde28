//! Terms as a search handles them.

use solon_syntax::ast::{Comprehension, Name, Term, TermKind};
use solon_syntax::source::Span;

use crate::value::{ArrayView, ValueRef};

/// Number of an environment on the stack of environments.
pub(crate) type FrameId = u32;

/// What is said of a term that has no value where all variables have one.
pub(super) const NO_VALUE: &str = "a term without a value";

/// A term.
#[derive(Clone, Copy)]
pub(crate) enum TermRef<'e> {
    /// A value.
    Value(ValueRef<'e>),
    /// A term of the program, and the environment of its variables.
    Term(&'e Term, FrameId),
    /// A term made while searching.
    Built(&'e BuiltTerm<'e>),
}

/// A term made while searching.
pub(crate) enum BuiltTerm<'e> {
    /// A variable that no program names.
    Var(&'e str, FrameId),
    /// A reference.
    Ref(&'e [TermRef<'e>]),
}

/// The terms of an array or a reference.
#[derive(Clone, Copy)]
pub(crate) enum TermList<'e> {
    /// Terms of the program.
    Terms(&'e [Term], FrameId),
    /// Terms made while searching.
    Built(&'e [TermRef<'e>]),
    /// Elements of an array.
    Values(ArrayView<'e>),
}

/// What a term is, once bound variables are followed.
#[derive(Clone, Copy)]
pub(crate) enum ResolvedTerm<'e> {
    /// A value.
    Value(ValueRef<'e>),
    /// A variable that is not bound.
    Var(&'e str, FrameId),
    /// A reference, or the name of a document.
    Ref(TermList<'e>),
    /// An array that is not a value yet.
    Array(TermList<'e>),
    /// An object that is not a value yet.
    Object(&'e [(Term, Term)], FrameId),
    /// A set that is not a value yet.
    Set(&'e [Term], FrameId),
    /// A comprehension.
    Comprehension(&'e Term, &'e Comprehension, FrameId),
    /// Something that cannot be unified.
    Other,
}

impl<'e> TermRef<'e> {
    /// Where the term stands.
    pub fn span(self) -> Span {
        match self {
            Self::Term(term, _) => term.span,
            Self::Value(_) | Self::Built(_) => Span::default(),
        }
    }

    /// What the term is; bound variables must have been followed.
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
    /// Number of terms.
    pub fn len(self) -> usize {
        match self {
            Self::Terms(terms, _) => terms.len(),
            Self::Built(terms) => terms.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// A term.
    pub fn get(self, at: usize) -> Option<TermRef<'e>> {
        match self {
            Self::Terms(terms, frame) => Some(TermRef::Term(terms.get(at)?, frame)),
            Self::Built(terms) => terms.get(at).copied(),
            Self::Values(values) => values.get(at).map(TermRef::Value),
        }
    }

    /// The terms of an array, each with its index.
    pub fn numbered(self) -> impl Iterator<Item = (ValueRef<'e>, TermRef<'e>)> {
        let indices = (0_i64..).map(ValueRef::Int);
        indices.zip((0..self.len()).filter_map(move |at| self.get(at)))
    }

    /// The name of the document that a reference begins with.
    pub fn document(self) -> Option<&'e str> {
        match self.get(0)? {
            TermRef::Term(term, _) => term.as_var().filter(|name| is_document(name)).map(|n| &**n),
            _ => None,
        }
    }
}

/// Whether a variable names a document.
pub(crate) fn is_document(name: &Name) -> bool {
    matches!(&**name, "data" | "input")
}
