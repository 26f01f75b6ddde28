//! SetGraph: which rules each rule needs.
//!
//! A rule needs every rule that one of its references may refer to. Where a variable stands in the reference, that
//! is any rule with some key in its place, unless the body has bound the variable to constants before.
//!
//! Rules that many references lead to are not listed for each: the subtrees of the rule tree that references reach,
//! and the patterns of keys and variables they go on with, are vertices of the graph of their own.

mod bindings;
mod components;
mod reads;
mod targets;

use std::sync::Arc;

use smallvec::SmallVec;
use solon_syntax::ast::Ref;

use self::components::components;
use self::targets::{Target, Targets};
use super::compilation::Compilation;
use super::rule_tree::{RuleId, RuleTree};

pub use reads::DocumentRead;
pub use targets::ReadStep;

/// Where the edges of a vertex lead.
pub type Edges = SmallVec<[u32; 4]>;

/// A vertex of the graph: a rule, or a group of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vertex(u32);

/// The rules, and which rules each needs.
#[derive(Debug, Default)]
pub struct Graph {
    rules: Vec<RuleId>,
    /// Position of each module's first rule.
    starts: Vec<u32>,
    /// What each rule needs, then what each group holds.
    edges: Arc<Vec<Edges>>,
    /// The same for rules, with what it takes.
    needs: Vec<Vec<Need>>,
    lookups: Vec<Arc<DynamicRef>>,
    components: Vec<u32>,
    /// Where rules add to documents that others pass.
    neighbours: Option<Neighbours>,
}

/// Rules that add to documents which others read other parts of: `a[x].c` where `a[x].b` is asked for. They are not needed,
/// but the type of the document is made of them, so they are checked before where that is possible.
#[derive(Debug)]
struct Neighbours {
    /// The edges of the graph, with those to such rules.
    edges: Vec<Edges>,
    /// Its components.
    components: Vec<u32>,
    /// Whether each of them has a cycle.
    cyclic: Vec<bool>,
}

/// That a rule needs another.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The other rule, or a group it may be in.
    pub target: Vertex,
    /// Which part of the rule needs it: 0 for the rule itself, then its `else`s.
    pub part: u32,
    /// The lookup that only may refer to the target.
    lookup: Option<u32>,
}

/// A reference with steps that are known only when it is evaluated.
#[derive(Debug)]
pub struct DynamicRef {
    /// The reference.
    pub reference: Ref,
    /// Those steps.
    pub conditions: Vec<Condition>,
}

/// A step that is known only when it is evaluated.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Its position in the reference.
    pub step: usize,
    /// What is known of it.
    pub note: Note,
}

/// What is known of a step.
#[derive(Clone, Debug)]
pub enum Note {
    /// Nothing.
    Silent,
    /// Where its values come from, in words.
    Described(Arc<str>),
    /// There is too much to say of it.
    Opaque,
}

/// Builds the graph.
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
    let reads = findings.iter().map(|findings| &*findings.reads);
    compilation.graph = Graph::new(&compilation.rule_tree, reads);
}

