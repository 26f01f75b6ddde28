//! Total order of terms, with consistent equality and hashing. Source locations are ignored.
//!
//! Sets and objects compare as if sorted. In bodies of comprehensions the positions of the expressions count, too.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{
    Body, Comprehension, Every, Expr, ExprKind, Head, Logical, Not, Rule, SomeDecl, Template,
    TemplatePart, Term, TermKind, With, number,
};
use crate::stack;

impl TermKind {
    /// Returns the rank of the kind in the total order.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Boolean(_) => 1,
            Self::Number(_) => 2,
            Self::String(_) => 3,
            Self::Template(_) => 4,
            Self::Var(_) => 5,
            Self::Ref(_) => 6,
            Self::Array(_) => 7,
            Self::Object(_) => 8,
            Self::Set(_) => 9,
            Self::ArrayComprehension(_) => 10,
            Self::ObjectComprehension(_) => 11,
            Self::SetComprehension(_) => 12,
            Self::Call(_) => 13,
        }
    }
}

impl Ord for TermKind {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(left), Self::Boolean(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => number::compare(left, right),
            (Self::String(left), Self::String(right)) | (Self::Var(left), Self::Var(right)) => {
                left.cmp(right)
            }
            _ => {
                let ranks = self.rank().cmp(&other.rank());
                ranks.then_with(|| stack::level(|| self.compare_children(other)))
            }
        }
    }
}

impl TermKind {
    /// Compares two terms of one kind that have children. Elements of sets and pairs of objects are compared in sorted
    /// order.
    fn compare_children(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Ref(left), Self::Ref(right)) => left.cmp(right),
            (Self::Array(left), Self::Array(right)) | (Self::Call(left), Self::Call(right)) => {
                left.cmp(right)
            }
            (Self::Object(left), Self::Object(right)) => {
                sorted_pairs(left).cmp(&sorted_pairs(right))
            }
            (Self::Set(left), Self::Set(right)) => sorted(left).cmp(&sorted(right)),
            (Self::ArrayComprehension(left), Self::ArrayComprehension(right))
            | (Self::SetComprehension(left), Self::SetComprehension(right))
            | (Self::ObjectComprehension(left), Self::ObjectComprehension(right)) => {
                left.cmp(right)
            }
            (Self::Template(left), Self::Template(right)) => left.cmp(right),
            _ => Ordering::Equal,
        }
    }
}

/// Returns the members of a set in order, without sorting if they are ordered.
pub fn sorted(members: &[Term]) -> Vec<&Term> {
    let mut members: Vec<&Term> = members.iter().collect();
    if !members.is_sorted() {
        members.sort();
    }
    members
}

/// Returns the pairs of an object, ordered by key.
pub fn sorted_pairs(pairs: &[(Term, Term)]) -> Vec<&(Term, Term)> {
    let mut pairs: Vec<&(Term, Term)> = pairs.iter().collect();
    if !pairs.is_sorted_by(|left, right| left.0 <= right.0) {
        pairs.sort_by(|left, right| left.0.cmp(&right.0));
    }
    pairs
}

impl Hash for TermKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Self::Null => {}
            Self::Boolean(value) => value.hash(state),
            Self::Number(text) => number::hash(text, state),
            Self::String(text) | Self::Var(text) => text.hash(state),
            _ => stack::level(|| self.hash_children(state)),
        }
    }
}

impl TermKind {
    fn hash_children<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Ref(terms) => terms.hash(state),
            Self::Array(terms) | Self::Call(terms) => terms.hash(state),
            Self::Object(pairs) => unordered(pairs, state),
            Self::Set(members) => unordered(members, state),
            Self::ArrayComprehension(inner)
            | Self::SetComprehension(inner)
            | Self::ObjectComprehension(inner) => {
                inner.hash(state);
            }
            Self::Template(template) => template.hash(state),
            _ => {}
        }
    }
}

/// Hashes members independently of their order: sums the hashes of the members.
fn unordered<T: Hash, H: Hasher>(members: &[T], state: &mut H) {
    let sum = members.iter().fold(0u64, |sum, member| {
        let mut hasher = DefaultHasher::new();
        member.hash(&mut hasher);
        sum.wrapping_add(hasher.finish())
    });
    (members.len(), sum).hash(state);
}

impl Ord for ExprKind {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Some(left), Self::Some(right)) => left.cmp(right),
            (Self::Term(left), Self::Term(right)) => left.cmp(right),
            (Self::Call(left), Self::Call(right)) => left.cmp(right),
            (Self::Every(left), Self::Every(right)) => left.cmp(right),
            (Self::Not(left), Self::Not(right)) => left.cmp(right),
            (Self::And(left), Self::And(right)) | (Self::Or(left), Self::Or(right)) => {
                left.cmp(right)
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl ExprKind {
    fn rank(&self) -> u8 {
        match self {
            Self::Some(_) => 0,
            Self::Term(_) => 1,
            Self::Call(_) => 2,
            Self::Every(_) => 3,
            Self::Not(_) => 4,
            Self::And(_) => 5,
            Self::Or(_) => 6,
        }
    }
}

impl Hash for ExprKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Self::Some(some) => some.hash(state),
            Self::Term(term) => term.hash(state),
            Self::Call(terms) => terms.hash(state),
            Self::Every(every) => every.hash(state),
            Self::Not(not) => not.hash(state),
            Self::And(logical) | Self::Or(logical) => logical.hash(state),
        }
    }
}

