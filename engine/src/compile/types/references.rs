//! Type checks of references, step by step: the value before a step must be a collection, and the step one of its keys.

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Expr, ExprKind, Term, TermKind};

use super::TypeChecker;
use super::constant::json_value;
use super::environment::{is_root, step};
use super::explain::{BadReference, TypeProblem};
use super::tree::{TypeNodeId, TypeTree};
use crate::types::Type;
use crate::value::{Kind, Value};

/// Visitor that checks every reference of an expression outside closures.
pub struct ReferenceChecker<'k, 'c>(pub &'k mut TypeChecker<'c>);

impl<'c> Visitor<'c> for ReferenceChecker<'_, 'c> {
    fn expr(&mut self, expr: &'c Expr) -> Descent {
        match &expr.kind {
            ExprKind::Call(terms) => terms.get(1..).unwrap_or_default().walk(self),
            // over an empty domain it holds without its body
            ExprKind::Every(every) if self.0.env.partial => every.domain.walk(self),
            kind => kind.walk(self),
        }
        Descent::Over
    }

    fn term(&mut self, term: &'c Term) -> Descent {
        match &term.kind {
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => Descent::Over,
            TermKind::Ref(terms) => {
                if let Err(wrong) = self.0.reference(terms) {
                    let mut problem = self.0.explain(terms, &wrong);
                    let head = terms.first().map(|head| head.span);
                    problem.span = head.filter(|span| span.is_somewhere()).unwrap_or(term.span);
                    self.0.problems.push(problem);
                }
                Descent::Into
            }
            _ => Descent::Into,
        }
    }
}

/// An invalid step of a reference. It is rendered only when it is reported.
enum RefError {
    /// The value before this step has no keys.
    Unsupported(usize, Type),
    /// The step is not a valid key.
    Invalid {
        at: usize,
        /// Type of the step, if that is the reason.
        have: Option<Type>,
        want: Type,
        keys: PossibleKeys,
    },
}

/// Possible keys of a step: a type, or the keys below a node of the tree.
enum PossibleKeys {
    /// Keys of a type, if they are known.
    OfType(Type),
    From(usize, TypeNodeId),
    /// The type has no keys.
    Nothing,
    /// Too many keys to list.
    Unlisted,
}

type RefResult = Result<(), RefError>;

