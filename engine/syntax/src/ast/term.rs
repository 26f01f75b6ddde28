//! Terms, the operands of expressions.

use std::sync::{Arc, LazyLock};

use super::{Body, Children, Expr};
use crate::source::Span;
use crate::stack;

/// A variable name. Wildcards are `$0`, `$1`, … in reading order; generated locals are `__local0__`, ….
pub type Name = Arc<str>;

/// A reference: its head (a variable or any other term that supports lookups) and the operands after it. `data.a[x]` is
/// `[Var data, String a, Var x]`.
pub type Ref = Vec<Term>;

/// A term and its location. Equality and order ignore the location.
#[derive(Debug, Default)]
pub struct Term {
    /// The term without its location.
    pub kind: TermKind,
    /// Location of the first to the last character.
    pub span: Span,
}

/// The kinds of terms. Infix operators are calls.
#[derive(Clone, Debug, Default)]
pub enum TermKind {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Boolean(bool),
    /// A number as written (`1.0`, `1e3`). A leading decimal point is normalized to `0.`.
    Number(Arc<str>),
    /// A string with escapes resolved.
    String(Arc<str>),
    /// A variable, also a wildcard.
    Var(Name),
    /// A reference of two or more terms.
    Ref(Ref),
    /// An array, in source order.
    Array(Children<Term>),
    /// An object, in source order. If keys are equal, the first key stays, with the last value.
    Object(Children<(Term, Term)>),
    /// A set, in source order. If members are equal, the first one stays.
    Set(Children<Term>),
    /// `[head | body]`
    ArrayComprehension(Box<Comprehension>),
    /// `{head | body}`
    SetComprehension(Box<Comprehension>),
    /// `{key: head | body}`
    ObjectComprehension(Box<Comprehension>),
    /// A call: reference of the operator, then the operands.
    Call(Children<Term>),
    /// `$"… {x} …"`, a template string.
    Template(Box<Template>),
}

/// Returns a shared copy of a segment that frequent operator names contain.
fn shared_name(part: &str) -> Name {
    const PARTS: [&str; 4] = ["eq", "assign", "internal", "member_2"];
    static NAMES: LazyLock<[Name; PARTS.len()]> = LazyLock::new(|| PARTS.map(Name::from));
    match PARTS.iter().position(|name| *name == part) {
        Some(index) => NAMES.get(index).cloned().unwrap_or_else(|| part.into()),
        None => part.into(),
    }
}

/// Key, head and body of a comprehension.
#[derive(Clone, Debug)]
pub struct Comprehension {
    /// Key, in object comprehensions only.
    pub key: Option<Term>,
    /// Element of the collection, or value of an object.
    pub head: Term,
    /// Body whose solutions give the elements.
    pub body: Body,
}

/// A template string: texts and expressions.
#[derive(Clone, Debug)]
pub struct Template {
    /// Alternating literal text and expressions.
    pub parts: Vec<TemplatePart>,
    /// `true` if it was written with back quotes.
    pub multi_line: bool,
}

/// A part of a template string: a text, or an expression in braces.
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Literal text, or a primitive literal in braces.
    Term(Term),
    /// An expression in braces.
    Expr(Expr),
}

impl Clone for Term {
    fn clone(&self) -> Self {
        let kind = match &self.kind {
            TermKind::Var(name) => TermKind::Var(name.clone()),
            TermKind::String(text) => TermKind::String(text.clone()),
            kind => stack::level(|| kind.clone()),
        };
        Self::new(kind, self.span)
    }
}

impl Term {
    /// Returns the span of the text that OPA shows for the term. A reference whose head is written in brackets begins
    /// at the bracket that closes its head; its row and column stay those of the term. `text` returns the source text
    /// of a span.
    pub fn display_span<'s>(&self, text: impl FnOnce(Span) -> &'s str) -> Span {
        let TermKind::Ref(path) = &self.kind else {
            return self.span;
        };
        match path.first() {
            Some(head)
                if head.span.start == self.span.start && head.is_bracketed(text(head.span)) =>
            {
                Span {
                    start: head.span.end.saturating_sub(1),
                    ..self.span
                }
            }
            _ => self.span,
        }
    }

    /// Returns `true` if the term is written in brackets of any kind. `text` is the source text of the term.
    fn is_bracketed(&self, text: &str) -> bool {
        match self.kind {
            TermKind::Array(_)
            | TermKind::Object(_)
            | TermKind::ArrayComprehension(_)
            | TermKind::ObjectComprehension(_)
            | TermKind::SetComprehension(_) => true,
            // the empty set is written as a call
            TermKind::Set(_) => text.starts_with(['{', '(']),
            TermKind::Call(_) | TermKind::Var(_) | TermKind::Ref(_) => text.starts_with('('),
            _ => false,
        }
    }

    /// Returns a term with a location. Does not check that both fit.
    #[inline]
    pub fn new(kind: TermKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Returns a variable. A name that begins with `$` is a wildcard.
    pub fn var(name: impl Into<Name>, span: Span) -> Self {
        Self::new(TermKind::Var(name.into()), span)
    }

    /// Returns a call from the operator's reference and the operands.
    pub fn call(terms: Vec<Term>, span: Span) -> Self {
        Self::new(TermKind::Call(terms.into()), span)
    }

    /// Returns a string. `text` has no quotes and no escapes.
    pub fn string(text: impl Into<Arc<str>>, span: Span) -> Self {
        Self::new(TermKind::String(text.into()), span)
    }

    /// Returns the reference of a built-in's dotted name: `a.b` is `[Var a, String b]`, `eq` is `[Var eq]`.
    pub fn operator(name: &str, span: Span) -> Self {
        let terms = match name.split_once('.') {
            None => vec![Self::var(shared_name(name), span)],
            Some((first, rest)) => {
                let rest = rest
                    .split('.')
                    .map(|part| Self::string(shared_name(part), span));
                std::iter::once(Self::var(shared_name(first), span))
                    .chain(rest)
                    .collect()
            }
        };
        Self::new(TermKind::Ref(terms), span)
    }

    /// Returns the name of a variable, or `None` for other terms.
    #[inline]
    pub fn as_var(&self) -> Option<&Name> {
        match &self.kind {
            TermKind::Var(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the text of a string, or `None` for other terms.
    #[inline]
    pub fn as_string(&self) -> Option<&Arc<str>> {
        match &self.kind {
            TermKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the terms of a reference, head first, or `None` for other terms.
    #[inline]
    pub fn as_ref(&self) -> Option<&Ref> {
        match &self.kind {
            TermKind::Ref(terms) => Some(terms),
            _ => None,
        }
    }

    /// Returns `true` for a wildcard, `_` in the source.
    #[inline]
    pub fn is_wildcard(&self) -> bool {
        self.as_var().is_some_and(|name| name.starts_with('$'))
    }

    /// Returns `true` for null, booleans, numbers and strings.
    #[inline]
    pub fn is_scalar(&self) -> bool {
        matches!(
            self.kind,
            TermKind::Null | TermKind::Boolean(_) | TermKind::Number(_) | TermKind::String(_)
        )
    }
}

impl TermKind {
    /// Returns the name of the kind, as messages and AST JSON spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Var(_) => "var",
            Self::Ref(_) => "ref",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Set(_) => "set",
            Self::ArrayComprehension(_) => "arraycomprehension",
            Self::ObjectComprehension(_) => "objectcomprehension",
            Self::SetComprehension(_) => "setcomprehension",
            Self::Call(_) => "call",
            Self::Template(_) => "templatestring",
        }
    }
}
