//! Which variables the bodies around a term know, and under which local.

use solon_syntax::ast::Name;

use crate::compile::locals::Locals;
use crate::compile::small_map::SmallMap;

/// How a variable came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// As an argument of the function.
    Argument,
    /// By its use.
    Used,
    /// By `:=`.
    Assigned,
    /// By `some` or `every`.
    ColumnDeclaration,
}

/// A known variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// The local that stands for it, or its own name.
    pub local: Name,
    pub occurrence: Occurrence,
    /// How often it occurred, its declaration included.
    pub count: u32,
    /// Position, in the body of its scope, of the expression that declared it.
    pub declared_by: usize,
}

/// What one body knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub variables: SmallMap<Name, Variable>,
    /// Position of the expression being rewritten.
    pub position: usize,
}

/// The scopes around a term, the innermost last.
#[derive(Clone, Debug)]
pub(super) struct Scopes(Vec<Scope>);

impl Default for Scopes {
    fn default() -> Self {
        Self(vec![Scope::default()])
    }
}

impl Scopes {
    pub(super) fn push(&mut self) {
        self.0.push(Scope::default());
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// The innermost scope.
    pub(super) fn innermost(&self) -> Option<&Scope> {
        self.0.last()
    }

    /// Notes which expression of the innermost scope's body comes next.
    pub(super) fn at(&mut self, position: usize) {
        if let Some(scope) = self.0.last_mut() {
            scope.position = position;
        }
    }

    /// A variable of any scope.
    pub(super) fn find(&self, name: &Name) -> Option<&Variable> {
        self.0
            .iter()
            .rev()
            .find_map(|scope| scope.variables.get(name))
    }

    /// Counts an occurrence of a known variable and answers its local; `None` for an unknown one.
    pub(super) fn see(&mut self, name: &Name) -> Option<Name> {
        let variable = self
            .0
            .iter_mut()
            .rev()
            .find_map(|scope| scope.variables.get_mut(name))?;
        variable.count += 1;
        Some(variable.local.clone())
    }

    /// Makes a variable known that keeps its name.
    pub(super) fn keep(&mut self, name: &Name) {
        self.insert(name, name.clone(), Occurrence::Used);
    }

    /// Makes a variable known under a new local.
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

    /// Declares a variable in the innermost scope, or says why it cannot be.
    pub(super) fn declare(
        &mut self,
        name: &Name,
        occurrence: Occurrence,
        locals: &mut Locals,
    ) -> Result<Name, String> {
        let known = self.innermost().and_then(|scope| scope.variables.get(name));
        let text = if name.starts_with('$') { "_" } else { name };
        match known.map(|variable| variable.occurrence) {
            None => Ok(self.rename(name, occurrence, locals)),
            Some(Occurrence::Used) => Err(format!("var {text} referenced above")),
            Some(Occurrence::Assigned) => Err(format!("var {text} assigned above")),
            Some(Occurrence::ColumnDeclaration) => Err(format!("var {text} declared above")),
            Some(Occurrence::Argument) => Err(format!("arg {text} redeclared")),
        }
    }

    fn insert(&mut self, name: &Name, local: Name, occurrence: Occurrence) {
        if let Some(scope) = self.0.last_mut() {
            let variable = Variable {
                local,
                occurrence,
                count: 1,
                declared_by: scope.position,
            };
            scope.variables.insert(name.clone(), variable);
        }
    }
}
