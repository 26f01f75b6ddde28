//! Construction of a tree of rules: from all modules, or from an earlier tree and the modules that changed.

use std::mem;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use solon_syntax::ast::{Module, Term};

use super::{RuleTree, RuleTreeNode, RuleTreeNodeId, TreeRuleId, ground_prefix, head_key, tail};
use crate::index::Indexed as _;
use crate::value::Value;

/// A tree during construction. Children are sorted once at the end.
pub struct RuleTreeBuilder {
    pub tree: RuleTree,
    /// Nodes whose rules or packages changed.
    touched: Vec<RuleTreeNodeId>,
}

/// Nodes that a change removes.
#[derive(Default)]
struct Pruned {
    nodes: HashSet<RuleTreeNodeId>,
    /// Number of removed children of each node that has some.
    children: HashMap<RuleTreeNodeId, usize>,
}

impl RuleTreeBuilder {
    /// Inserts the packages and rules of all modules.
    pub fn new(modules: &[Arc<Module>]) -> Self {
        let mut builder = Self::on_from(RuleTree::default());
        let rules = modules.iter().map(|module| module.rules.len()).sum();
        builder.tree.nodes.reserve(rules);
        builder.tree.steps.reserve(rules);
        builder.tree.homes = vec![Vec::new(); modules.len()];
        // rules of outer packages come first at a shared node
        let mut ordered: Vec<_> = modules.iter().zip(0u32..).collect();
        ordered.sort_by_key(|(module, _)| module.package.path.len());
        for (module, position) in ordered {
            builder.insert(module, position);
        }
        builder
    }

    /// Starts from an earlier tree.
    pub fn on_from(tree: RuleTree) -> Self {
        Self {
            tree,
            touched: Vec::new(),
        }
    }

    /// Removes the packages and rules of the modules at some positions, in ascending order.
    pub fn remove(&mut self, modules: &[Arc<Module>], positions: &[u32]) {
        for position in positions {
            let homes = mem::take(self.tree.homes.item_mut(*position));
            for rule in 0..u32::try_from(homes.len()).unwrap_or(u32::MAX) {
                let module = *position;
                self.tree.tails.remove(&TreeRuleId { module, rule });
            }
            self.touched.extend(homes);
            let package = self.tree.find(&modules.item(*position).package.path);
            self.touched.extend(package);
        }
        self.deduplicate();
        let is_removed = |module: &u32| positions.binary_search(module).is_ok();
        for id in &self.touched {
            let node = self.tree.nodes.item_mut(id.0);
            node.rules.retain(|rule| !is_removed(&rule.module));
            node.packages.retain(|module| !is_removed(module));
        }
    }

    /// Inserts the packages and rules of the modules at some positions. [`Self::settle`] puts them in order.
    pub fn add(&mut self, modules: &[Arc<Module>], positions: &[u32]) {
        for position in positions {
            self.insert(modules.item(*position), *position);
        }
        for position in positions {
            let homes = self.tree.homes.item(*position);
            self.touched.extend(homes);
            let package = self.tree.find(&modules.item(*position).package.path);
            self.touched.extend(package);
        }
    }

    fn deduplicate(&mut self) {
        self.touched.sort_unstable();
        self.touched.dedup();
    }

    fn insert(&mut self, module: &Module, position: u32) {
        let package = self.descend(RuleTree::DATA, module.package.path.get(1..).unwrap_or(&[]));
        self.node(package).packages.push(position);
        let mut homes = Vec::with_capacity(module.rules.len());
        for (rule, position_in_module) in module.rules.iter().zip(0..) {
            let id = TreeRuleId {
                module: position,
                rule: position_in_module,
            };
            let prefix = ground_prefix(&rule.head.reference);
            let node = self.descend(package, prefix);
            let tail = tail(&rule.head.reference, prefix);
            if !tail.is_empty() {
                self.tree.tails.insert(id, tail.into());
            }
            homes.push(node);
            let node = self.node(node);
            if node.rules.is_empty() {
                node.arity = rule.head.args.len();
            }
            node.rules.push(id);
        }
        *self.tree.homes.item_mut(position) = homes;
    }

    /// Orders the rules and packages of the nodes that changed, and removes nodes without a document.
    pub fn settle(&mut self, modules: &[Arc<Module>]) {
        self.deduplicate();
        let mut pruned = Pruned::default();
        for id in mem::take(&mut self.touched) {
            let node = self.tree.nodes.item_mut(id.0);
            // rules of outer packages come first
            let package = |module: u32| modules.item(module).package.path.len();
            node.rules.sort_by_key(|rule| (package(rule.module), *rule));
            node.packages.sort_unstable();
            let first = node.rules.first().and_then(|rule| rule.rule_in(modules));
            node.arity = first.map_or(0, |rule| rule.head.args.len());
            self.prune(id, &mut pruned);
        }
        self.tree.unused += pruned.nodes.len();
        for parent in pruned.children.into_keys() {
            let children = &mut self.node(parent).children;
            children.retain(|child| !pruned.nodes.contains(child));
        }
    }

    /// Removes a node and those around it that have no document. They remain in the lists of children.
    fn prune(&mut self, mut id: RuleTreeNodeId, pruned: &mut Pruned) {
        loop {
            let node = self.tree.node(id);
            let is_used = !node.rules.is_empty() || !node.packages.is_empty();
            let without = pruned.children.get(&id).copied().unwrap_or_default();
            let is_leaf = node.children.len() == without;
            let Some(parent) = node.parent.filter(|_| !is_used && is_leaf) else {
                return;
            };
            if !pruned.nodes.insert(id) {
                return;
            }
            let key = node.key.clone();
            self.tree.steps.remove(parent.0, key.borrow(), id.0);
            *pruned.children.entry(parent).or_default() += 1;
            id = parent;
        }
    }

