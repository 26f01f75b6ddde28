//! Variables that a body binds, in the order of its expressions.

use std::collections::BTreeSet;

use solon_syntax::ast::{Expr, Name};

use super::outputs::{OWN, outputs};
use super::vars::{VarSet, Vars};
use crate::compile::functions::CallableFunctions;

/// The variables that have values.
pub struct SafeVars<'c> {
    functions: CallableFunctions<'c>,
    vars: Vars,
    safe: VarSet,
}

impl<'c> SafeVars<'c> {
    /// Creates a set of the documents and some variables.
    pub fn new(functions: CallableFunctions<'c>, safe: &BTreeSet<Name>) -> Self {
        let mut vars = Vars::default();
        let mut safe_vars = super::roots(&mut vars);
        for name in safe {
            safe_vars.insert(vars.var(name));
        }
        Self {
            functions,
            vars,
            safe: safe_vars,
        }
    }

    /// Adds the variables that an expression binds.
    pub fn add(&mut self, expr: &Expr) {
        let bound = outputs(&mut self.vars, self.functions, expr, &self.safe);
        self.safe.add(&bound);
    }

    /// Adds variables by name. Unknown names are numbered.
    pub fn add_names(&mut self, names: Vec<Name>) {
        for name in names {
            let var = self.vars.var(&name);
            self.safe.insert(var);
        }
    }

    /// Returns the variables that an expression would bind.
    pub fn outputs(&mut self, expr: &Expr) -> Vec<Name> {
        let bound = outputs(&mut self.vars, self.functions, expr, &self.safe);
        let names = bound.iter().filter_map(|var| self.vars.name(var).cloned());
        names.collect()
    }

    /// Returns the variables of a body without values, except those of closures.
    pub fn missing(&mut self, body: &[Expr]) -> Vec<Name> {
        let used = self.vars.scan(OWN, body);
        let missing = used.without(&self.safe);
        let names = missing
            .iter()
            .filter_map(|var| self.vars.name(var).cloned());
        names.collect()
    }
}
