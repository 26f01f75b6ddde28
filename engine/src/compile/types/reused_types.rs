//! Reuse of rule types in reused modules: for rules that depend on no document of another type.

use hashbrown::HashMap;

use super::tree::TypeTree;
use crate::compile::compilation::Compilation;
use crate::compile::compiled_module::Yield;
use crate::compile::graph::{Graph, Vertex};
use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId};
use crate::types::Type;
use crate::value::Value;

/// Type changes since an earlier compilation, for the rules checked so far.
pub struct TypeChanges<'c> {
    graph: &'c Graph,
    tree: &'c RuleTree,
    before: Option<&'c TypeTree>,
    /// Documents that some rule may change; `Some(true)` if the type is another, `None` if not compared yet.
    documents: HashMap<RuleTreeNodeId, Option<bool>>,
    /// For each group, `true` if it contains a rule of such a document.
    groups: HashMap<Vertex, bool>,
}

impl<'c> TypeChanges<'c> {
    /// Creates an empty state.
    pub fn new(compilation: &'c Compilation<'_>) -> Self {
        let tree = &compilation.rule_tree;
        let earlier = compilation.earlier.as_ref();
        let changed_paths = earlier.into_iter().flat_map(|earlier| &earlier.gone);
        let nodes = changed_paths.filter_map(|path| tree.node_at(path));
        Self {
            graph: &compilation.graph,
            tree,
            before: earlier.map(|earlier| &*earlier.compiled.types),
            documents: nodes.map(|node| (node, None)).collect(),
            groups: HashMap::new(),
        }
    }

    /// Analyses a group, after all its members.
    pub fn group(&mut self, vertex: Vertex, types: &TypeTree) {
        if self.before.is_some() {
            // later rules must not be compared yet
            let is_changed = self.graph.is_early(vertex) || self.members_changed(vertex, types);
            self.groups.insert(vertex, is_changed);
        }
    }

    /// Returns the types of a rule if they are still those of the earlier compilation.
    pub fn unchanged<'y>(
        &mut self,
        vertex: Vertex,
        yields: Option<&'y Yield>,
        types: &TypeTree,
    ) -> Option<&'y [Type]> {
        let reused = yields?.as_ref()?;
        let is_changed = self.graph.is_early(vertex) || self.members_changed(vertex, types);
        (!is_changed).then_some(reused.as_slice())
    }

    /// Records that a rule has another type than before.
    pub fn record_change(&mut self, rule: TreeRuleId) {
        if let Some(node) = self.tree.home(rule).filter(|_| self.before.is_some()) {
            self.documents.entry(node).or_default();
        }
    }

    fn members_changed(&mut self, vertex: Vertex, types: &TypeTree) -> bool {
        let graph = self.graph;
        let mut members = graph.contributors(vertex);
        members.any(|member| self.has_changed(member, types))
    }

    /// Returns `true` if the type of a rule's document, or of one in a group, changed. Everything that it depends on
    /// was checked.
    fn has_changed(&mut self, vertex: Vertex, types: &TypeTree) -> bool {
        let Some(rule) = self.graph.rule(vertex) else {
            return self.groups.get(&vertex) != Some(&false);
        };
        let node = self.tree.home(rule);
        let Some((node, document)) =
            node.and_then(|node| Some((node, self.documents.get_mut(&node)?)))
        else {
            return false;
        };
        *document.get_or_insert_with(|| {
            let steps = self.tree.path(node);
            let data = Value::string("data");
            let path: Vec<&Value> = std::iter::once(&data).chain(steps).collect();
            let before = self.before.and_then(|before| before.contribution_at(&path));
            before.is_none() || before != types.contribution_at(&path)
        })
    }
}
