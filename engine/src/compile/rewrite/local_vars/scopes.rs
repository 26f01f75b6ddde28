//! Scopes: the variables of the bodies around a term, with their locals.

use solon_syntax::ast::Name;

use crate::compile::locals::Locals;
use crate::compile::small_map::SmallMap;

/// First occurrence of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    Argument,
    /// Used without a declaration.
    Used,
    Assigned,
    /// Declared by `some` or `every`.
    Declared,
}

/// A variable of a scope: its new name and its uses.
#[derive(Clone, Debug)]
pub(super) struct ScopeVariable {
    /// The local that replaces it, or its own name.
    pub local: Name,
    pub occurrence: Occurrence,
    /// Number of occurrences, including the declaration.
    pub count: u32,
    /// Index of the declaring expression in the body of the scope.
    pub declared_by: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct BodyScope {
    pub variables: SmallMap<Name, ScopeVariable>,
    /// Index of the expression being rewritten.
    pub position: usize,
}

/// Enclosing scopes, innermost last.
#[derive(Clone, Debug)]
pub(super) struct Scopes(Vec<BodyScope>);

impl Default for Scopes {
    fn default() -> Self {
        Self(vec![BodyScope::default()])
    }
}

impl Scopes {
    /// Opens a scope within the innermost one.
    pub(super) fn push(&mut self) {
        self.0.push(BodyScope::default());
    }

    /// Closes the innermost scope.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// Returns the innermost scope, or `None` outside of all scopes.
    pub(super) fn innermost(&self) -> Option<&BodyScope> {
        self.0.last()
    }

    /// Sets the index of the current expression of the innermost scope's body.
    pub(super) fn set_position(&mut self, position: usize) {
        if let Some(scope) = self.0.last_mut() {
            scope.position = position;
        }
    }

    /// Returns a variable of the innermost scope that has it, or `None`.
    pub(super) fn find(&self, name: &Name) -> Option<&ScopeVariable> {
        self.0
            .iter()
            .rev()
            .find_map(|scope| scope.variables.get(name))
    }

    /// Counts an occurrence of a variable and returns its local; `None` for an unknown variable.
    pub(super) fn see(&mut self, name: &Name) -> Option<Name> {
        let variable = self
            .0
            .iter_mut()
            .rev()
            .find_map(|scope| scope.variables.get_mut(name))?;
        variable.count += 1;
        Some(variable.local.clone())
    }

    /// Adds a variable that keeps its name.
    pub(super) fn keep(&mut self, name: &Name) {
        self.insert(name, name.clone(), Occurrence::Used);
    }

    /// Adds a variable with a new local.
    pub(super) fn rename(
        &mut self,
        name: &Name,
        occurrence: Occurrence,
        locals: &mut Locals,
    ) -> Name {
        let local = locals.rename(name);
        self.insert(name, local.clone(), occurrence);
        local
    }

    /// Declares a variable in the innermost scope and returns its local name. The error is the reason why it cannot be
    /// declared: the scope uses or declares it already.
    pub(super) fn declare(
        &mut self,
        name: &Name,
        occurrence: Occurrence,
        locals: &mut Locals,
    ) -> Result<Name, String> {
        let existing = self.innermost().and_then(|scope| scope.variables.get(name));
        let text = if name.starts_with('$') { "_" } else { name };
        match existing.map(|variable| variable.occurrence) {
            None => Ok(self.rename(name, occurrence, locals)),
            Some(Occurrence::Used) => Err(format!("var {text} referenced above")),
            Some(Occurrence::Assigned) => Err(format!("var {text} assigned above")),
            Some(Occurrence::Declared) => Err(format!("var {text} declared above")),
            Some(Occurrence::Argument) => Err(format!("arg {text} redeclared")),
        }
    }

    fn insert(&mut self, name: &Name, local: Name, occurrence: Occurrence) {
        if let Some(scope) = self.0.last_mut() {
            let variable = ScopeVariable {
                local,
                occurrence,
                count: 1,
                declared_by: scope.position,
            };
            scope.variables.insert(name.clone(), variable);
        }
    }
}