impl Graph {
    /// The graph of the rules in a tree, of which each reads something, module by module.
    pub fn new<'r>(
        tree: &RuleTree,
        reads: impl Iterator<Item = &'r [Vec<DocumentRead>]> + Clone,
    ) -> Self {
        let mut graph = Self::default();
        for (module, position) in reads.clone().zip(0..) {
            graph.starts.push(length(&graph.rules));
            let ids = module.iter().zip(0..).map(|(_, rule)| RuleId {
                module: position,
                rule,
            });
            graph.rules.extend(ids);
        }
        let mut targets = Targets::new(tree, &graph.starts, length(&graph.rules));
        let mut found = Vec::new();
        for rule in reads.flatten() {
            let mut targets_of_rule = Vec::new();
            let needs = needs_of(rule, &mut targets, &mut graph.lookups, &mut targets_of_rule);
            graph.needs.push(needs);
            found.push(targets_of_rule);
        }
        let groups = targets.into_groups();
        let edges = |neighbours: bool| -> Vec<Edges> {
            let targets = found.iter().chain(&groups);
            targets.map(|targets| unique(targets, neighbours)).collect()
        };
        let needed = edges(false);
        graph.components = components(&needed);
        graph.edges = Arc::new(needed);
        let mut all = found.iter().chain(&groups).flatten();
        graph.neighbours = all
            .any(|target| target.elsewhere)
            .then(|| Neighbours::new(edges(true)));
        graph
    }

    /// All vertices, each behind those it needs and, where that is possible, behind those that add to what it reads.
    pub fn in_order(&self) -> Vec<Vertex> {
        let components = self.components.iter();
        let mut vertices: Vec<_> = match &self.neighbours {
            None => components.map(|of| (0, *of)).zip(self.vertices()).collect(),
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

    /// Whether some of what adds to the documents that a vertex reads may come behind it in the order.
    pub fn is_early(&self, vertex: Vertex) -> bool {
        self.neighbours.as_ref().is_some_and(|neighbours| {
            let component = neighbours.components.get(vertex.position());
            let cyclic = component.and_then(|of| neighbours.cyclic.get(*of as usize));
            cyclic == Some(&true)
        })
    }

    /// The vertex of a rule.
    pub fn vertex(&self, rule: RuleId) -> Option<Vertex> {
        let start = self.starts.get(rule.module as usize)?;
        Some(Vertex(start + rule.rule))
    }

    /// The rule, if a vertex is one.
    pub fn rule(&self, vertex: Vertex) -> Option<RuleId> {
        self.rules.get(vertex.0 as usize).copied()
    }

    /// What a rule needs.
    pub fn needs(&self, vertex: Vertex) -> &[Need] {
        self.needs.get(vertex.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// What a rule needs, or a group holds.
    pub fn members(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> {
        let members = self.edges.get(vertex.0 as usize);
        members.into_iter().flatten().copied().map(Vertex)
    }

    /// What a rule needs, or a group holds, and the rules that add to the documents that it reads.
    pub fn contributors(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> {
        let edges = match &self.neighbours {
            Some(neighbours) => &neighbours.edges,
            None => &*self.edges,
        };
        let members = edges.get(vertex.0 as usize);
        members.into_iter().flatten().copied().map(Vertex)
    }

    /// Where the edges of all vertices lead.
    pub fn edges(&self) -> Arc<Vec<Edges>> {
        self.edges.clone()
    }

    /// The lookup behind a need.
    pub fn lookup(&self, need: Need) -> Option<&DynamicRef> {
        let lookup = self.lookups.get(need.lookup? as usize)?;
        Some(lookup)
    }

    /// Whether two vertices need each other.
    pub fn same_component(&self, a: Vertex, b: Vertex) -> bool {
        let component = |vertex: Vertex| self.components.get(vertex.0 as usize);
        component(a) == component(b)
    }

    /// All vertices: the rules, then the groups.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + Clone {
        (0..length(&self.edges)).map(Vertex)
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

impl Vertex {
    /// Its position.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl Neighbours {
    fn new(edges: Vec<Edges>) -> Self {
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

/// Where targets are, each once: those that are needed, or all.
fn unique(targets: &[Target], neighbours: bool) -> Edges {
    let targets = targets
        .iter()
        .filter(|target| neighbours || !target.elsewhere);
    let mut targets: Edges = targets.map(|target| target.vertex.0).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// What a rule needs to read what it reads, out of all that this leads to.
fn needs_of(
    reads: &[DocumentRead],
    targets: &mut Targets<'_>,
    lookups: &mut Vec<Arc<DynamicRef>>,
    found: &mut Vec<Target>,
) -> Vec<Need> {
    let mut needs = Vec::with_capacity(reads.len());
    for read in reads {
        let start = found.len();
        targets.add_targets(&read.path, found);
        let found = found.get(start..).unwrap_or_default();
        let mut needed = found.iter().filter(|target| !target.elsewhere).peekable();
        let lookup = read.lookup.as_ref().filter(|_| needed.peek().is_some());
        let lookup = lookup.map(|lookup| {
            lookups.push(lookup.clone());
            length(lookups) - 1
        });
        needs.extend(needed.map(|target| Need {
            target: target.vertex,
            part: read.part,
            lookup,
        }));
    }
    needs
}
