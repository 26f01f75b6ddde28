//! Lowering of canonical bodies to plans.
//!
//! Each occurrence of a variable binds or tests; this is decided here, once, by traversing each body in its safe order.
//! A rule is lowered once for each number of head terms that a caller may know in advance.

mod body;
mod called;
mod calls;
mod constants;
mod dead_keys;
mod declare;
mod fuse;
mod guards;
mod index;
mod inline;
mod joins;
mod lookups;
mod lowering_record;
mod modifiers;
mod plan_features;
mod precheck;
mod reference;
mod rules;
mod searches;
mod term;
mod unify;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use solon_syntax::ast::{Body, Module, Name};

use super::compilation::Options;
use super::optimisations::Optimisations;
use super::rewrite::capture;
use super::rule_tree::RuleTree;
use crate::builtins::HostFunction;
use crate::index::Indexed as _;
use crate::program::{Plan, Program, RuleId, RuleSet, Step, verify};
use crate::value::Value;
use body::Lowering;
use constants::Constants;
use declare::{Pending, PlacedRules};
pub use lowering_record::{EarlierProgram, LoweringRecord};

/// Lowers all modules. Nothing is reused.
pub fn program(
    modules: &[Arc<Module>],
    functions: Vec<HostFunction>,
    options: &Options,
) -> Program {
    let tree = RuleTree::new(modules);
    program_on_from(None, modules, &tree, functions, options).0
}

/// Lowers modules: all of them, or incrementally from the program of an earlier compilation.
pub fn program_on_from(
    earlier: Option<EarlierProgram<'_>>,
    modules: &[Arc<Module>],
    tree: &RuleTree,
    functions: Vec<HostFunction>,
    options: &Options,
) -> (Program, LoweringRecord) {
    let earlier = earlier.filter(|earlier| earlier.is_worthwhile());
    let optimisations = Optimisations::new(options);
    let files = modules.iter().map(|module| &module.source);
    let files = files.map(|source| (source.id, source.name.clone()));
    let mut program = Program {
        functions,
        files: files.collect(),
        ..Program::default()
    };
    let mut constants = Constants::on_from(earlier.map(|earlier| earlier.program));
    let same_tree = earlier.filter(|earlier| std::ptr::eq(earlier.tree, tree));
    let (mut pending, mut record) = match same_tree {
        Some(earlier) => (
            declare::declare_changed(modules, tree, earlier, &mut program),
            LoweringRecord::with_same_sets(earlier),
        ),
        None => {
            let declared = declare::declare(modules, tree, earlier, &mut program);
            let mut record = LoweringRecord::on_from(earlier, program.rules.len());
            for id in declared.reused {
                record.keep(id, earlier);
            }
            (declared.pending, record)
        }
    };
    let mut open: Vec<RuleId> = pending.keys().copied().collect();
    let mut lowered: Vec<RuleId> = Vec::new();
    let placed = PlacedRules { modules, tree };
    loop {
        // rules that are adjacent in memory are lowered in sequence
        open.sort_by_cached_key(|id| address(&pending, *id));
        for id in &open {
            if let Some(set) = pending.get(id) {
                let made = rules::lower(*id, set, &program, &mut constants, optimisations);
                record.add(*id, set, &made);
                *program.rules.item_mut(*id) = Arc::new(made);
            }
        }
        lowered.append(&mut open);
        lowered.sort_unstable();
        if let Some(earlier) = earlier {
            open = record.concerned(earlier, &program, &lowered);
        }
        if open.is_empty() {
            break;
        }
        for id in &open {
            if let Entry::Vacant(entry) = pending.entry(*id)
                && let Some(set) = placed.set_at(&program.rules.item(*id).path)
            {
                entry.insert(set);
            }
        }
    }
    let asked = record.use_counts();
    lowered.sort_by_cached_key(|id| address(&pending, *id));
    let asking = record.users_of(&lowered);
    inline::rules(&mut program, &asking, asked, &constants, optimisations);
    joins::of_rules(&mut program, &lowered, &constants, optimisations);
    searches::of_rules(&mut program, &lowered, optimisations);
    program.constants = constants.finish();
    record.finish(program.constants.len());
    // those that are kept may refer to rule sets that changed
    verify::require(|| verify::program(&program));
    (program, record)
}

/// Returns the address of the first rule of a set.
fn address(pending: &BTreeMap<RuleId, Pending<'_>>, id: RuleId) -> Option<usize> {
    pending.get(&id)?.addresses.first().copied()
}

/// Changes rule sets that were lowered now. Others are shared with an earlier program.
fn each_lowered(program: &mut Program, lowered: &[RuleId], change: impl Fn(&mut RuleSet)) {
    for id in lowered {
        let set = program.rules.get_mut(*id as usize);
        if let Some(set) = set.and_then(Arc::get_mut) {
            change(set);
        }
    }
}

/// A query ready to run: its plan, its constants, and the positions of its results.
pub struct LoweredQuery {
    /// The plan. Its terminator is a solution with the variables first, then the captured values.
    pub plan: Plan,
    /// Constants of the plan; their ids follow those of the program.
    pub constants: Vec<Value>,
    /// Variables as the user wrote them, in the order of the solution.
    pub variables: Vec<Name>,
    /// Names of the variables in the body, followed by the captured values.
    pub outputs: Vec<Name>,
    /// For each expression, the index of its value after the variables; `None` if it has no value.
    pub expressions: Vec<Option<usize>>,
}

/// Lowers a query against a program. `originals` are the user's names of generated locals.
pub fn query(
    program: &Program,
    body: &Body,
    originals: &hashbrown::HashMap<Name, Name>,
    options: &Options,
) -> LoweredQuery {
    let mut constants = Constants::starting_at(program.constants.len());
    let optimisations = Optimisations::new(options);
    let mut lowering = Lowering::new(program, &mut constants, optimisations);
    lowering.body(body);
    let mut bound: Vec<(Name, Name)> = Vec::new();
    for (name, _) in lowering.bindings() {
        // a generated name may have been renamed again
        let shown = originals.get(name).unwrap_or(name);
        if !shown.starts_with("__local") && !shown.starts_with('$') {
            bound.push((shown.clone(), name.clone()));
        }
    }
    bound.sort_by(|a, b| a.0.cmp(&b.0));
    bound.dedup_by(|a, b| a.0 == b.0);
    let (variables, mut wanted): (Vec<Name>, Vec<Name>) = bound.into_iter().unzip();
    let mut expressions = Vec::new();
    for expr in body.iter().filter(|expr| !expr.generated) {
        expressions.push(capture::captured(expr).map(|name| {
            wanted.push(name.clone());
            wanted.len() - 1 - variables.len()
        }));
    }
    let operands = wanted.iter().map(|name| lowering.variable(name)).collect();
    lowering.push(Step::ResultSetAdd(operands));
    let mut plan = lowering.finish();
    joins::of_query(&mut plan, &constants, optimisations);
    let constants = constants.finish();
    verify::require(|| verify::query(program, &plan, constants.len()));
    LoweredQuery {
        plan,
        constants,
        variables,
        outputs: wanted,
        expressions,
    }
}
