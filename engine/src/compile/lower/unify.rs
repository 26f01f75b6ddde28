//! Equalities: which side binds and which side tests.

use solon_syntax::ast::{Term, TermKind};

use super::body::Lowering;
use super::constants::constant;
use crate::program::{Operand, Step};
use crate::value::Kind;

impl Lowering<'_> {
    /// Lowers `left = right`. Pairs whose sides are both open wait until one is bound.
    pub(super) fn unify(&mut self, left: &Term, right: &Term) {
        let mut waiting = Vec::new();
        self.unify_evaluated(left, right, &mut waiting);
        while !waiting.is_empty() {
            let (open, known): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|(left, right)| self.is_open(left) && self.is_open(right));
            if known.is_empty() {
                // wildcards on either side bind nothing
                let binds =
                    |(left, right): &(&Term, &Term)| !left.is_wildcard() && !right.is_wildcard();
                if open.iter().any(binds) {
                    self.push(Step::Fail);
                }
                return;
            }
            waiting = open;
            for (left, right) in known {
                self.unify_evaluated(left, right, &mut waiting);
            }
        }
    }

    /// Unifies a side with known values with the other side. Pairs without known values wait until other pairs bind
    /// their variables, as the first pair of `[x, y] = [y, 1]` does.
    fn unify_evaluated<'t>(
        &mut self,
        left: &'t Term,
        right: &'t Term,
        waiting: &mut Vec<(&'t Term, &'t Term)>,
    ) {
        if collection_kind(left).is_some() && matches!(right.kind, TermKind::Ref(_)) {
            // the value of a reference is known first
            return self.unify_evaluated(right, left, waiting);
        }
        if !self.is_open(left) {
            let value = self.term(left);
            // a comprehension of another kind than the value is not evaluated
            if let Some(kind) = collection_kind(right) {
                self.push(Step::MayEqual(value, kind));
            }
            return self.matches(value, right);
        }
        if !self.is_open(right) {
            let value = self.term(right);
            return self.matches(value, left);
        }
        match (&left.kind, &right.kind) {
            (TermKind::Array(left), TermKind::Array(right)) if left.len() == right.len() => {
                for (left, right) in left.iter().zip(right) {
                    self.unify_evaluated(left, right, waiting);
                }
            }
            (TermKind::Object(left), TermKind::Object(right)) if left.len() == right.len() => {
                for (key, value) in left {
                    let key_value = constant(key);
                    let same = |other: &Term| {
                        key == other || key_value.is_some() && constant(other) == key_value
                    };
                    match right.iter().find(|(other, _)| same(other)) {
                        Some((_, other)) => self.unify_evaluated(value, other, waiting),
                        None => return self.push(Step::Fail),
                    }
                }
            }
            (TermKind::Var(_), _) | (_, TermKind::Var(_)) => waiting.push((left, right)),
            _ => self.push(Step::Fail),
        }
    }

    /// Returns `true` if a term has unbound variables outside references and closures.
    pub(super) fn is_open(&self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Var(name) => {
                self.binding(name).is_none() && !matches!(&**name, "input" | "data")
            }
            TermKind::Array(items) | TermKind::Set(items) => {
                items.iter().any(|item| self.is_open(item))
            }
            TermKind::Object(pairs) => pairs
                .iter()
                .any(|(key, value)| self.is_open(key) || self.is_open(value)),
            _ => false,
        }
    }

    /// Tests a value against a term, binding the term's unbound variables.
    pub(super) fn matches(&mut self, value: Operand, pattern: &Term) {
        if !self.is_open(pattern) {
            let other = self.term(pattern);
            return self.push(Step::Equal(value, other));
        }
        match &pattern.kind {
            TermKind::Var(name) => self.bind(name, value),
            TermKind::Array(items) => {
                self.push(Step::IsArray(value, length(items)));
                for (index, item) in (0_i64..).zip(items) {
                    if !item.is_wildcard() {
                        let key = Operand::Const(self.constants.add(index.into()));
                        self.part(value, key, item);
                    }
                }
            }
            TermKind::Object(pairs) => {
                self.push(Step::IsObject(value, length(pairs)));
                for (key, item) in pairs {
                    let key = self.term(key);
                    self.part(value, key, item);
                }
            }
            _ => self.push(Step::Fail),
        }
    }

    fn part(&mut self, value: Operand, key: Operand, pattern: &Term) {
        let out = self.slot();
        self.push(Step::Dot {
            from: value,
            keys: [key].into(),
            out,
        });
        self.matches(Operand::Slot(out), pattern);
    }
}

/// Returns the kind of collection that a comprehension produces.
fn collection_kind(term: &Term) -> Option<Kind> {
    match term.kind {
        TermKind::ArrayComprehension(_) => Some(Kind::Array),
        TermKind::SetComprehension(_) => Some(Kind::Set),
        TermKind::ObjectComprehension(_) => Some(Kind::Object),
        _ => None,
    }
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
