//! SetGraph: the dependency graph of rules.
//!
//! A rule depends on every rule that one of its references may refer to. If the reference contains a variable, that is
//! any rule with some key at its position, unless the body has bound the variable to constants before.
//!
//! To avoid a quadratic number of edges, groups of rules are vertices, too: the subtrees of the rule tree that
//! references reach, and the patterns of keys and variables that continue from there.

mod bindings;
mod components;
mod reads;
mod targets;

use std::sync::Arc;

use smallvec::SmallVec;
use solon_syntax::ast::Ref;

use self::components::components;
use self::targets::{PathTarget, Targets};
use super::compilation::Compilation;
use super::rule_tree::{RuleTree, TreeRuleId};

pub use reads::DocumentRead;
pub use targets::ReadStep;

/// Targets of the edges of a vertex.
pub type OutEdges = SmallVec<[u32; 4]>;

/// A vertex of the graph: a rule, or a group of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vertex(u32);

/// Dependency graph of the rules: a vertex for each, an edge for each document that it reads.
#[derive(Debug, Default)]
pub struct Graph {
    rules: Vec<TreeRuleId>,
    /// Index of each module's first rule.
    starts: Vec<u32>,
    /// Dependencies of each rule, followed by the members of each group.
    edges: Arc<Vec<OutEdges>>,
    /// Dependencies of each rule with their conditions.
    needs: Vec<Vec<Dependency>>,
    lookups: Vec<Arc<DynamicRef>>,
    components: Vec<u32>,
    /// Rules that add to documents which references pass through.
    neighbours: Option<Neighbours>,
    /// All vertices in the order of [`Self::in_order`].
    order: Vec<Vertex>,
}

/// Rules that add to documents of which other rules read other parts: `a[x].c` if `a[x].b` is read. They are not
/// dependencies, but the type of the document includes them, so they are checked earlier if possible.
#[derive(Debug)]
struct Neighbours {
    /// Edges of the graph, including those to such rules.
    edges: Vec<OutEdges>,
    /// Component of each vertex. Rules that depend on each other share one.
    components: Vec<u32>,
    /// `true` for each component with a cycle.
    cyclic: Vec<bool>,
}

/// A dependency of a rule on another one.
#[derive(Clone, Copy, Debug)]
pub struct Dependency {
    /// The other rule, or a group that may contain it.
    pub target: Vertex,
    /// Dependent part of the rule: 0 for the rule itself, then its `else` branches.
    pub part: u32,
    /// Lookup that refers to the target only under conditions.
    lookup: Option<u32>,
}

/// A reference with steps that are known only at evaluation.
#[derive(Debug)]
pub struct DynamicRef {
    /// The whole reference.
    pub reference: Ref,
    /// Steps that are known only at evaluation.
    pub conditions: Vec<StepCondition>,
}

/// A step that is known only at evaluation.
#[derive(Clone, Debug)]
pub struct StepCondition {
    /// Index of the step in the reference, from 0.
    pub step: usize,
    /// Knowledge about the step.
    pub note: StepNote,
}

/// Knowledge about a step, for messages.
#[derive(Clone, Debug)]
pub enum StepNote {
    /// Nothing is known.
    Silent,
    /// Description of the origin of its values.
    Described(Arc<str>),
    /// Too complex for a message.
    Opaque,
}

/// Builds the graph. An unchanged graph of the earlier compilation is reused.
pub fn set_graph(compilation: &mut Compilation<'_>) {
    let Compilation {
        modules,
        findings,
        locals,
        ..
    } = compilation;
    for (position, findings) in findings.iter_mut().enumerate() {
        if let Some((module, None)) = modules.part(position) {
            findings.reads = reads::of_module(module, modules.facts(position), locals);
        }
    }
    compilation.graph = match unchanged_graph(compilation) {
        Some(graph) => graph,
        None => {
            let reads = compilation.findings.iter();
            let reads = reads.map(|findings| &*findings.reads);
            Arc::new(Graph::new(&compilation.rule_tree, reads))
        }
    };
}

