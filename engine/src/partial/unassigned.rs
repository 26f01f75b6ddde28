//! Variables of a body that no expression assigns.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Expr, Name, VarScan};

use crate::compile::functions::CallableFunctions;
use crate::compile::safety::SafeVars;

/// Variables without values. Equations that assign some of them are added one by one.
pub struct UnassignedNames<'c> {
    /// The variables with values. `None` if no variable lacks one.
    safe_vars: Option<SafeVars<'c>>,
    names: Vec<Name>,
}

impl<'c> UnassignedNames<'c> {
    /// Computes the unassigned variables of a body, given that the live ones have values.
    pub fn new(body: &Body, functions: CallableFunctions<'c>, live: &BTreeSet<Name>) -> Self {
        let may_lack = |name: &Name| !matches!(&**name, "data" | "input") && !live.contains(name);
        let scan = VarScan {
            skip_call_heads: true,
            ..VarScan::default()
        };
        if !scan.any(body, may_lack) {
            return Self {
                safe_vars: None,
                names: Vec::new(),
            };
        }
        let mut safe_vars = SafeVars::new(functions, live);
        for expr in body {
            safe_vars.add(expr);
        }
        let names = safe_vars.missing(body);
        Self {
            safe_vars: Some(safe_vars),
            names,
        }
    }

    /// Returns `true` if every variable has a value.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the variables that an equation would assign.
    pub fn outputs(&mut self, equation: &Expr) -> Vec<Name> {
        let safe_vars = self.safe_vars.as_mut();
        safe_vars.map_or_else(Vec::new, |safe_vars| safe_vars.outputs(equation))
    }

    /// Marks variables as assigned. Returns `true` if one of them was not.
    pub fn give(&mut self, outputs: &[Name]) -> bool {
        let before = self.names.len();
        self.names.retain(|name| !outputs.contains(name));
        self.names.len() < before
    }

    /// Records that an added equation assigns these variables.
    pub fn add(&mut self, outputs: Vec<Name>) {
        if let Some(safe_vars) = &mut self.safe_vars {
            safe_vars.add_names(outputs);
        }
    }
}
