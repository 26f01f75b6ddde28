//! Equal variables, and the constants that they are equal to (union-find).

use std::collections::BTreeSet;

use hashbrown::HashMap;
use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Expr, Name, Term, TermKind};

/// Disjoint sets of equal variables.
#[derive(Default)]
pub struct Sets {
    parents: HashMap<Name, Name>,
    constants: HashMap<Name, Term>,
}

impl Sets {
    /// Computes the sets from the equations of a body. Returns `None` if two different constants would be equal.
    pub fn compute(body: &[Expr], live: &BTreeSet<Name>) -> Option<Self> {
        let mut sets = Self::default();
        for expr in body {
            let Some([left, right]) = plain_equation(expr) else {
                continue;
            };
            let added = match (variable(left), variable(right)) {
                (Some(left), Some(right)) => sets.merge(left, right, live),
                (Some(name), None) if is_constant(right) => sets.set(name, right),
                (None, Some(name)) if is_constant(left) => sets.set(name, left),
                _ => true,
            };
            if !added {
                return None;
            }
        }
        Some(sets)
    }

    /// Returns `true` if no variable is equal to another, or to a constant.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Returns the representative of the variables that are equal to `name`, or `None` if there are none.
    pub fn root<'s>(&'s self, mut name: &'s Name) -> Option<&'s Name> {
        loop {
            let parent = self.parents.get(name)?;
            if parent == name {
                return Some(parent);
            }
            name = parent;
        }
    }

    /// Returns the constant that a representative is equal to, or `None` if it is not known.
    pub fn constant(&self, root: &Name) -> Option<&Term> {
        self.constants.get(root)
    }

    /// Forgets the constant of a representative, so that it is not replaced.
    pub fn forget(&mut self, root: &Name) {
        self.constants.remove(root);
    }

    fn make(&mut self, name: &Name) -> Name {
        match self.root(name) {
            Some(root) => root.clone(),
            None => {
                self.parents.insert(name.clone(), name.clone());
                name.clone()
            }
        }
    }

    fn set(&mut self, name: &Name, constant: &Term) -> bool {
        let root = self.make(name);
        let old = self
            .constants
            .entry(root)
            .or_insert_with(|| constant.clone());
        old == constant
    }

    fn merge(&mut self, left: &Name, right: &Name, live: &BTreeSet<Name>) -> bool {
        let (left, right) = (self.make(left), self.make(right));
        if left == right {
            return true;
        }
        let (root, other) = if live.contains(&left) {
            (left, right)
        } else {
            (right, left)
        };
        self.parents.insert(other.clone(), root.clone());
        match self.constants.remove(&other) {
            Some(constant) => self.set(&root, &constant),
            None => true,
        }
    }
}

/// Returns the sides of an equation. Returns `None` for other expressions, and if it is negated or modified.
pub fn plain_equation(expr: &Expr) -> Option<[&Term; 2]> {
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    match expr.operands_of("eq")? {
        [left, right] => Some([left, right]),
        _ => None,
    }
}

/// Returns the name of a variable, or `None` for root documents and other terms.
pub fn variable(term: &Term) -> Option<&Name> {
    term.as_var()
        .filter(|name| !matches!(&***name, "data" | "input"))
}

/// Returns `true` if a term has no variables, references, calls or closures.
pub fn is_constant(term: &Term) -> bool {
    struct Open(bool);
    impl<'a> Visitor<'a> for Open {
        fn term(&mut self, term: &'a Term) -> Descent {
            self.0 |= !matches!(
                term.kind,
                TermKind::Null
                    | TermKind::Boolean(_)
                    | TermKind::Number(_)
                    | TermKind::String(_)
                    | TermKind::Array(_)
                    | TermKind::Object(_)
                    | TermKind::Set(_)
            );
            if self.0 { Descent::Over } else { Descent::Into }
        }
    }
    let mut open = Open(false);
    term.walk(&mut open);
    !open.0
}
