//! Checking references step by step: what lies under a step must be something to look into, and the next step
//! one of its keys.

use solon_syntax::ast::visit::{Flow, Visitor, Walk};
use solon_syntax::ast::{Expr, ExprKind, Term, TermKind};

use super::Checker;
use super::constant::json_value;
use super::environment::{is_root, step};
use super::explain::{BadReference, Problem};
use super::tree::{NodeId, TypeTree};
use crate::types::{Type, unifies};
use crate::value::{Kind, Value};

/// Shows every reference of an expression, closures left out, to a checker.
pub struct References<'k, 'c>(pub &'k mut Checker<'c>);

impl<'c> Visitor<'c> for References<'_, 'c> {
    fn expr(&mut self, expr: &'c Expr) -> Flow {
        match &expr.kind {
            ExprKind::Call(terms) => terms.get(1..).unwrap_or_default().walk(self),
            kind => kind.walk(self),
        }
        Flow::Over
    }

    fn term(&mut self, term: &'c Term) -> Flow {
        match &term.kind {
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => Flow::Over,
            TermKind::Ref(terms) => {
                if let Err(mut problem) = self.0.reference(terms) {
                    let head = terms.first().map(|head| head.span);
                    problem.span = head.filter(|span| span.is_somewhere()).unwrap_or(term.span);
                    self.0.problems.push(*problem);
                }
                Flow::Into
            }
            _ => Flow::Into,
        }
    }
}

type Checked = Result<(), Box<Problem>>;

