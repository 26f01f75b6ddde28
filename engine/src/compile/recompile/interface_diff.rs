//! Changed interfaces: documents whose rules changed in what other modules depend on, apart from their bodies.

use hashbrown::HashMap;

use solon_syntax::ast::{Module, Rule};

use crate::compile::compilation::Compiled;
use crate::compile::graph::ReadStep;
use crate::compile::rule_tree::{self, RuleTree, RuleTreeNodeId, is_ground};
use crate::value::Value;

/// Interface of a rule: number of arguments, number of terms of its head, and whether it has a key and a value.
type RuleSignature = (usize, usize, bool, bool);

fn signature(rule: &Rule) -> RuleSignature {
    let head = &rule.head;
    let reference = if is_ground(&head.reference) {
        0
    } else {
        head.reference.len()
    };
    (
        head.args.len(),
        reference,
        head.key.is_some(),
        head.value.is_some(),
    )
}

/// Documents of modules that were added or removed, by path.
#[derive(Default)]
pub struct InterfaceDiff {
    below: HashMap<Value, Self>,
    /// Added rules at this path.
    came: Vec<RuleSignature>,
    /// `true` if a rule or package was added here or below.
    exists: bool,
    /// `true` if a rule was added or removed here.
    touched: bool,
    changed: bool,
    changed_below: bool,
}

impl InterfaceDiff {
    /// Adds the rules of an added module, and marks its package.
    pub fn add_module(&mut self, module: &Module) {
        let package = rule_tree::package_path(module);
        self.node_at(&package, true);
        for rule in &module.rules {
            let node = self.node_at(&rule_tree::rule_path(module, rule), true);
            node.touched = true;
            node.came.push(signature(rule));
        }
    }

    /// Adds the rules of a removed module.
    pub fn go(&mut self, module: &Module) {
        let package = rule_tree::package_path(module);
        self.node_at(&package, false);
        for rule in &module.rules {
            self.node_at(&rule_tree::rule_path(module, rule), false)
                .touched = true;
        }
    }

    fn node_at(&mut self, path: &[Value], exists: bool) -> &mut Self {
        let mut node = self;
        node.exists |= exists;
        for key in path {
            node = node.below.entry(key.clone()).or_default();
            node.exists |= exists;
        }
        node
    }

    /// Determines the changed interfaces; `stays` returns `true` for the indices of reused modules.
    pub fn compare(&mut self, earlier: &Compiled, stays: &dyn Fn(u32) -> bool) {
        self.compare_at(Some(RuleTree::DATA), earlier, stays);
    }

    /// Compares one node and everything below it. Recursion is bounded by the nesting limit of values, and the stack is
    /// large.
    fn compare_at(
        &mut self,
        node: Option<RuleTreeNodeId>,
        earlier: &Compiled,
        stays: &dyn Fn(u32) -> bool,
    ) {
        let tree = &earlier.rule_tree;
        let ids = node.map_or(&[][..], |node| &tree.node(node).rules);
        let rules = ids.iter().filter_map(|id| {
            let rule = id.rule_in(&earlier.modules)?;
            Some((stays(id.module), signature(rule)))
        });
        let before = unique(rules.clone().map(|(_, signature)| signature));
        let reuse = rules
            .filter(|(stays, _)| *stays)
            .map(|(_, signature)| signature);
        let now = unique(reuse.chain(self.came.iter().copied()));
        let existed = node.is_some();
        let exists = self.exists || node.is_some_and(|node| contains_any(tree, node, stays));
        self.changed = before != now || existed != exists;
        for (key, child_diff) in &mut self.below {
            let child = node.and_then(|node| tree.child_by(node, key.borrow()));
            child_diff.compare_at(child, earlier, stays);
            self.changed_below |= child_diff.changed || child_diff.changed_below;
        }
    }

    /// Returns `true` if a reference leads to or past a document with a changed interface.
    pub fn change_for(&self, path: &[ReadStep]) -> bool {
        self.any_on_path(path, |node| node.changed, |node| node.changed_below)
    }

    /// Returns `true` if a reference leads to or past a rule that was added or removed.
    pub fn touch(&self, path: &[ReadStep]) -> bool {
        self.any_on_path(path, |node| node.touched, |_| true)
    }

    fn any_on_path(
        &self,
        path: &[ReadStep],
        matches_here: impl Fn(&Self) -> bool,
        matches_below: impl Fn(&Self) -> bool,
    ) -> bool {
        let mut node = self;
        for step in path {
            if matches_here(node) {
                return true;
            }
            let ReadStep::Key(key) = step else {
                return matches_below(node);
            };
            match node.below.get(key) {
                Some(next) => node = next,
                None => return false,
            }
        }
        matches_here(node) || matches_below(node)
    }
}

fn unique(shapes: impl Iterator<Item = RuleSignature>) -> Vec<RuleSignature> {
    let mut shapes: Vec<RuleSignature> = shapes.collect();
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

/// Returns `true` if a reused module has a rule or package at a node or below it.
fn contains_any(tree: &RuleTree, node: RuleTreeNodeId, stays: &dyn Fn(u32) -> bool) -> bool {
    tree.subtree(node).any(|node| {
        let node = tree.node(node);
        let mut modules = node.rules.iter().map(|rule| rule.module);
        modules.any(stays) || node.packages.iter().any(|module| stays(*module))
    })
}
