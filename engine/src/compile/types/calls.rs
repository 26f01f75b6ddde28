//! Type checks of calls: operands against parameters, the two sides of an equation, and replacements by `with`.

use solon_syntax::ast::{Expr, ExprKind, Term, With};
use solon_syntax::print::display_ref;

use super::TypeChecker;
use super::constant::json_value;
use super::environment::is_root;
use super::explain::TypeProblem;
use crate::types::{FunctionType, Parameter, Type, unifies};
use crate::value::Value;

impl TypeChecker<'_> {
    /// Checks an expression's replacements, then its call. Returns the first problem, or `None`.
    pub(super) fn call(&mut self, expr: &Expr) -> Option<TypeProblem> {
        if let Some(problem) = expr.with.iter().find_map(|with| self.replacement(with)) {
            return Some(problem);
        }
        let ExprKind::Call(terms) = &expr.kind else {
            return None;
        };
        let replaces_function =
            |with: &With| self.env.of_operator(&with.target).as_function().is_some();
        if self.env.partial && expr.with.iter().any(replaces_function) {
            // A replacement of a function may return anything.
            return None;
        }
        if let Some([left, right]) = expr.operands_of("eq") {
            let (of_left, of_right) = (self.env.type_of(left), self.env.type_of(right));
            let equal = self.env.unify(left, &of_left, right, &of_right);
            return (!equal).then(|| TypeProblem::mismatch(expr.span, &of_left, &of_right));
        }
        if let Some(problem) = self.membership(expr) {
            return Some(problem);
        }
        let (operator, operands) = terms.split_first()?;
        let callee = self.env.of_operator(operator);
        if !matches!(callee, Type::Any | Type::Function(_)) && is_document(operator) {
            // OPA checks definitions with an error first.
            let message = format!("undefined function {}", name(operator));
            return Some(TypeProblem::new(expr.span, message));
        }
        self.operands(expr, operator, operands, callee.as_function()?)
    }

    /// Checks that the member of an `in` may be an element of the collection.
    fn membership(&mut self, expr: &Expr) -> Option<TypeProblem> {
        let (key, value, collection, output) = match expr.operands_of("internal.member_2") {
            Some([value, collection, output @ ..]) => (None, value, collection, output),
            _ => match expr.operands_of("internal.member_3") {
                Some([key, value, collection, output @ ..]) => {
                    (Some(key), value, collection, output)
                }
                _ => return None,
            },
        };
        if self.env.partial && !output.is_empty() {
            return None;
        }
        let searched = self.env.type_of(collection);
        // An empty collection has no keys.
        let key = key.filter(|_| !searched.is_empty());
        let key = key.map(|key| (key, searched.keys()));
        for (term, expected) in key.into_iter().chain([(value, searched.values())]) {
            if expected.has_unknown() {
                continue;
            }
            let ty = self.env.type_of(term);
            let checkpoint = self.env.checkpoint();
            if !self.env.fit(term, &expected, false) {
                return Some(TypeProblem::mismatch(expr.span, &ty, &expected));
            }
            if term.as_var().is_none() {
                // The membership test does not narrow the types of its variables.
                self.env.leave(checkpoint);
            }
        }
        None
    }

    fn operands(
        &mut self,
        expr: &Expr,
        operator: &Term,
        operands: &[Term],
        callee: &FunctionType,
    ) -> Option<TypeProblem> {
        let types = |checker: &Self| -> Vec<_> {
            operands
                .iter()
                .map(|operand| checker.env.type_of(operand))
                .collect()
        };
        let before = types(self);
        let problem = |reason: &str, have: &[Type]| {
            let want: Vec<_> = callee.args.iter().chain(&callee.result).cloned().collect();
            Some(TypeProblem::operands(
                expr.span,
                &name(operator),
                reason,
                have,
                &want,
            ))
        };
        if operands.len() < callee.arity() {
            return problem("too few arguments", &before);
        }
        // An equation has no result to compare with a third operand.
        if operands.len() > callee.arity() && operator.is_operator("eq") {
            return problem("too many arguments", &before);
        }
        for (position, (operand, ty)) in operands.iter().zip(&before).enumerate() {
            let Some(want) = callee.operand(position) else {
                return problem("too many arguments", &before);
            };
            let possible = ty.has_unknown() || self.env.unifies(ty, want);
            if !possible || !self.env.fit(operand, want, false) {
                // A type that was unknown is reported as the call inferred it.
                let message = if ty.has_unknown() {
                    types(self)
                } else {
                    before
                };
                return problem("invalid argument(s)", &message);
            }
        }
        None
    }

    /// Checks that a replacing function accepts the arguments of the replaced one.
    fn replacement(&self, with: &With) -> Option<TypeProblem> {
        let target = self.env.of_operator(&with.target);
        let value = self.env.of_operator(&with.value);
        let (expected, actual) = (target.as_function()?, value.as_function()?);
        if target == value || unifies(&target, &value) {
            return None;
        }
        let have: Vec<_> = actual
            .args
            .iter()
            .map(|parameter| parameter.of.clone())
            .collect();
        let want: Vec<Parameter> = expected.args.clone();
        let name = name(&with.target);
        Some(TypeProblem::operands(
            with.span,
            &name,
            "arity mismatch",
            &have,
            &want,
        ))
    }
}

/// Returns `true` if an operator is a function of the policy: a reference into `data`.
fn is_document(operator: &Term) -> bool {
    let head = reference(operator).first().and_then(Term::as_var);
    head.is_some_and(|name| &**name == "data")
}

/// Returns a term as a reference. A variable is a reference of one term.
pub(super) fn reference(term: &Term) -> &[Term] {
    term.as_ref()
        .map_or(std::slice::from_ref(term), Vec::as_slice)
}

/// Returns the name of an operator, as messages show it.
fn name(operator: &Term) -> String {
    match operator.as_ref() {
        Some(reference) => display_ref(reference).to_string(),
        None => operator.to_string(),
    }
}

/// Returns the path of a document, or `None` if a step is not constant or the reference does not start at a root.
pub(super) fn document_path(reference: &[Term]) -> Option<Vec<Value>> {
    constant_prefix(reference).filter(|path| path.len() == reference.len())
}

/// Returns the leading constant steps of a reference to documents, or `None` if it does not start at a root.
pub(super) fn constant_prefix(reference: &[Term]) -> Option<Vec<Value>> {
    let (head, steps) = reference.split_first()?;
    let root = head.as_var().filter(|name| is_root(name))?;
    let steps = steps.iter().map_while(json_value);
    Some(std::iter::once(Value::string(root)).chain(steps).collect())
}
