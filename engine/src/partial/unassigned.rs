//! The variables of a body that nothing in it gives a value to.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Expr, Name, VarScan};

use crate::compile::functions::Functions;
use crate::compile::safety::SafeVars;

/// Variables without values, while equations are added that give them some.
pub struct UnassignedNames<'c> {
    /// What has values. Nobody asks where nothing lacks one.
    safe_vars: Option<SafeVars<'c>>,
    names: Vec<Name>,
}

impl<'c> UnassignedNames<'c> {
    /// Those of a body in which the live ones have values.
    pub fn new(body: &Body, functions: Functions<'c>, live: &BTreeSet<Name>) -> Self {
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

    /// Whether every variable has a value.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The variables that an equation would give values to.
    pub fn outputs(&mut self, equation: &Expr) -> Vec<Name> {
        let safe_vars = self.safe_vars.as_mut();
        safe_vars.map_or_else(Vec::new, |safe_vars| safe_vars.outputs(equation))
    }

    /// Takes variables for ones with values. Tells whether any of them lacked one.
    pub fn give(&mut self, outputs: &[Name]) -> bool {
        let before = self.names.len();
        self.names.retain(|name| !outputs.contains(name));
        self.names.len() < before
    }

    /// Notes that an equation was added which gives these their values.
    pub fn add(&mut self, outputs: Vec<Name>) {
        if let Some(safe_vars) = &mut self.safe_vars {
            safe_vars.add_names(outputs);
        }
    }
}
