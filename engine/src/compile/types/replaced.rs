//! Rules and documents that `with` replaces, and their types in the modified expression.

use std::cell::OnceCell;

use hashbrown::HashSet;
use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Expr, Term};

use super::TypeChecker;
use super::calls::{constant_prefix, reference};
use super::tree::TypeTree;
use crate::compile::facts::Facts;
use crate::compile::modules::Modules;
use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId, key};
use crate::types::{Type, union};
use crate::value::Value;

/// Rules that a `with` of any module may replace. As in OPA, their values are unknown if they are empty collections.
pub struct ReplacedRules<'c> {
    tree: &'c RuleTree,
    modules: &'c Modules,
    /// The rules, computed once some rule has the type of an empty collection.
    rules: OnceCell<HashSet<TreeRuleId>>,
}

impl<'c> ReplacedRules<'c> {
    /// Creates the set for all modules. It is computed at the first call of [`Self::contains`].
    pub fn new(tree: &'c RuleTree, modules: &'c Modules) -> Self {
        Self {
            tree,
            modules,
            rules: OnceCell::new(),
        }
    }

    /// Returns `true` if some `with` may replace the rule. The first call searches all rules.
    pub fn contains(&self, rule: TreeRuleId) -> bool {
        self.rules.get_or_init(|| self.search()).contains(&rule)
    }

    fn search(&self) -> HashSet<TreeRuleId> {
        let mut replaced = HashSet::new();
        for (module, position) in self.modules.iter().zip(0..) {
            for (rule, position_in_module) in module.rules.iter().zip(0..) {
                let id = TreeRuleId {
                    module: position,
                    rule: position_in_module,
                };
                if !self.modules.may_have(id, Facts::WITH) {
                    continue;
                }
                rule.walk(&mut Exprs(|expr: &Expr| {
                    for with in &expr.with {
                        replaced.extend(targets(self.tree, reference(&with.target)));
                    }
                    Descent::Into
                }));
            }
        }
        replaced
    }
}

/// Returns the rules that a target of `with` may refer to: those at its path and below it. A step that is not constant
/// matches any key.
fn targets(tree: &RuleTree, target: &[Term]) -> Vec<TreeRuleId> {
    let Some((head, steps)) = target.split_first() else {
        return Vec::new();
    };
    let mut rules = Vec::new();
    if head.as_var().is_some_and(|name| &**name == "data") {
        collect(tree, RuleTree::DATA, steps, &mut rules);
    }
    rules
}

/// Adds the rules that steps from a node may lead to. Recursion is bounded by the length limit of references.
fn collect(
    tree: &RuleTree,
    node: RuleTreeNodeId,
    steps: &[Term],
    replaced_rules: &mut Vec<TreeRuleId>,
) {
    let Some((step, rest)) = steps.split_first() else {
        replaced_rules.extend(tree.rules_below(node));
        return;
    };
    let mut enter = |child: RuleTreeNodeId| {
        let rules = tree.node(child).rules.iter().copied();
        replaced_rules.extend(rules.filter(|rule| may_meet(tree.tail(*rule), rest)));
        collect(tree, child, rest, replaced_rules);
    };
    match tree.child(node, step) {
        Some(child) => enter(child),
        None if step.is_scalar() => {}
        None => tree.node(node).children.iter().copied().for_each(enter),
    }
}

/// Returns `true` if no step of a rule differs from that of a target.
fn may_meet(tail: &[Option<Value>], steps: &[Term]) -> bool {
    let mut pairs = tail.iter().zip(steps);
    pairs.all(|(tail_key, step)| match (tail_key, key(step)) {
        (Some(tail_key), Some(step)) => *tail_key == step,
        _ => true,
    })
}

impl TypeChecker<'_> {
    /// Returns the layers of document types for the replacements of an expression: documents that depend on a replaced
    /// one may be anything, and a replaced document is what it was or its replacement.
    pub(super) fn replaced(&self, expr: &Expr) -> Vec<TypeTree> {
        if expr.with.is_empty() {
            return Vec::new();
        }
        let mut dependents = TypeTree::default();
        let mut replaced = TypeTree::default();
        for with in &expr.with {
            let Some(paths) = self.dependents(&with.target) else {
                let mut all = TypeTree::default();
                all.put(&[Value::string("data")], Type::Any);
                return vec![all];
            };
            for path in paths {
                dependents.put(&path, Type::Any);
            }
        }
        for with in &expr.with {
            let target = reference(&with.target);
            let Some(path) = constant_prefix(target) else {
                continue;
            };
            let before = self.env.type_of(&with.target);
            if before.as_function().is_some() {
                continue;
            }
            let after = self.env.of_replacement(&with.value);
            let replacement = if path.len() < target.len() || after.as_function().is_some() {
                Type::Any
            } else {
                union(before, after)
            };
            replaced.put(&path, replacement);
        }
        let covers = [dependents, replaced].into_iter();
        covers.filter(|tree| !tree.is_empty()).collect()
    }

    /// Returns the paths of the documents that depend on the rules of a target; `None` if there are too many.
    fn dependents(&self, target: &Term) -> Option<Vec<Vec<Value>>> {
        let Some((tree, dependents)) = self.replaceable else {
            return Some(Vec::new());
        };
        let rules = targets(tree, reference(target));
        if rules.is_empty() {
            return Some(Vec::new());
        }
        self.has_dependents.set(true);
        dependents.paths(tree, &rules)
    }
}