impl Ord for Expr {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index
            .cmp(&other.index)
            .then_with(|| self.kind.rank().cmp(&other.kind.rank()))
            .then_with(|| self.negated.cmp(&other.negated))
            .then_with(|| self.kind.cmp(&other.kind))
            .then_with(|| self.with.cmp(&other.with))
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.index, self.negated, &self.kind, &self.with).hash(state);
    }
}

impl Ord for Template {
    fn cmp(&self, other: &Self) -> Ordering {
        self.multi_line
            .cmp(&other.multi_line)
            .then_with(|| self.parts.len().cmp(&other.parts.len()))
            .then_with(|| self.parts.cmp(&other.parts))
    }
}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.multi_line, &self.parts).hash(state);
    }
}

impl Ord for TemplatePart {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Term(left), Self::Term(right)) => left.cmp(right),
            (Self::Expr(left), Self::Expr(right)) => left.cmp(right),
            (Self::Term(_), Self::Expr(_)) => Ordering::Less,
            (Self::Expr(_), Self::Term(_)) => Ordering::Greater,
        }
    }
}

impl Hash for TemplatePart {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Term(term) => term.hash(state),
            Self::Expr(expr) => expr.hash(state),
        }
    }
}

/// Implements ordering and hashing of a node by the given fields, in the given order.
macro_rules! by_fields {
    ($($node:ident: $($field:ident),+;)+) => {$(
        impl Ord for $node {
            fn cmp(&self, other: &Self) -> Ordering {
                Ordering::Equal$(.then_with(|| self.$field.cmp(&other.$field)))+
            }
        }

        impl Hash for $node {
            fn hash<H: Hasher>(&self, state: &mut H) {
                $(self.$field.hash(state);)+
            }
        }
    )+};
}

by_fields! {
    Term: kind;
    Comprehension: key, head, body;
    SomeDecl: symbols;
    Every: key, value, domain, body;
    Not: body;
    With: target, value;
    Head: reference, args, key, value;
}

impl Ord for Logical {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = stack::level(|| self.lhs.cmp(&other.lhs));
        left.then_with(|| self.rhs.cmp(&other.rhs))
    }
}

impl Hash for Logical {
    fn hash<H: Hasher>(&self, state: &mut H) {
        stack::level(|| self.lhs.hash(state));
        self.rhs.hash(state);
    }
}

/// Returns the fields of a rule that precede its `else` chain.
fn beginning(rule: &Rule) -> (&Head, bool, &Body) {
    (&rule.head, rule.default, &rule.body)
}

impl Ord for Rule {
    fn cmp(&self, other: &Self) -> Ordering {
        self.members()
            .map(beginning)
            .cmp(other.members().map(beginning))
    }
}

impl Hash for Rule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for rule in self.members() {
            beginning(rule).hash(state);
        }
        // marks the end of the chain
        0_u8.hash(state);
    }
}

/// Derives equality and partial order from the total order.
macro_rules! from_total_order {
    ($($node:ident)+) => {$(
        impl PartialEq for $node {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for $node {}

        impl PartialOrd for $node {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
    )+};
}

from_total_order! {
    Term TermKind Comprehension Template TemplatePart
    Expr ExprKind SomeDecl Every Not Logical With Head Rule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn term(kind: TermKind) -> Term {
        Term::new(kind, Span::default())
    }

    fn number(text: &str) -> Term {
        term(TermKind::Number(text.into()))
    }

    fn string(text: &str) -> Term {
        Term::string(text, Span::default())
    }

    fn hash_of(term: &Term) -> u64 {
        let mut state = DefaultHasher::new();
        term.hash(&mut state);
        state.finish()
    }

    #[test]
    fn kinds_come_in_order() {
        let x = || Term::var("x", Span::default());
        let inner = || {
            Box::new(Comprehension {
                key: None,
                head: x(),
                body: Vec::new(),
            })
        };
        let rising = [
            term(TermKind::Null),
            term(TermKind::Boolean(false)),
            term(TermKind::Boolean(true)),
            number("-1"),
            number("1e2"),
            string("a"),
            term(TermKind::Template(Box::new(Template {
                parts: Vec::new(),
                multi_line: false,
            }))),
            x(),
            term(TermKind::Ref(vec![x(), string("y")])),
            term(TermKind::Array(vec![].into())),
            term(TermKind::Object(vec![].into())),
            term(TermKind::Set(vec![].into())),
            term(TermKind::ArrayComprehension(inner())),
            term(TermKind::ObjectComprehension(inner())),
            term(TermKind::SetComprehension(inner())),
            term(TermKind::Call(vec![x()].into())),
        ];
        assert!(rising.is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn sets_and_objects_compare_sorted() {
        let left = term(TermKind::Set(vec![number("2"), number("1.0")].into()));
        let right = term(TermKind::Set(vec![number("1"), number("2.0")].into()));
        assert_eq!(left, right);
        assert_eq!(hash_of(&left), hash_of(&right));
        let object = |pairs: &[(&str, &str)]| {
            term(TermKind::Object(
                pairs
                    .iter()
                    .map(|(key, value)| (string(key), number(value)))
                    .collect(),
            ))
        };
        let left = object(&[("b", "0"), ("a", "1")]);
        let right = object(&[("a", "1"), ("b", "0")]);
        assert_eq!(left, right);
        assert_eq!(hash_of(&left), hash_of(&right));
        assert!(object(&[("a", "0")]) < object(&[("a", "1")]));
        assert!(object(&[("b", "0"), ("a", "1")]) < object(&[("b", "0")]));
    }
}
