//! SetGraph: which rules each rule needs.
//!
//! A rule needs every rule that one of its references may refer to. Where a variable stands in the reference, that
//! is any rule with some key in its place, unless the body has bound the variable to constants before.
//!
//! Rules that many references lead to are not listed for each: the subtrees of the rule tree that references reach,
//! and the patterns of keys and variables they go on with, are vertices of the graph of their own.

mod bindings;
mod components;
mod targets;

use std::sync::Arc;

use solon_syntax::ast::visit::{Flow, Terms, Walk};
use solon_syntax::ast::{Module, Ref, Rule, Term, TermKind};
use solon_syntax::print::display_ref;

use self::bindings::{Bindings, Known, is_constant};
use self::components::components;
use self::targets::{Step, Targets};
use super::compilation::Compilation;
use super::conflicts::full_reference;
use super::locals::Locals;
use super::rule_tree::{RuleId, RuleTree, key};
use crate::limits;

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
    edges: Vec<Vec<u32>>,
    /// The same for rules, with what it takes.
    needs: Vec<Vec<Need>>,
    lookups: Vec<Lookup>,
    components: Vec<u32>,
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
pub struct Lookup {
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
    Words(Arc<str>),
    /// There is too much to say of it.
    Opaque,
}

/// Builds the graph.
pub fn set_graph(compilation: &mut Compilation<'_>) {
    compilation.graph = Graph::new(
        &compilation.modules,
        &compilation.rule_tree,
        &compilation.locals,
    );
}

impl Graph {
    /// The graph of modules with resolved references.
    pub fn new(modules: &[Module], tree: &RuleTree, locals: &Locals) -> Self {
        let mut graph = Self::default();
        for (module, position) in modules.iter().zip(0..) {
            graph.starts.push(length(&graph.rules));
            let ids = module.rules.iter().zip(0..).map(|(_, rule)| RuleId {
                module: position,
                rule,
            });
            graph.rules.extend(ids);
        }
        let mut targets = Targets::new(tree, &graph.starts, length(&graph.rules));
        for module in modules {
            for rule in &module.rules {
                let needs = needs_of(module, rule, locals, &mut targets, &mut graph.lookups);
                graph.needs.push(needs);
            }
        }
        graph.edges = graph.needs.iter().map(|needs| unique(needs)).collect();
        graph.edges.extend(targets.into_groups());
        graph.components = components(&graph.edges);
        graph
    }

