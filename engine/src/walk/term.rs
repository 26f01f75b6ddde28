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
pub(crate) enum T<'e> {
    /// A value.
    Known(ValueRef<'e>),
    /// A term of the program, and the environment of its variables.
    Term(&'e Term, FrameId),
    /// A term made while searching.
    Made(&'e Made<'e>),
}

/// A term made while searching.
pub(crate) enum Made<'e> {
    /// A variable that no program names.
    Var(&'e str, FrameId),
    /// A reference.
    Ref(&'e [T<'e>]),
}

/// The terms of an array or a reference.
#[derive(Clone, Copy)]
pub(crate) enum List<'e> {
    /// Terms of the program.
    Terms(&'e [Term], FrameId),
    /// Terms made while searching.
    Made(&'e [T<'e>]),
    /// Elements of an array.
    Values(ArrayView<'e>),
}

/// What a term is, once bound variables are followed.
#[derive(Clone, Copy)]
pub(crate) enum TermShape<'e> {
    /// A value.
    Known(ValueRef<'e>),
    /// A variable that is not bound.
    Var(&'e str, FrameId),
    /// A reference, or the name of a document.
    Ref(List<'e>),
    /// An array that is not a value yet.
    Array(List<'e>),
    /// An object that is not a value yet.
    Object(&'e [(Term, Term)], FrameId),
    /// A set that is not a value yet.
    Set(&'e [Term], FrameId),
    /// A comprehension.
    Comprehension(&'e Term, &'e Comprehension, FrameId),
    /// Something that cannot be unified.
    Other,
}

impl<'e> T<'e> {
    /// Where the term stands.
    pub fn span(self) -> Span {
        match self {
            Self::Term(term, _) => term.span,
            Self::Known(_) | Self::Made(_) => Span::default(),
        }
    }

    /// What the term is; bound variables must have been followed.
    pub fn shape(self) -> TermShape<'e> {
        match self {
            Self::Known(value) => TermShape::Known(value),
            Self::Made(Made::Var(name, frame)) => TermShape::Var(name, *frame),
            Self::Made(Made::Ref(terms)) => TermShape::Ref(List::Made(terms)),
            Self::Term(term, frame) => match &term.kind {
                TermKind::Var(name) if is_document(name) => {
                    TermShape::Ref(List::Terms(std::slice::from_ref(term), frame))
                }
                TermKind::Var(name) => TermShape::Var(name, frame),
                TermKind::Ref(terms) => TermShape::Ref(List::Terms(terms, frame)),
                TermKind::Array(items) => TermShape::Array(List::Terms(items, frame)),
                TermKind::Object(pairs) => TermShape::Object(pairs, frame),
                TermKind::Set(items) => TermShape::Set(items, frame),
                TermKind::ArrayComprehension(inside)
                | TermKind::SetComprehension(inside)
                | TermKind::ObjectComprehension(inside) => {
                    TermShape::Comprehension(term, inside, frame)
                }
                _ => TermShape::Other,
            },
        }
    }
}

impl<'e> List<'e> {
    /// Number of terms.
    pub fn len(self) -> usize {
        match self {
            Self::Terms(terms, _) => terms.len(),
            Self::Made(terms) => terms.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// A term.
    pub fn get(self, at: usize) -> Option<T<'e>> {
        match self {
            Self::Terms(terms, frame) => Some(T::Term(terms.get(at)?, frame)),
            Self::Made(terms) => terms.get(at).copied(),
            Self::Values(values) => values.get(at).map(T::Known),
        }
    }

    /// The terms of an array, each with its index.
    pub fn numbered(self) -> impl Iterator<Item = (ValueRef<'e>, T<'e>)> {
        let indices = (0_i64..).map(ValueRef::Int);
        indices.zip((0..self.len()).filter_map(move |at| self.get(at)))
    }

    /// The name of the document that a reference begins with.
    pub fn document(self) -> Option<&'e str> {
        match self.get(0)? {
            T::Term(term, _) => term.as_var().filter(|name| is_document(name)).map(|n| &**n),
            _ => None,
        }
    }
}

/// Whether a variable names a document.
pub(crate) fn is_document(name: &Name) -> bool {
    matches!(&**name, "data" | "input")
}
