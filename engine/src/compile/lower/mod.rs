//! From canonical bodies to plans.
//!
//! Whether an occurrence of a variable binds or tests is decided here, once, by walking each body in its safe
//! order. A rule is lowered once for each number of head terms that a caller may know beforehand.

mod body;
mod constants;
mod guards;
mod index;
mod reference;
mod rules;
mod unify;

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Body, Module, Name};
use solon_syntax::source::SourceId;

use crate::program::{Plan, Program, Step};
use body::Lowering;
use constants::Constants;

/// Lowers all modules.
pub fn program(modules: &[Module]) -> Program {
    let mut files: HashMap<SourceId, Arc<str>> = HashMap::new();
    for module in modules {
        files.insert(module.source.id, module.source.name.clone());
    }
    let mut program = Program {
        files,
        ..Program::default()
    };
    let mut constants = Constants::default();
    let pending = rules::declare(modules, &mut program);
    for (id, set) in pending.iter().enumerate() {
        rules::lower(id, set, &mut program, &mut constants);
    }
    program.constants = constants.finish();
    program
}

/// A query ready to run: its plan, its own constants behind those of the program, and where answers are found.
pub struct LoweredQuery {
    /// The plan; its leaf is a solution with the variables first, then the values of the expressions.
    pub plan: Plan,
    /// Constants of the plan, numbered on from those of the program.
    pub constants: Vec<crate::value::Value>,
    /// The variables whose values are wanted, in the order of the leaf.
    pub variables: Vec<Name>,
}

/// Lowers a query against a program. `variables` are wanted from each solution; `captures` are the variables
/// that hold the values of the expressions.
pub fn query(
    program: &Program,
    body: &Body,
    variables: Vec<Name>,
    captures: &[Name],
) -> LoweredQuery {
    let mut constants = Constants::starting_at(program.constants.len());
    let mut lowering = Lowering::new(program, &mut constants);
    lowering.body(body);
    let wanted: Vec<_> = variables
        .iter()
        .chain(captures)
        .map(|name| lowering.variable(name))
        .collect();
    lowering.push(Step::Solution(wanted.into()));
    let plan = lowering.finish();
    LoweredQuery {
        plan,
        constants: constants.finish(),
        variables,
    }
}
