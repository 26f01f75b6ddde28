//! Which rules need which, the other way round: what is not what it was once `with` replaces a rule.

use hashbrown::HashSet;
use std::sync::{Arc, OnceLock};

use crate::compile::graph::{Edges, Graph};
use crate::compile::rule_tree::{RuleId, RuleTree};
use crate::index::Indexed as _;
use crate::limits;
use crate::value::Value;

/// The users of each rule.
#[derive(Debug, Default)]
pub struct Dependents {
    /// The rules, which are the first vertices, in order.
    rules: Vec<RuleId>,
    needs: Arc<Vec<Edges>>,
    /// Whatever needs each vertex, once it was asked for: most programs replace nothing.
    users: OnceLock<Vec<Vec<usize>>>,
}

impl Dependents {
    /// The dependents of the rules of a graph.
    pub fn new(graph: &Graph) -> Self {
        let vertices = graph.vertices();
        Self {
            rules: vertices.map_while(|vertex| graph.rule(vertex)).collect(),
            needs: graph.edges(),
            users: OnceLock::new(),
        }
    }

    /// The paths of the documents that need one of some rules; `None` when they are too many to list.
    pub fn paths(&self, tree: &RuleTree, of: &[RuleId]) -> Option<Vec<Vec<Value>>> {
        let users = self.users.get_or_init(|| self.reversed());
        let starts = of
            .iter()
            .filter_map(|rule| self.rules.binary_search(rule).ok());
        let mut open: Vec<usize> = starts.collect();
        let mut reached = HashSet::new();
        let mut paths = Vec::new();
        while let Some(vertex) = open.pop() {
            for user in users.get(vertex).into_iter().flatten() {
                if !reached.insert(*user) {
                    continue;
                }
                open.push(*user);
                let rule = self.rules.get(*user);
                paths.extend(rule.and_then(|rule| document(tree, *rule)));
                if paths.len() > limits::TYPE_DEPENDENTS {
                    return None;
                }
            }
        }
        Some(paths)
    }

    /// All rules that need one of some rules, through whatever others.
    pub fn users_of(&self, of: &[RuleId]) -> HashSet<RuleId> {
        if of.is_empty() {
            return HashSet::new();
        }
        let mut reached = HashSet::new();
        let users = self.users.get_or_init(|| self.reversed());
        let starts = of
            .iter()
            .filter_map(|rule| self.rules.binary_search(rule).ok());
        let mut open: Vec<usize> = starts.collect();
        while let Some(vertex) = open.pop() {
            let users = users.get(vertex).into_iter().flatten();
            open.extend(users.copied().filter(|user| reached.insert(*user)));
        }
        reached
            .into_iter()
            .filter_map(|vertex| self.rules.get(vertex).copied())
            .collect()
    }

    fn reversed(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.needs.len()];
        for (user, needs) in self.needs.iter().enumerate() {
            for need in needs {
                users.item_mut(*need).push(user);
            }
        }
        users
    }
}

/// The path of the document that a rule contributes to.
pub fn document(tree: &RuleTree, rule: RuleId) -> Option<Vec<Value>> {
    let steps = tree.path(tree.home(rule)?);
    let data = Value::string("data");
    Some(std::iter::once(&data).chain(steps).cloned().collect())
}