    /// All rules, each behind those it needs; of a cycle in any order.
    pub fn in_order(&self) -> Vec<RuleId> {
        let mut rules: Vec<_> = self.components.iter().zip(&self.rules).collect();
        rules.sort_by_key(|(component, _)| **component);
        rules.into_iter().map(|(_, rule)| *rule).collect()
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

    /// What a group holds.
    pub fn members(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> {
        let members = self.edges.get(vertex.0 as usize);
        members.into_iter().flatten().copied().map(Vertex)
    }

    /// The lookup behind a need.
    pub fn lookup(&self, need: Need) -> Option<&Lookup> {
        self.lookups.get(need.lookup? as usize)
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

/// The targets of needs, each once.
fn unique(needs: &[Need]) -> Vec<u32> {
    let mut targets: Vec<_> = needs.iter().map(|need| need.target.0).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// What a rule and its `else`s need.
fn needs_of(
    module: &Module,
    rule: &Rule,
    locals: &Locals,
    targets: &mut Targets<'_>,
    lookups: &mut Vec<Lookup>,
) -> Vec<Need> {
    let reference = locals.restore(&full_reference(&module.package.path, rule));
    let name = display_ref(&reference).to_string();
    let parts = std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref());
    let mut needs = Vec::new();
    for (part, number) in parts.zip(0..) {
        let mut scan = Scan {
            bindings: Bindings::new(part, &rule.head.args, &name, locals),
            locals,
            targets,
            lookups,
            part: number,
            needs: &mut needs,
        };
        for expr in &part.body {
            scan.references(expr);
            scan.bindings.add(expr);
        }
        scan.bindings.enter_head(part, &name);
        scan.references(part.head.reference.get(1..).unwrap_or_default());
        scan.references(&part.head.args);
        scan.references(&part.head.key);
        scan.references(&part.head.value);
    }
    needs
}

/// Finds what references lead to.
struct Scan<'s, 't, 'c> {
    bindings: Bindings<'c>,
    locals: &'c Locals,
    targets: &'s mut Targets<'t>,
    lookups: &'s mut Vec<Lookup>,
    part: u32,
    needs: &'s mut Vec<Need>,
}

impl Scan<'_, '_, '_> {
    fn references<N: Walk + ?Sized>(&mut self, node: &N) {
        node.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(reference) = &term.kind
                && let Some((head, steps)) = reference.split_first()
                && head.as_var().is_some_and(|name| &**name == "data")
            {
                self.reference(reference, steps);
            }
            Flow::Into
        }));
    }

    fn reference(&mut self, reference: &Ref, steps: &[Term]) {
        let mut conditions = Vec::new();
        let mut path: Vec<Step> = (1..)
            .zip(steps)
            .map(|(at, step)| self.step(at, step, &mut conditions))
            .collect();
        let combinations = path.iter().try_fold(1usize, |product, step| match step {
            Step::OneOf(keys) => product.checked_mul(keys.len()),
            Step::Key(_) | Step::Any => Some(product),
        });
        if combinations.is_none_or(|count| count > limits::LOOKUP_COMBINATIONS) {
            for (at, step) in (1..).zip(&mut path) {
                if matches!(step, Step::OneOf(_)) {
                    *step = Step::Any;
                    conditions.retain(|condition| condition.step != at);
                    conditions.push(Condition {
                        step: at,
                        note: Note::Opaque,
                    });
                }
            }
        }
        let found = self.targets.of(&path);
        let lookup = (!conditions.is_empty() && !found.is_empty()).then(|| {
            self.lookups.push(Lookup {
                reference: self.locals.restore(reference),
                conditions,
            });
            length(self.lookups) - 1
        });
        for target in found {
            self.needs.push(Need {
                target,
                part: self.part,
                lookup,
            });
        }
    }

    /// What a step of a reference can be.
    fn step(&self, at: usize, step: &Term, conditions: &mut Vec<Condition>) -> Step {
        let mut condition = |note| conditions.push(Condition { step: at, note });
        if let Some(key) = key(step) {
            return Step::Key(key);
        }
        match &step.kind {
            TermKind::Var(name) => match self.bindings.get(name) {
                None => return Step::Any,
                Some(Known::Bound) => condition(Note::Silent),
                Some(Known::Role(words)) => condition(Note::Words(words.clone())),
                Some(Known::Source(words)) => {
                    condition(words.clone().map_or(Note::Opaque, Note::Words));
                }
                Some(Known::Values(values, text)) => {
                    if values.len() > 1 {
                        condition(Note::Words(format!("is one of {text}").into()));
                    }
                    return Step::OneOf(values.iter().filter_map(key).collect());
                }
            },
            TermKind::Ref(reference) => {
                let Some((head, steps)) = reference.split_first() else {
                    return Step::Any;
                };
                if let Some((values, _)) = self.bindings.values(head, steps) {
                    if values.len() > 1 {
                        condition(Note::Silent);
                    }
                    return Step::OneOf(values.iter().filter_map(key).collect());
                }
                if head.as_var().is_some_and(|name| &**name == "data") {
                    let words = "rule values aren't known at compile time";
                    condition(Note::Words(words.into()));
                } else {
                    condition(Note::Silent);
                }
            }
            // no document has such a key
            _ if is_constant(step) => return Step::OneOf(Vec::new()),
            _ => condition(Note::Silent),
        }
        Step::Any
    }
}
