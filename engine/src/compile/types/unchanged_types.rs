//! Shortcut for changes of bodies: if the rules of changed modules have the same types as before, all documents have.

use smallvec::SmallVec;
use solon_syntax::ast::Rule;

use super::TypeChecker;
use super::schemas::ConvertedSchemas;
use crate::compile::compilation::{Compilation, Compiled};
use crate::compile::compiled_module::Yield;
use crate::compile::facts::Facts;
use crate::compile::graph::{DocumentRead, ReadStep};
use crate::compile::rule_tree::{RuleTree, TreeRuleId};
use crate::types::Type;

/// Checks the rules of changed modules only, and takes the types of an earlier compilation if they still apply. Otherwise nothing
/// changes, and the result is `false`: the order of the rules matters, a rule has another type or an error, or it replaces documents.
pub fn keep_types(compilation: &mut Compilation<'_>) -> bool {
    let Some(earlier) = compilation.earlier_with_same_graph() else {
        return false;
    };
    // types that depend on the users of other rules are not recorded
    let mut yields = earlier
        .results
        .iter()
        .flat_map(|part| &*part.findings.yields);
    if earlier.graph.has_neighbours() || !yields.all(Option::is_some) {
        return false;
    }
    let modules = &compilation.modules;
    let mut schemas = ConvertedSchemas::new(compilation);
    let mut checked_rules = 0;
    for (id, rule) in modules.open_rules() {
        let reads = compilation.findings.get(id.module as usize);
        let mut reads = reads
            .and_then(|findings| findings.reads.get(id.rule as usize))
            .into_iter()
            .flatten();
        checked_rules += 1;
        if !reads.all(|read| is_complete(&compilation.rule_tree, read))
            || !has_types_of(compilation, earlier, (id, rule), &mut schemas)
        {
            return false;
        }
    }
    for (findings, part) in compilation.findings.iter_mut().zip(&earlier.results) {
        findings.yields = part.findings.yields.clone();
    }
    compilation.types = earlier.types.clone();
    compilation.dependents = earlier.dependents.clone();
    compilation.checked = checked_rules;
    true
}

/// Returns `true` if all rules that contribute to the type of a reference are dependencies of the reading rule. Other references may
/// see rules that are checked after it.
fn is_complete(tree: &RuleTree, read: &DocumentRead) -> bool {
    let mut id = RuleTree::DATA;
    for step in &read.path {
        let node = tree.node(id);
        if node.children.is_empty() {
            return true;
        }
        let ReadStep::Key(key) = step else {
            return false;
        };
        if !node.rules.is_empty() {
            return false;
        }
        match tree.child_by(id, key.borrow()) {
            Some(child) => id = child,
            None => return true,
        }
    }
    true
}

/// Returns `true` if a rule and its `else` branches have the types of the earlier compilation, and no errors.
fn has_types_of(
    compilation: &Compilation<'_>,
    earlier: &Compiled,
    (id, rule): (TreeRuleId, &Rule),
    schemas: &mut ConvertedSchemas<'_>,
) -> bool {
    let part = earlier.results.get(id.module as usize);
    let before: Option<&Yield> = part.and_then(|part| part.findings.yields.get(id.rule as usize));
    let Some(Some(before)) = before else {
        return false;
    };
    let mut now: SmallVec<[Type; 1]> = SmallVec::new();
    let mut next = Some(rule);
    while let Some(branch) = next {
        let mut checker =
            TypeChecker::new(compilation.options, &earlier.types, &compilation.locals);
        checker.has_closures = compilation.modules.may_have(id, Facts::COMPREHENSION);
        checker.replaceable = Some((&compilation.rule_tree, &earlier.dependents));
        let ty = checker.rule(id, branch, schemas);
        if !checker.problems.is_empty() || checker.has_dependents.get() || ty.has_empty() {
            return false;
        }
        now.push(ty);
        next = branch.else_rule.as_deref();
    }
    *before == now
}
