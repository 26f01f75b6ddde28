//! Which rules of kept modules yield what they yielded: those that need nothing of another type.

use hashbrown::HashMap;

use super::tree::TypeTree;
use crate::compile::compilation::Compilation;
use crate::compile::compiled_module::Yield;
use crate::compile::graph::{Graph, Vertex};
use crate::compile::rule_tree::{NodeId, RuleId, RuleTree};
use crate::types::Type;
use crate::value::Value;

/// What changed since an earlier compilation, as far as rules were looked at.
pub struct TypeChanges<'c> {
    graph: &'c Graph,
    tree: &'c RuleTree,
    /// What documents were then.
    before: Option<&'c TypeTree>,
    /// The documents that some rule may make anew, and whether they are of another type, once that was asked.
    documents: HashMap<NodeId, Option<bool>>,
    /// Whether each group holds a rule of such a document.
    groups: HashMap<Vertex, bool>,
}

impl<'c> TypeChanges<'c> {
    /// Nothing was looked at so far.
    pub fn new(compilation: &'c Compilation<'_>) -> Self {
        let tree = &compilation.rule_tree;
        let earlier = compilation.earlier.as_ref();
        let touched = earlier.into_iter().flat_map(|earlier| &earlier.gone);
        let nodes = touched.filter_map(|path| tree.at(path));
        Self {
            graph: &compilation.graph,
            tree,
            before: earlier.map(|earlier| &earlier.compiled.types),
            documents: nodes.map(|node| (node, None)).collect(),
            groups: HashMap::new(),
        }
    }

    /// Looks at a group, behind all that it holds.
    pub fn group(&mut self, vertex: Vertex, types: &TypeTree) {
        if self.before.is_some() {
            // what may still come must not be asked for yet
            let changed = self.graph.is_early(vertex) || self.members_changed(vertex, types);
            self.groups.insert(vertex, changed);
        }
    }

    /// What a rule yields, if it still yields what it did.
    pub fn kept<'y>(
        &mut self,
        vertex: Vertex,
        yields: Option<&'y Yield>,
        types: &TypeTree,
    ) -> Option<&'y [Type]> {
        let kept = yields?.as_ref()?;
        let changed = self.graph.is_early(vertex) || self.members_changed(vertex, types);
        (!changed).then_some(kept.as_slice())
    }

    /// Notes that a rule yields something else than before.
    pub fn changed(&mut self, rule: RuleId) {
        if let Some(node) = self.tree.home(rule).filter(|_| self.before.is_some()) {
            self.documents.entry(node).or_default();
        }
    }

    fn members_changed(&mut self, vertex: Vertex, types: &TypeTree) -> bool {
        let graph = self.graph;
        let mut members = graph.contributors(vertex);
        members.any(|member| self.has_changed(member, types))
    }

    /// Whether a rule's document, or one in a group, is of another type. All that goes into it was looked at.
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
            let before = self.before.and_then(|before| before.said_of(&path));
            before.is_none() || before != types.said_of(&path)
        })
    }
}
