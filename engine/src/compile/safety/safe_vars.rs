//! Which variables a body gives values to, in the order its expressions stand.

use std::collections::BTreeSet;

use solon_syntax::ast::{Expr, Name};

use super::outputs::{OWN, outputs};
use super::vars::{VarSet, Vars};
use crate::compile::functions::Functions;

/// The variables that have values.
pub struct SafeVars<'c> {
    functions: Functions<'c>,
    vars: Vars,
    safe: VarSet,
}

impl<'c> SafeVars<'c> {
    /// The documents and some variables have values.
    pub fn new(functions: Functions<'c>, safe: &BTreeSet<Name>) -> Self {
        let mut vars = Vars::default();
        let mut known = super::roots(&mut vars);
        for name in safe {
            known.insert(vars.var(name));
        }
        Self {
            functions,
            vars,
            safe: known,
        }
    }

    /// Adds the variables that an expression binds.
    pub fn add(&mut self, expr: &Expr) {
        let bound = outputs(&mut self.vars, self.functions, expr, &self.safe);
        self.safe.add(&bound);
    }

    /// Adds variables by name.
    pub fn add_names(&mut self, names: Vec<Name>) {
        for name in names {
            let var = self.vars.var(&name);
            self.safe.insert(var);
        }
    }

    /// The variables that an expression would bind.
    pub fn outputs(&mut self, expr: &Expr) -> Vec<Name> {
        let bound = outputs(&mut self.vars, self.functions, expr, &self.safe);
        let names = bound.iter().filter_map(|var| self.vars.name(var).cloned());
        names.collect()
    }

    /// The variables of a body, closures apart, that have no values.
    pub fn missing(&mut self, body: &[Expr]) -> Vec<Name> {
        let used = self.vars.scan(OWN, body);
        let missing = used.without(&self.safe);
        let names = missing
            .iter()
            .filter_map(|var| self.vars.name(var).cloned());
        names.collect()
    }
}