impl Checker<'_> {
    fn reference(&mut self, reference: &[Term]) -> Checked {
        let Some(name) = reference.first().and_then(Term::as_var) else {
            return Ok(());
        };
        if let Some(of) = self.env.variable(name).cloned() {
            return self.steps(&of, reference, 1);
        }
        if !is_root(name) {
            self.env.bind(name, Type::Any);
            return self.steps(&Type::Any, reference, 1);
        }
        for layer in 0..self.env.depth() {
            if let Some(checked) = self.document(layer, TypeTree::ROOT, reference, 0) {
                return checked;
            }
        }
        Ok(())
    }

    /// Checks a reference against what a layer knows; `None` when that is nothing and another layer counts.
    fn document(
        &mut self,
        layer: usize,
        id: NodeId,
        reference: &[Term],
        at: usize,
    ) -> Option<Checked> {
        let Some(key) = reference.get(at) else {
            return Some(Ok(()));
        };
        let tree = self.env.layer(layer)?;
        if (at == 1 || at == 2) && !matches!(key.kind, TermKind::Var(_) | TermKind::String(_)) {
            let (have, keys) = (self.env.of(key), node_keys(tree, id));
            return Some(self.invalid(reference, at, Some(&have), &Type::String, keys));
        }
        if let Some(name) = key.as_var().filter(|_| at > 0) {
            let keys = tree.keys(id);
            match self.env.variable(name).cloned() {
                Some(have) if !unifies(&keys, &have) => {
                    let one_of = node_keys(tree, id);
                    return Some(self.invalid(reference, at, Some(&have), &keys, one_of));
                }
                Some(_) => {}
                None => self.env.bind(name, keys),
            }
        }
        let tree = self.env.layer(layer)?;
        if let Some(next) = step(tree, id, key) {
            if tree.is_leaf(next) {
                let of = tree.whole(next).clone();
                return Some(self.steps(&of, reference, at + 1));
            }
            return self.document(layer, next, reference, at + 1);
        }
        if layer + 1 < self.env.depth() {
            return None;
        }
        if at == 0 {
            return Some(self.steps(&Type::Any, reference, 1));
        }
        if key.as_var().is_some() {
            self.any_document(layer, id, reference, at + 1);
        }
        // whatever lies there binds what is still free
        let _ = self.steps(&Type::Any, reference, at + 1);
        Some(Ok(()))
    }

    /// Binds the variables of further steps by the first document that tells their types.
    fn any_document(&mut self, layer: usize, id: NodeId, reference: &[Term], at: usize) {
        let free = |env: &super::Environment<'_>| {
            let mut names = reference.iter().skip(at).filter_map(Term::as_var);
            names.any(|name| env.variable(name).is_none())
        };
        let Some(tree) = self.env.layer(layer) else {
            return;
        };
        let children: Vec<_> = tree.children(id).map(|(_, child)| child).collect();
        for child in children {
            if !free(&self.env) {
                return;
            }
            // an error here is none: another document may fit, or one that is not known
            let _ = self.document(layer, child, reference, at);
        }
    }

    /// Checks the steps of a reference into a type.
    fn steps(&mut self, of: &Type, reference: &[Term], at: usize) -> Checked {
        let mut of = of.clone();
        for (position, key) in reference.iter().enumerate().skip(at) {
            if matches!(of, Type::Function(_)) {
                return self.unsupported(reference, position - 1, &of);
            }
            if of.is_empty() {
                return self.invalid(reference, position, None, &Type::Unknown, Some(Vec::new()));
            }
            let keys = of.keys();
            if !keys.is_known() {
                return self.unsupported(reference, position - 1, &of);
            }
            of = match &key.kind {
                TermKind::Var(name) if self.env.variable(name).is_none() => {
                    self.env.bind(name, keys);
                    of.values()
                }
                TermKind::Var(_) | TermKind::Ref(_) => {
                    let have = self.env.of(key);
                    if have.is_known() && !unifies(&have, &keys) {
                        return self.invalid(
                            reference,
                            position,
                            Some(&have),
                            &keys,
                            known_keys(&of),
                        );
                    }
                    of.values()
                }
                TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_) => {
                    if !self.env.fit(key, &keys, false) {
                        let have = self.env.of(key);
                        return self.invalid(reference, position, Some(&have), &keys, None);
                    }
                    of.values()
                }
                _ => {
                    let found = json_value(key).map(|key| of.select(key.borrow()));
                    match found.filter(Type::is_known) {
                        Some(found) => found,
                        None => {
                            return self.invalid(reference, position, None, &keys, known_keys(&of));
                        }
                    }
                }
            };
        }
        if matches!(of, Type::Function(_)) {
            return self.unsupported(reference, reference.len() - 1, &of);
        }
        Ok(())
    }

    fn unsupported(&self, reference: &[Term], position: usize, have: &Type) -> Checked {
        let reference = &self.restore(reference);
        let bad = BadReference {
            reference,
            position,
        };
        Err(Box::new(bad.unsupported(have)))
    }

    fn invalid(
        &self,
        reference: &[Term],
        position: usize,
        have: Option<&Type>,
        want: &Type,
        one_of: Option<Vec<Value>>,
    ) -> Checked {
        let reference = &self.restore(reference);
        let bad = BadReference {
            reference,
            position,
        };
        Err(Box::new(bad.invalid(have, want, one_of.as_deref())))
    }
}

/// The steps from a node, if there are any.
fn node_keys(tree: &TypeTree, id: NodeId) -> Option<Vec<Value>> {
    let keys: Vec<_> = tree.children(id).map(|(key, _)| key.clone()).collect();
    (!keys.is_empty()).then_some(keys)
}

/// The known keys of objects, if there are any.
fn known_keys(of: &Type) -> Option<Vec<Value>> {
    let mut keys = Vec::new();
    let members = match of {
        Type::Union(union) => union.members(),
        other => std::slice::from_ref(other),
    };
    for member in members {
        let member = match member {
            Type::Recursive(inner) => inner.unfold(),
            member => member,
        };
        if let Type::Object(object) = member {
            keys.extend(object.fixed().iter().map(|(key, _)| key.clone()));
        }
    }
    keys.sort();
    // composite keys are listed as often as they occur, as published
    keys.dedup_by(|a, b| a == b && !matches!(a.kind(), Kind::Array | Kind::Object));
    (!keys.is_empty()).then_some(keys)
}