impl TypeChecker<'_> {
    fn reference(&mut self, reference: &[Term]) -> RefResult {
        let Some(name) = reference.first().and_then(Term::as_var) else {
            // steps into an untyped variable are unchecked, and so are the keys
            for name in reference.iter().filter_map(Term::as_var) {
                if self.env.variable(name).is_none() {
                    self.env.bind(name, Type::Any);
                }
            }
            return Ok(());
        };
        if let Some(ty) = self.env.variable(name).cloned() {
            return self.steps(&ty, reference, 1);
        }
        if !is_root(name) {
            self.env.bind(name, Type::Any);
            return self.steps(&Type::Any, reference, 1);
        }
        for layer in 0..self.env.depth() {
            if let Some(result) = self.document(layer, TypeTree::ROOT, reference, 0) {
                return result;
            }
        }
        Ok(())
    }

    /// Checks a reference against a layer; `None` if the layer has no type and another one applies.
    fn document(
        &mut self,
        layer: usize,
        id: TypeNodeId,
        reference: &[Term],
        position: usize,
    ) -> Option<RefResult> {
        let Some(key) = reference.get(position) else {
            return Some(Ok(()));
        };
        let tree = self.env.layer(layer)?;
        if (position == 1 || position == 2)
            && !matches!(key.kind, TermKind::Var(_) | TermKind::String(_))
        {
            return Some(Err(RefError::Invalid {
                at: position,
                have: Some(self.env.type_of(key)),
                want: Type::String,
                keys: PossibleKeys::From(layer, id),
            }));
        }
        if let Some(name) = key.as_var().filter(|_| position > 0) {
            let want = tree.keys(id).clone();
            match self.env.variable(name) {
                Some(have) if !self.env.unifies(&want, have) => {
                    return Some(Err(RefError::Invalid {
                        at: position,
                        have: Some(have.clone()),
                        want,
                        keys: PossibleKeys::From(layer, id),
                    }));
                }
                Some(_) => {}
                None => self.env.bind(name, want),
            }
        }
        let tree = self.env.layer(layer)?;
        if let Some(next) = step(tree, id, key) {
            if tree.is_leaf(next) {
                let ty = tree.type_of_node(next).clone();
                return Some(self.steps(&ty, reference, position + 1));
            }
            return self.document(layer, next, reference, position + 1);
        }
        if layer + 1 < self.env.depth() {
            return None;
        }
        if position == 0 {
            return Some(self.steps(&Type::Any, reference, 1));
        }
        // any value may bind the free variables
        let _ = self.steps(&Type::Any, reference, position + 1);
        Some(Ok(()))
    }

    /// Checks the steps of a reference into a type, from `position` on.
    ///
    /// # Errors
    /// A step is impossible for the type, or the value is a function.
    fn steps(&mut self, ty: &Type, reference: &[Term], position: usize) -> RefResult {
        let mut ty = ty.clone();
        for (position, key) in reference.iter().enumerate().skip(position) {
            if ty.is_empty() {
                return self.step_into_nothing(&ty, key, position);
            }
            ty = self.step(ty, key, position)?;
        }
        match ty {
            Type::Function(_) => Err(RefError::Unsupported(reference.len() - 1, ty)),
            _ => Ok(()),
        }
    }

    /// Checks one step into a type and returns the type of its value. Binds a free variable to the type of the keys.
    fn step(&mut self, ty: Type, key: &Term, position: usize) -> Result<Type, RefError> {
        let want = ty.keys();
        if !want.is_known() {
            return Err(RefError::Unsupported(position - 1, ty));
        }
        match &key.kind {
            TermKind::Var(name) if self.env.variable(name).is_none() => {
                self.env.bind(name, want);
                Ok(ty.values())
            }
            TermKind::Var(_) | TermKind::Ref(_) => {
                let have = self.env.type_of(key);
                if !have.is_known() || self.env.unifies(&have, &want) {
                    return Ok(ty.values());
                }
                Err(RefError::Invalid {
                    at: position,
                    have: Some(have),
                    want,
                    keys: PossibleKeys::OfType(ty),
                })
            }
            TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_) => {
                if self.env.fit(key, &want, false) {
                    return Ok(ty.values());
                }
                Err(RefError::Invalid {
                    at: position,
                    have: Some(self.env.type_of(key)),
                    want,
                    keys: PossibleKeys::Unlisted,
                })
            }
            _ => {
                let selected = json_value(key).map(|key| ty.select(key.borrow()));
                selected.filter(Type::is_known).ok_or(RefError::Invalid {
                    at: position,
                    have: None,
                    want,
                    keys: PossibleKeys::OfType(ty),
                })
            }
        }
    }

    /// Checks a step into an empty collection. A constant key is invalid; a variable is valid, and the steps after it
    /// are unchecked.
    fn step_into_nothing(&mut self, ty: &Type, key: &Term, position: usize) -> RefResult {
        let wrong = |have, want| {
            Err(RefError::Invalid {
                at: position,
                have,
                want,
                keys: PossibleKeys::Nothing,
            })
        };
        if key.is_scalar() {
            return wrong(None, Type::Unknown);
        }
        let Some(name) = key.as_var() else {
            return Ok(());
        };
        match (self.env.variable(name), ty) {
            (None, _) => self.env.bind(name, Type::Any),
            // indices are numbers even in an empty array
            (Some(have), Type::Array(_)) if !self.env.unifies(have, &Type::Number) => {
                return wrong(Some(have.clone()), Type::Number);
            }
            (Some(_), _) => {}
        }
        Ok(())
    }

    /// Creates the error of an invalid reference.
    fn explain(&self, reference: &[Term], wrong: &RefError) -> TypeProblem {
        let reference = &self.restore(reference);
        match wrong {
            RefError::Unsupported(position, have) => BadReference {
                reference,
                position: *position,
            }
            .unsupported(have),
            RefError::Invalid {
                at: position,
                have,
                want,
                keys,
            } => {
                let keys = match keys {
                    PossibleKeys::OfType(ty) => constant_keys(ty),
                    PossibleKeys::From(layer, id) => {
                        self.env.layer(*layer).and_then(|tree| node_keys(tree, *id))
                    }
                    PossibleKeys::Nothing => Some(Vec::new()),
                    PossibleKeys::Unlisted => None,
                };
                BadReference {
                    reference,
                    position: *position,
                }
                .invalid(have.as_ref(), want, keys.as_deref())
            }
        }
    }
}

/// Returns the keys of a node's children, if there are any.
fn node_keys(tree: &TypeTree, id: TypeNodeId) -> Option<Vec<Value>> {
    let keys: Vec<_> = tree.children(id).map(|(key, _)| key.clone()).collect();
    (!keys.is_empty()).then_some(keys)
}

/// Returns the known keys of objects, if there are any.
fn constant_keys(ty: &Type) -> Option<Vec<Value>> {
    let mut keys = Vec::new();
    let members = match ty {
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
    // as in OPA, composite keys are listed as often as they occur
    keys.dedup_by(|a, b| a == b && !matches!(a.kind(), Kind::Array | Kind::Object));
    (!keys.is_empty()).then_some(keys)
}
