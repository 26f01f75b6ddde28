//! Unification of types: terms with types, and terms with each other.

use solon_syntax::ast::order::sorted_pairs;
use solon_syntax::ast::{Term, TermKind};

use super::constant::json_value;
use super::environment::TypeEnvironment;
use crate::types::{ArrayType, ObjectType, Type, union};

impl TypeEnvironment<'_> {
    /// Returns `true` if two terms can be equal; infers types for variables without one.
    pub fn unify(&mut self, a: &Term, of_a: &Type, b: &Term, of_b: &Type) -> bool {
        if self.partial {
            return self.may_unify(a, of_a, b, of_b);
        }
        match (of_a.has_unknown(), of_b.has_unknown()) {
            (true, false) => self.fit(a, of_b, false),
            (false, true) => self.fit(b, of_a, false),
            (false, false) => self.unifies(of_a, of_b),
            (true, true) => self.unify_unknown(a, b),
        }
    }

    /// Returns `true` if two terms can be equal, for residuals: a variable without a type may have any value.
    fn may_unify(&mut self, a: &Term, of_a: &Type, b: &Term, of_b: &Type) -> bool {
        for (term, ty) in [(a, of_b), (b, of_a)] {
            if let Some(name) = term.as_var()
                && self.variable(name).is_none()
            {
                self.bind(name, ty.clone());
                return true;
            }
        }
        self.unifies(of_a, of_b)
    }

    fn unify_unknown(&mut self, a: &Term, b: &Term) -> bool {
        match (&a.kind, &b.kind) {
            (TermKind::Array(left), TermKind::Array(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(a, b)| self.unify_terms(a, b))
            }
            (TermKind::Object(left), TermKind::Object(right)) => {
                let (left, right) = (sorted_pairs(left), sorted_pairs(right));
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(&right)
                        .all(|((key, a), (other, b))| key == other && self.unify_terms(a, b))
            }
            (_, TermKind::Var(_)) => self.settle(a, b),
            (TermKind::Var(_), _) => self.settle(b, a),
            _ => false,
        }
    }

    /// Infers the type of a variable from a term, whose own variables may be anything.
    fn settle(&mut self, term: &Term, variable: &Term) -> bool {
        match term.kind {
            TermKind::Ref(_) => return self.fit(variable, &Type::Any, false),
            TermKind::Var(_) | TermKind::Array(_) | TermKind::Object(_) => {
                self.fit(term, &Type::Any, false);
            }
            // as in OPA, a variable with a partly known type is not narrowed
            _ if self.type_of(variable).is_known() => return false,
            _ => {}
        }
        let ty = self.type_of(term);
        ty.is_known() && self.fit(variable, &ty, false)
    }

    fn unify_terms(&mut self, a: &Term, b: &Term) -> bool {
        let (of_a, of_b) = (self.type_of(a), self.type_of(b));
        self.unify(a, &of_a, b, &of_b)
    }

    /// Returns `true` if a term can have a type; infers types for variables without one. With `joining`, the type is
    /// one of several alternatives and extends the types of variables.
    pub fn fit(&mut self, term: &Term, ty: &Type, joining: bool) -> bool {
        match (&term.kind, ty) {
            (TermKind::Var(name), _) => {
                match self.variable(name).cloned() {
                    Some(bound_type) if joining => self.bind(name, union(bound_type, ty.clone())),
                    Some(bound_type) => return self.unifies(&bound_type, ty),
                    None => self.bind(name, ty.clone()),
                }
                true
            }
            (TermKind::Array(terms), Type::Array(ty)) => self.fit_array(terms, ty, joining),
            (TermKind::Object(pairs), Type::Object(ty)) => self.fit_object(pairs, ty, joining),
            (TermKind::Set(terms), Type::Set(ty)) => terms
                .iter()
                .all(|term| self.fit(term, ty.element(), joining)),
            (TermKind::Array(terms) | TermKind::Set(terms), Type::Any) => {
                for term in terms {
                    self.fit(term, &Type::Any, true);
                }
                true
            }
            (TermKind::Object(pairs), Type::Any) => {
                for (key, value) in pairs {
                    self.fit(key, &Type::Any, true);
                    self.fit(value, &Type::Any, true);
                }
                true
            }
            (TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_), Type::Union(union)) => {
                let mut fits = false;
                for member in union.members() {
                    fits |= self.fit(term, member, true);
                }
                fits
            }
            (
                TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_),
                Type::Recursive(inner),
            ) => self.fit(term, inner.unfold(), joining),
            (TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_), _) => false,
            _ => self.unifies(&self.type_of(term), ty),
        }
    }

    fn fit_array(&mut self, terms: &[Term], ty: &ArrayType, joining: bool) -> bool {
        if terms.len() != ty.fixed().len() && ty.rest().is_none() {
            return false;
        }
        terms.iter().enumerate().all(|(position, term)| {
            let ty = ty.element_at(position).cloned().unwrap_or_default();
            self.fit(term, &ty, joining)
        })
    }

    fn fit_object(&mut self, pairs: &[(Term, Term)], ty: &ObjectType, joining: bool) -> bool {
        // keys that are not constants may be equal
        let is_counted = !self.partial || pairs.iter().all(|(key, _)| json_value(key).is_some());
        if is_counted && pairs.len() != ty.fixed().len() && ty.rest().is_none() {
            return false;
        }
        pairs.iter().all(|(key, value)| {
            let Some(key) = json_value(key) else {
                self.fit(value, &Type::Any, joining);
                return true;
            };
            let member_type = ty.select(key.borrow()).filter(|ty| ty.is_known());
            member_type.is_some_and(|ty| self.fit(value, ty, joining))
        })
    }
}
