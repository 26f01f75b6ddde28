//! CheckRecursion: rejects rules that depend on themselves.

use std::collections::VecDeque;

use hashbrown::HashMap;

use solon_syntax::ast::{Ref, Rule, Term};
use solon_syntax::print::display_ref;
use solon_syntax::source::Code;

use super::compilation::Compilation;
use super::conflicts::full_reference;
use super::graph::{Dependency, DynamicRef, Graph, StepCondition, StepNote, Vertex};
use super::rule_tree::{RuleTree, TreeRuleId, ground_prefix};

/// Maximum number of rules of a cycle in a message.
const NAMED: usize = 100;

/// Maximum number of conditions that a message spells out.
const CONDITIONS: usize = 2;

/// Rejects rules that depend on themselves, or may do so for some values.
pub fn check_recursion(compilation: &mut Compilation<'_>) {
    // the same graph had no cycles before
    if compilation.earlier_with_same_graph().is_some() {
        return;
    }
    let mut cycles = Vec::new();
    let check = RecursionCheck {
        compilation,
        graph: &compilation.graph,
    };
    // one more than the limit lets the report detect that it was reached
    let max_cycles = match compilation.options.error_limit {
        0 => usize::MAX,
        limit => limit + 1,
    };
    let nodes = compilation.rule_tree.subtree(RuleTree::DATA);
    let rules = nodes.flat_map(|node| compilation.rule_tree.node(node).rules.iter());
    'rules: for id in rules {
        let Some(rule) = id.rule_in(&compilation.modules) else {
            continue;
        };
        let parts = std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref());
        for (part, number) in parts.zip(0..) {
            if let Some(message) = check.part(*id, number) {
                cycles.push((part.span, message));
            }
            if cycles.len() >= max_cycles {
                break 'rules;
            }
        }
    }
    for (span, message) in cycles {
        compilation.report.error(Code::Recursion, span, message);
    }
}

struct RecursionCheck<'c, 'a> {
    compilation: &'c Compilation<'a>,
    graph: &'c Graph,
}

/// A cycle of rules, each with the dependency that leads to the next one.
type Cycle = Vec<(Vertex, Option<Dependency>)>;

impl RecursionCheck<'_, '_> {
    /// Returns the error message for a part of a rule, if it is recursive.
    fn part(&self, id: TreeRuleId, part: u32) -> Option<String> {
        let start = self.graph.vertex(id)?;
        let is_inside =
            |need: &&Dependency| need.part == part && self.graph.same_component(start, need.target);
        let first: Vec<Dependency> = self
            .graph
            .needs(start)
            .iter()
            .filter(is_inside)
            .copied()
            .collect();
        if first.is_empty() {
            return None;
        }
        // an unconditional cycle is more informative than one that depends on values
        let cycle = self
            .cycle(start, &first, |need| self.graph.lookup(need).is_none())
            .or_else(|| self.cycle(start, &first, |_| true))?;
        Some(self.message(&cycle))
    }

    /// Returns the shortest cycle through accepted dependencies (breadth-first search).
    fn cycle(
        &self,
        start: Vertex,
        first: &[Dependency],
        passes: impl Fn(Dependency) -> bool,
    ) -> Option<Cycle> {
        let mut predecessors: HashMap<Vertex, (Vertex, Option<Dependency>)> = HashMap::new();
        let mut open = VecDeque::from([start]);
        let mut at_start = true;
        while let Some(vertex) = open.pop_front() {
            let needs = if at_start {
                first
            } else {
                self.graph.needs(vertex)
            };
            at_start = false;
            let needs = needs.iter().filter(|need| passes(**need));
            let needs = needs.map(|need| (need.target, Some(*need)));
            let members = match self.graph.rule(vertex) {
                Some(_) => None,
                None => Some(self.graph.members(vertex).map(|member| (member, None))),
            };
            for (target, need) in needs.chain(members.into_iter().flatten()) {
                if !self.graph.same_component(start, target) || predecessors.contains_key(&target) {
                    continue;
                }
                predecessors.insert(target, (vertex, need));
                if target == start {
                    return Some(retrace(start, &predecessors));
                }
                open.push_back(target);
            }
        }
        None
    }

