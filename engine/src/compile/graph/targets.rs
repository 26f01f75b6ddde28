//! Rules that a path of keys and variables can lead to.

use hashbrown::HashMap;

use super::Vertex;
use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId};
use crate::index::Indexed as _;
use crate::value::Value;

/// A step of a path, as far as its key is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReadStep {
    /// Exactly this key.
    Key(Value),
    /// Any of these keys.
    OneOf(Vec<Value>),
    /// Any key.
    Any,
}

/// A rule or group that a path leads to.
#[derive(Clone, Copy, Debug)]
pub struct PathTarget {
    /// A rule or a group.
    pub vertex: Vertex,
    /// `true` if the rule only adds to a document on the path: its reference continues with other keys.
    pub elsewhere: bool,
}

impl From<Vertex> for PathTarget {
    fn from(vertex: Vertex) -> Self {
        Self {
            vertex,
            elsewhere: false,
        }
    }
}

/// Creates the groups of rules that paths lead to. Equal paths share a group.
pub struct Targets<'t> {
    tree: &'t RuleTree,
    /// Vertex of each module's first rule.
    starts: &'t [u32],
    first_group: u32,
    groups: Vec<Vec<PathTarget>>,
    /// Groups of the rules at and below a node.
    subtrees: HashMap<RuleTreeNodeId, Vertex>,
    /// Groups of the rules that a path leads to from a node.
    paths: HashMap<(RuleTreeNodeId, Vec<ReadStep>), Vertex>,
    /// Groups whose members are not computed yet.
    open: Vec<(Vertex, PendingPath)>,
}

enum PendingPath {
    Subtree(RuleTreeNodeId),
    Path(RuleTreeNodeId, Vec<ReadStep>),
}

impl<'t> Targets<'t> {
    /// Creates an empty collection; vertices of groups follow those of the rules.
    pub fn new(tree: &'t RuleTree, starts: &'t [u32], rules: u32) -> Self {
        Self {
            tree,
            starts,
            first_group: rules,
            groups: Vec::new(),
            subtrees: HashMap::new(),
            paths: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Adds the vertices that a path from `data` leads to.
    pub fn add_targets(&mut self, path: &[ReadStep], targets: &mut Vec<PathTarget>) {
        self.follow(RuleTree::DATA, path, targets);
        while let Some((group, open)) = self.open.pop() {
            let members = match open {
                PendingPath::Subtree(node) => self.subtree_members(node),
                PendingPath::Path(node, path) => self.path_members(node, &path),
            };
            let position = (group.0 - self.first_group) as usize;
            *self.groups.item_mut(position) = members;
        }
    }

    pub fn into_groups(self) -> Vec<Vec<PathTarget>> {
        self.groups
    }

    /// Follows a path. Rules on the path count, too: their values may contain what the path leads to.
    fn follow(&mut self, node: RuleTreeNodeId, path: &[ReadStep], targets: &mut Vec<PathTarget>) {
        let (mut node, mut path) = (node, path);
        // most paths are constant
        while let Some((ReadStep::Key(key), rest)) = path.split_first() {
            let Some(child) = self.tree.child_by(node, key.borrow()) else {
                return;
            };
            targets.extend(self.rules_at(child, rest));
            (node, path) = (child, rest);
        }
        if path.is_empty() {
            return targets.extend(self.subtree(node).map(PathTarget::from));
        }
        let mut open = vec![(node, path)];
        while let Some((node, path)) = open.pop() {
            let Some((step, rest)) = path.split_first() else {
                targets.extend(self.subtree(node).map(PathTarget::from));
                continue;
            };
            let keys = match step {
                ReadStep::Any => {
                    targets.extend(self.path(node, path).map(PathTarget::from));
                    continue;
                }
                ReadStep::Key(key) => std::slice::from_ref(key),
                ReadStep::OneOf(keys) => keys,
            };
            for key in keys {
                if let Some(child) = self.tree.child_by(node, key.borrow()) {
                    targets.extend(self.rules_at(child, rest));
                    open.push((child, rest));
                }
            }
        }
    }

    /// Adds the rules at a node from which a path continues.
    fn rules_at<'p>(
        &self,
        node: RuleTreeNodeId,
        path: &'p [ReadStep],
    ) -> impl Iterator<Item = PathTarget> + use<'t, 'p> {
        let (tree, starts) = (self.tree, self.starts);
        let target = move |id: &TreeRuleId| {
            Some(PathTarget {
                vertex: Vertex(starts.get(id.module as usize)? + id.rule),
                elsewhere: leads_elsewhere(tree.tail(*id), path),
            })
        };
        tree.node(node).rules.iter().filter_map(target)
    }

    /// Returns the group of the rules below a node, if there are any. Those at the node were found on the way to it.
    fn subtree(&mut self, node: RuleTreeNodeId) -> Option<Vertex> {
        if self.tree.node(node).children.is_empty() {
            return None;
        }
        if let Some(group) = self.subtrees.get(&node) {
            return Some(*group);
        }
        let group = self.group(PendingPath::Subtree(node));
        self.subtrees.insert(node, group);
        Some(group)
    }

    fn path(&mut self, node: RuleTreeNodeId, path: &[ReadStep]) -> Option<Vertex> {
        if self.tree.node(node).children.is_empty() {
            return None;
        }
        let key = (node, path.to_vec());
        if let Some(group) = self.paths.get(&key) {
            return Some(*group);
        }
        let group = self.group(PendingPath::Path(node, path.to_vec()));
        self.paths.insert(key, group);
        Some(group)
    }

    fn group(&mut self, open: PendingPath) -> Vertex {
        let position = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let group = Vertex(self.first_group.saturating_add(position));
        self.groups.push(Vec::new());
        self.open.push((group, open));
        group
    }

    fn subtree_members(&mut self, node: RuleTreeNodeId) -> Vec<PathTarget> {
        let mut members = Vec::new();
        for child in &self.tree.node(node).children {
            members.extend(self.rules_at(*child, &[]));
            members.extend(self.subtree(*child).map(PathTarget::from));
        }
        members
    }

    fn path_members(&mut self, node: RuleTreeNodeId, path: &[ReadStep]) -> Vec<PathTarget> {
        let rest = path.get(1..).unwrap_or_default();
        let mut members = Vec::new();
        for child in &self.tree.node(node).children {
            members.extend(self.rules_at(*child, rest));
            self.follow(*child, rest, &mut members);
        }
        members
    }
}

/// Returns `true` if a path has other keys than the constants at the end of a rule's reference.
fn leads_elsewhere(tail: &[Option<Value>], path: &[ReadStep]) -> bool {
    tail.iter().zip(path).any(|(key, step)| match (key, step) {
        (None, _) | (_, ReadStep::Any) => false,
        (Some(key), ReadStep::Key(other)) => key != other,
        (Some(key), ReadStep::OneOf(keys)) => !keys.contains(key),
    })
}
