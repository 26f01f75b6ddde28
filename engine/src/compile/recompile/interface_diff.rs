//! Changed interfaces: documents whose rules changed in what other modules depend on, apart from their bodies.

use hashbrown::HashMap;

use solon_syntax::ast::{Module, Rule};

use crate::compile::compilation::Compiled;
use crate::compile::graph::ReadStep;
use crate::compile::rule_tree::{self, NodeId, RuleTree, is_ground};
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
    /// `true` if the interface of the document changed.
    changed: bool,
    /// `true` if the interface of a document below changed.
    changed_below: bool,
}

impl InterfaceDiff {
    /// Adds the rules of an added module.
    pub fn come(&mut self, module: &Module) {
        let package = rule_tree::package_path(module);
        self.at(&package, true);
        for rule in &module.rules {
            let site = self.at(&rule_tree::rule_path(module, rule), true);
            site.touched = true;
            site.came.push(signature(rule));
        }
    }

    /// Adds the rules of a removed module.
    pub fn go(&mut self, module: &Module) {
        let package = rule_tree::package_path(module);
        self.at(&package, false);
        for rule in &module.rules {
            self.at(&rule_tree::rule_path(module, rule), false).touched = true;
        }
    }

    fn at(&mut self, path: &[Value], exists: bool) -> &mut Self {
        let mut site = self;
        site.exists |= exists;
        for key in path {
            site = site.below.entry(key.clone()).or_default();
            site.exists |= exists;
        }
        site
    }

    /// Determines the changed interfaces; `stays` returns `true` for the indices of reused modules.
    pub fn compare(&mut self, earlier: &Compiled, stays: &dyn Fn(u32) -> bool) {
        self.compare_at(Some(RuleTree::DATA), earlier, stays);
    }

    /// Compares one node and everything below it. Recursion is bounded by the nesting limit of values, and the stack is
    /// large.
    fn compare_at(
        &mut self,
        node: Option<NodeId>,
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
        for (key, site) in &mut self.below {
            let child = node.and_then(|node| tree.child_by(node, key.borrow()));
            site.compare_at(child, earlier, stays);
            self.changed_below |= site.changed || site.changed_below;
        }
    }

    /// Returns `true` if a reference leads to or past a document with a changed interface.
    pub fn change_for(&self, path: &[ReadStep]) -> bool {
        self.meets(path, |site| site.changed, |site| site.changed_below)
    }

    /// Returns `true` if a reference leads to or past a rule that was added or removed.
    pub fn touch(&self, path: &[ReadStep]) -> bool {
        self.meets(path, |site| site.touched, |_| true)
    }

    fn meets(
        &self,
        path: &[ReadStep],
        here: impl Fn(&Self) -> bool,
        below: impl Fn(&Self) -> bool,
    ) -> bool {
        let mut site = self;
        for step in path {
            if here(site) {
                return true;
            }
            let ReadStep::Key(key) = step else {
                return below(site);
            };
            match site.below.get(key) {
                Some(next) => site = next,
                None => return false,
            }
        }
        here(site) || below(site)
    }
}

fn unique(shapes: impl Iterator<Item = RuleSignature>) -> Vec<RuleSignature> {
    let mut shapes: Vec<RuleSignature> = shapes.collect();
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

/// Returns `true` if a reused module has a rule or package at a node or below it.
fn contains_any(tree: &RuleTree, node: NodeId, stays: &dyn Fn(u32) -> bool) -> bool {
    tree.subtree(node).any(|node| {
        let node = tree.node(node);
        let mut modules = node.rules.iter().map(|rule| rule.module);
        modules.any(stays) || node.packages.iter().any(|module| stays(*module))
    })
}