    fn message(&self, cycle: &Cycle) -> String {
        let mut rules = cycle
            .iter()
            .filter_map(|(vertex, need)| Some((self.graph.rule(*vertex)?, *need)));
        let Some((start, need)) = rules.next() else {
            return String::new();
        };
        let name = self.name(start);
        let mut path = name.clone();
        let mut note = None;
        let mut previous = (start, need);
        let mut named_count = 1;
        for (id, need) in rules.chain([(start, None)]) {
            let target = self.name(id);
            note = note.or_else(|| self.note(start, previous, id));
            named_count += 1;
            if named_count < NAMED || (id == start && need.is_none()) {
                path.push_str(" -> ");
                path.push_str(&target);
            } else if named_count == NAMED {
                path.push_str(" -> ...");
            }
            previous = (id, need);
        }
        match note {
            None => format!("rule {name} is recursive: {path}"),
            Some(note) => format!("rule {name} may be recursive: {path} ({note})"),
        }
    }

    /// Describes the conditions under which one rule depends on another.
    fn note(
        &self,
        start: TreeRuleId,
        from: (TreeRuleId, Option<Dependency>),
        target: TreeRuleId,
    ) -> Option<String> {
        let lookup = self.graph.lookup(from.1?)?;
        let reference = self.reference(target)?;
        let home = ground_prefix(&reference).len();
        let is_constant = |step: usize| reference.get(step).is_some_and(Term::is_scalar);
        let conditions: Vec<_> = lookup
            .conditions
            .iter()
            .filter(|condition| condition.step < home || is_constant(condition.step))
            .collect();
        if conditions.is_empty() {
            return None;
        }
        let prefix = lookup.reference.get(..reference.len());
        let mut note = display_ref(prefix.unwrap_or(&lookup.reference)).to_string();
        if from.0 != start {
            note.push_str(" in ");
            note.push_str(&self.name(from.0));
        }
        let name = display_ref(&reference);
        Some(match texts(lookup, &conditions, &reference) {
            Some(conditions) if conditions.len() <= CONDITIONS => {
                format!("{note} refers to {name} if {}", conditions.join(" and "))
            }
            _ => format!("{note} could refer to {name}"),
        })
    }

    fn reference(&self, id: TreeRuleId) -> Option<Ref> {
        let module = self.compilation.modules.get(id.module as usize)?;
        let rule: &Rule = module.rules.get(id.rule as usize)?;
        let reference = full_reference(&module.package.path, rule);
        Some(self.compilation.locals.restore(&reference))
    }

    fn name(&self, id: TreeRuleId) -> String {
        let reference = self.reference(id).unwrap_or_default();
        display_ref(&reference).to_string()
    }
}

/// Describes each condition once; `None` if a description would not help, or if one step would need two keys.
fn texts(lookup: &DynamicRef, conditions: &[&StepCondition], target: &Ref) -> Option<Vec<String>> {
    let mut step_keys: Vec<(&Term, &Term)> = Vec::new();
    let mut texts = Vec::new();
    for condition in conditions {
        let step = lookup.reference.get(condition.step)?;
        let key = target.get(condition.step)?;
        match step_keys.iter().find(|(other, _)| *other == step) {
            Some((_, other)) if *other == key => continue,
            Some(_) => return None,
            None => step_keys.push((step, key)),
        }
        texts.push(describe(step, &condition.note, key)?);
    }
    Some(texts)
}

/// Returns `x is "p" (x comes from input.k)`; `None` if it would not help the user.
fn describe(step: &Term, note: &StepNote, key: &Term) -> Option<String> {
    match note {
        StepNote::Silent => Some(format!("{step} is {key}")),
        StepNote::Described(text) if step.as_var().is_some() => {
            Some(format!("{step} is {key} ({step} {text})"))
        }
        StepNote::Described(text) => Some(format!("{step} is {key} ({text})")),
        StepNote::Opaque => None,
    }
}

fn retrace(start: Vertex, predecessors: &HashMap<Vertex, (Vertex, Option<Dependency>)>) -> Cycle {
    let mut cycle = Vec::new();
    let mut vertex = start;
    while let Some((previous, need)) = predecessors.get(&vertex) {
        cycle.push((*previous, *need));
        vertex = *previous;
        if vertex == start {
            break;
        }
    }
    cycle.reverse();
    cycle
}