/// Returns the graph of the earlier compilation if the rules of the changed modules read the same documents as before.
fn unchanged_graph(compilation: &Compilation<'_>) -> Option<Arc<Graph>> {
    let earlier = compilation.earlier_with_same_tree()?;
    let modules = compilation.modules.with_reused();
    let modules = modules.zip(&compilation.findings).zip(&earlier.results);
    let mut open = modules.filter(|(((_, reused), _), _)| reused.is_none());
    let is_same = |before: &[Vec<DocumentRead>], now: &[Vec<DocumentRead>]| {
        before.len() == now.len()
            && before.iter().zip(now).all(|(before, now)| {
                before.len() == now.len()
                    && before
                        .iter()
                        .zip(now)
                        .all(|(before, now)| before.leads_as(now))
            })
    };
    let is_unchanged =
        open.all(|((_, findings), before)| is_same(&before.findings.reads, &findings.reads));
    is_unchanged.then(|| earlier.graph.clone())
}

impl Graph {
    /// Builds the graph of the rules in a tree from the documents that each rule reads, module by module.
    pub fn new<'r>(
        tree: &RuleTree,
        reads: impl Iterator<Item = &'r [Vec<DocumentRead>]> + Clone,
    ) -> Self {
        let mut graph = Self::default();
        for (module, position) in reads.clone().zip(0..) {
            graph.starts.push(length(&graph.rules));
            let ids = module.iter().zip(0..).map(|(_, rule)| TreeRuleId {
                module: position,
                rule,
            });
            graph.rules.extend(ids);
        }
        let mut targets = Targets::new(tree, &graph.starts, length(&graph.rules));
        let mut edges_of_rules = Vec::new();
        for rule in reads.flatten() {
            let mut targets_of_rule = Vec::new();
            let needs = needs_of(rule, &mut targets, &mut graph.lookups, &mut targets_of_rule);
            graph.needs.push(needs);
            edges_of_rules.push(targets_of_rule);
        }
        let groups = targets.into_groups();
        let edges = |neighbours: bool| -> Vec<OutEdges> {
            let targets = edges_of_rules.iter().chain(&groups);
            targets.map(|targets| unique(targets, neighbours)).collect()
        };
        let needed_edges = edges(false);
        graph.components = components(&needed_edges);
        graph.edges = Arc::new(needed_edges);
        let mut all = edges_of_rules.iter().chain(&groups).flatten();
        graph.neighbours = all
            .any(|target| target.elsewhere)
            .then(|| Neighbours::new(edges(true)));
        graph.order = graph.sorted_vertices();
        graph
    }

    /// Returns all vertices, each after its dependencies and, if possible, after the rules that add to the documents
    /// that it reads.
    pub fn in_order(&self) -> impl Iterator<Item = Vertex> {
        self.order.iter().copied()
    }

    fn sorted_vertices(&self) -> Vec<Vertex> {
        let components = self.components.iter();
        let mut vertices: Vec<_> = match &self.neighbours {
            None => components
                .map(|component| (0, *component))
                .zip(self.vertices())
                .collect(),
            Some(neighbours) => {
                let outer = neighbours.components.iter().copied();
                outer
                    .zip(components.copied())
                    .zip(self.vertices())
                    .collect()
            }
        };
        vertices.sort_by_key(|(components, _)| *components);
        vertices.into_iter().map(|(_, vertex)| vertex).collect()
    }

    /// Returns `true` if some rules add to documents of which other rules read other parts.
    pub fn has_neighbours(&self) -> bool {
        self.neighbours.is_some()
    }

    /// Returns `true` if some rules that add to the documents that a vertex reads may come after it in the order.
    pub fn is_early(&self, vertex: Vertex) -> bool {
        self.neighbours.as_ref().is_some_and(|neighbours| {
            let component = neighbours.components.get(vertex.position());
            let cyclic = component.and_then(|component| neighbours.cyclic.get(*component as usize));
            cyclic == Some(&true)
        })
    }

    /// Returns the vertex of a rule, or `None` if the module is not in the graph.
    pub fn vertex(&self, rule: TreeRuleId) -> Option<Vertex> {
        let start = self.starts.get(rule.module as usize)?;
        Some(Vertex(start + rule.rule))
    }

    /// Returns the rule of a vertex; `None` for groups.
    pub fn rule(&self, vertex: Vertex) -> Option<TreeRuleId> {
        self.rules.get(vertex.0 as usize).copied()
    }

    /// Returns the dependencies of a rule; none for an unknown vertex.
    pub fn needs(&self, vertex: Vertex) -> &[Dependency] {
        self.needs.get(vertex.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the dependencies of a rule, or the members of a group.
    pub fn members(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> {
        let members = self.edges.get(vertex.0 as usize);
        members.into_iter().flatten().copied().map(Vertex)
    }

    /// Returns [`Self::members`], and the rules that add to the documents that a rule reads.
    pub fn contributors(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> {
        let edges = match &self.neighbours {
            Some(neighbours) => &neighbours.edges,
            None => &*self.edges,
        };
        let members = edges.get(vertex.0 as usize);
        members.into_iter().flatten().copied().map(Vertex)
    }

    /// Returns the targets of the edges of all vertices, shared.
    pub fn edges(&self) -> Arc<Vec<OutEdges>> {
        self.edges.clone()
    }

    /// Returns the lookup of a conditional dependency, or `None` for an unconditional one.
    pub fn lookup(&self, need: Dependency) -> Option<&DynamicRef> {
        let lookup = self.lookups.get(need.lookup? as usize)?;
        Some(lookup)
    }

    /// Returns `true` if two vertices depend on each other.
    pub fn same_component(&self, a: Vertex, b: Vertex) -> bool {
        let component = |vertex: Vertex| self.components.get(vertex.0 as usize);
        component(a) == component(b)
    }

    /// Iterates over all vertices: rules first, then groups.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + Clone {
        (0..length(&self.edges)).map(Vertex)
    }

    /// Number of vertices: one for each rule.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns `true` if it has no rules.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

impl Vertex {
    /// Returns its index among all vertices.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl Neighbours {
    fn new(edges: Vec<OutEdges>) -> Self {
        let components = components(&edges);
        let mut cyclic = vec![false; components.len()];
        for (targets, component) in edges.iter().zip(&components) {
            let mut targets = targets
                .iter()
                .map(|target| components.get(*target as usize));
            if targets.any(|target| target == Some(component))
                && let Some(cyclic) = cyclic.get_mut(*component as usize)
            {
                *cyclic = true;
            }
        }
        Self {
            edges,
            components,
            cyclic,
        }
    }
}

/// Returns the distinct vertices of targets: only dependencies, or all.
fn unique(targets: &[PathTarget], neighbours: bool) -> OutEdges {
    let targets = targets
        .iter()
        .filter(|target| neighbours || !target.elsewhere);
    let mut targets: OutEdges = targets.map(|target| target.vertex.0).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// Returns the dependencies of a rule, given the targets of its references.
fn needs_of(
    reads: &[DocumentRead],
    targets: &mut Targets<'_>,
    lookups: &mut Vec<Arc<DynamicRef>>,
    resolved: &mut Vec<PathTarget>,
) -> Vec<Dependency> {
    let mut needs = Vec::with_capacity(reads.len());
    for read in reads {
        let start = resolved.len();
        targets.add_targets(&read.path, resolved);
        let added = resolved.get(start..).unwrap_or_default();
        let mut own_targets = added.iter().filter(|target| !target.elsewhere).peekable();
        let lookup = read
            .lookup
            .as_ref()
            .filter(|_| own_targets.peek().is_some());
        let lookup = lookup.map(|lookup| {
            lookups.push(lookup.clone());
            length(lookups) - 1
        });
        needs.extend(own_targets.map(|target| Dependency {
            target: target.vertex,
            part: read.part,
            lookup,
        }));
    }
    needs
}