    fn node(&mut self, id: RuleTreeNodeId) -> &mut RuleTreeNode {
        self.tree.nodes.item_mut(id.0)
    }

    fn descend(&mut self, mut id: RuleTreeNodeId, steps: &[Term]) -> RuleTreeNodeId {
        for step in steps {
            id = self.step(id, head_key(step));
        }
        id
    }

    fn step(&mut self, parent: RuleTreeNodeId, key: Value) -> RuleTreeNodeId {
        let RuleTree { nodes, steps, .. } = &mut self.tree;
        let next = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let has_key = |id: u32| nodes.get(id as usize).is_some_and(|node| node.key == key);
        let node = steps.find_or_add(parent.0, key.borrow(), next, has_key);
        let id = RuleTreeNodeId(node);
        if node == next {
            nodes.push(RuleTreeNode {
                key,
                parent: Some(parent),
                ..RuleTreeNode::default()
            });
            self.node(parent).children.push(id);
        }
        id
    }

    /// Orders the children of all nodes.
    pub fn finish(mut self) -> RuleTree {
        for index in 0..self.tree.nodes.len() {
            let id = RuleTreeNodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let mut children = mem::take(&mut self.node(id).children);
            children.sort_by(|a, b| self.tree.node(*a).key.cmp(&self.tree.node(*b).key));
            self.node(id).children = children;
        }
        self.tree
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use solon_syntax::ast::Module;
    use solon_syntax::source::{Source, SourceId};
    use solon_syntax::{ParseOptions, parse_module};

    use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId};

    fn modules(texts: &[&str]) -> Vec<Arc<Module>> {
        let module = |(text, id): (&&str, u32)| {
            let source = Source::new(SourceId(id), format!("{id}.rego"), *text);
            Arc::new(parse_module(&source, &ParseOptions::default()).unwrap())
        };
        texts.iter().zip(0..).map(module).collect()
    }

    /// Returns everything that a tree contains, without the numbers of its nodes.
    fn contents(tree: &RuleTree, modules: &[Arc<Module>]) -> Vec<String> {
        let node = |id: RuleTreeNodeId| {
            let node = tree.node(id);
            let path = tree.path(id);
            let owned: Vec<_> = path.iter().map(|key| (*key).clone()).collect();
            assert_eq!(tree.node_at(&owned), Some(id));
            let tails: Vec<_> = node.rules.iter().map(|rule| tree.tail(*rule)).collect();
            let (rules, arity, packages) = (&node.rules, node.arity, &node.packages);
            format!("{path:?} {rules:?} {arity} {packages:?} {tails:?}")
        };
        let nodes = tree.subtree(RuleTree::DATA).map(node);
        let rules = modules.iter().zip(0..).flat_map(|(module, position)| {
            (0..=module.rules.len()).map(move |rule| TreeRuleId {
                module: position,
                rule: u32::try_from(rule).unwrap(),
            })
        });
        let homes = rules.map(|rule| {
            let home = tree.home(rule).map(|home| tree.path(home));
            format!("{rule:?} at {home:?}")
        });
        nodes.chain(homes).collect()
    }

    #[test]
    fn a_changed_tree_is_that_of_all_modules() {
        let texts = [
            "package a.b\np := 1\nq[x] := x if x := 1\nf(x) := x",
            "package a.b.c\nr := 1\n s.t[x].u := 1 if x := 1",
            "package a\nb.p := 1\nb.v := 2",
            "package d.e.f\nr := 1",
        ];
        let variants = [
            "package a.b\np := 1\nq[x] := x if x := 1\nf(x) := x",
            "package a.b\np := 1\nnew := 2",
            "package a.b",
            "package a",
            "package z.y\nf(x, y) := x\nr := 1",
            "package d\ne.f.r := 2\ne.g.s.t := 3",
            "package a.b.c\ns.t[x].v := 1 if x := 1\n p[x] if x := 1",
            "package a.b\nq[1] := 2\nq[1.0] := 2",
            "package a.b\nq[1e0] := 2",
        ];
        for first in variants {
            for second in variants {
                let before = modules(&texts);
                let tree = RuleTree::new(&before);
                for positions in [vec![0, 1], vec![1, 2], vec![0, 3], vec![2, 3]] {
                    let mut now = before.clone();
                    let changed = modules(&[first, second]);
                    for (position, module) in positions.iter().zip(changed) {
                        now[*position as usize] = module;
                    }
                    let Some(after) = tree.with_changed(&before, &now, &positions) else {
                        // numbers, which may be spelled otherwise
                        assert!(format!("{first}{second}").contains("q[1"));
                        continue;
                    };
                    let want = contents(&RuleTree::new(&now), &now);
                    assert_eq!(
                        contents(&after, &now),
                        want,
                        "{first}\n{second}\n{positions:?}"
                    );
                    let back = after.with_changed(&now, &before, &positions);
                    if let Some(back) = back {
                        let want = contents(&tree, &before);
                        assert_eq!(contents(&back, &before), want, "{first}\n{second}");
                    }
                }
            }
        }
    }

    #[test]
    fn unused_nodes_are_bounded() {
        let first = modules(&["package a\np := 1", "package b\np := 1"]);
        let second = modules(&["package a\nq := 1", "package b\np := 1"]);
        let mut tree = RuleTree::new(&first);
        let changes = std::iter::from_fn(|| {
            tree = tree.with_changed(&first, &second, &[0])?;
            tree = tree.with_changed(&second, &first, &[0])?;
            Some(tree.len())
        });
        let lengths: Vec<usize> = changes.take(100).collect();
        assert!((1..10).contains(&lengths.len()), "{lengths:?}");
    }
}
