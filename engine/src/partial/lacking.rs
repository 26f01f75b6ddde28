//! The variables of a body that nothing in it gives a value to.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Expr, Name, VarScan};

use crate::compile::functions::Functions;
use crate::compile::safety::Reach;

/// Variables without values, while equations are added that give them some.
pub struct Lacking<'c> {
    /// What has values. Nobody asks where nothing lacks one.
    reach: Option<Reach<'c>>,
    names: Vec<Name>,
}

impl<'c> Lacking<'c> {
    /// Those of a body in which the live ones have values.
    pub fn of(body: &Body, functions: Functions<'c>, live: &BTreeSet<Name>) -> Self {
        let may_lack = |name: &Name| !matches!(&**name, "data" | "input") && !live.contains(name);
        let scan = VarScan {
            skip_call_heads: true,
            ..VarScan::default()
        };
        if !scan.any(body, may_lack) {
            return Self {
                reach: None,
                names: Vec::new(),
            };
        }
        let mut reach = Reach::new(functions, live);
        for expr in body {
            reach.add(expr);
        }
        let names = reach.missing(body);
        Self {
            reach: Some(reach),
            names,
        }
    }

    /// Whether every variable has a value.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The variables that an equation would give values to.
    pub fn outputs(&mut self, equation: &Expr) -> Vec<Name> {
        let reach = self.reach.as_mut();
        reach.map_or_else(Vec::new, |reach| reach.outputs(equation))
    }

    /// Takes variables for ones with values. Tells whether any of them lacked one.
    pub fn give(&mut self, outputs: &[Name]) -> bool {
        let before = self.names.len();
        self.names.retain(|name| !outputs.contains(name));
        self.names.len() < before
    }

    /// Notes that an equation was added which gives these their values.
    pub fn add(&mut self, outputs: Vec<Name>) {
        if let Some(reach) = &mut self.reach {
            reach.add_names(outputs);
        }
    }
}
