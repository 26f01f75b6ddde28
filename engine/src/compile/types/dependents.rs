//! Reverse dependencies of rules: the documents that may change if `with` replaces a rule.

use hashbrown::HashSet;
use std::sync::{Arc, OnceLock};

use crate::compile::graph::{Graph, OutEdges};
use crate::compile::rule_tree::{RuleTree, TreeRuleId};
use crate::index::Indexed as _;
use crate::limits;
use crate::value::Value;

/// Users of each rule.
#[derive(Debug, Default)]
pub struct Dependents {
    /// Rules in the order of their vertices.
    rules: Vec<TreeRuleId>,
    needs: Arc<Vec<OutEdges>>,
    /// Users of each vertex, computed on demand: most programs replace nothing.
    users: OnceLock<Vec<Vec<usize>>>,
}

impl Dependents {
    /// Creates the reverse dependencies of a graph.
    pub fn new(graph: &Graph) -> Self {
        let vertices = graph.vertices();
        Self {
            rules: vertices.map_while(|vertex| graph.rule(vertex)).collect(),
            needs: graph.edges(),
            users: OnceLock::new(),
        }
    }

    /// Returns the paths of the documents that depend on one of some rules; `None` if there are too many.
    pub fn paths(&self, tree: &RuleTree, rules: &[TreeRuleId]) -> Option<Vec<Vec<Value>>> {
        let users = self.users.get_or_init(|| self.reverse());
        let starts = rules
            .iter()
            .filter_map(|rule| self.rules.binary_search(rule).ok());
        let mut open: Vec<usize> = starts.collect();
        let mut visited = HashSet::new();
        let mut paths = Vec::new();
        while let Some(vertex) = open.pop() {
            for user in users.get(vertex).into_iter().flatten() {
                if !visited.insert(*user) {
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

    /// Returns all rules that depend on one of some rules, directly or indirectly.
    pub fn users_of(&self, rules: &[TreeRuleId]) -> HashSet<TreeRuleId> {
        if rules.is_empty() {
            return HashSet::new();
        }
        let mut visited = HashSet::new();
        let users = self.users.get_or_init(|| self.reverse());
        let starts = rules
            .iter()
            .filter_map(|rule| self.rules.binary_search(rule).ok());
        let mut open: Vec<usize> = starts.collect();
        while let Some(vertex) = open.pop() {
            let users = users.get(vertex).into_iter().flatten();
            open.extend(users.copied().filter(|user| visited.insert(*user)));
        }
        visited
            .into_iter()
            .filter_map(|vertex| self.rules.get(vertex).copied())
            .collect()
    }

    /// All rules that some rules need, through whatever others, and these rules themselves.
    pub fn needed_by(&self, rules: &[TreeRuleId]) -> HashSet<TreeRuleId> {
        let starts = rules
            .iter()
            .filter_map(|rule| self.rules.binary_search(rule).ok());
        let mut open: Vec<usize> = starts.collect();
        let mut visited: HashSet<usize> = open.iter().copied().collect();
        while let Some(vertex) = open.pop() {
            let needs = self.needs.get(vertex).into_iter().flatten();
            let needs = needs.map(|need| usize::try_from(*need).unwrap_or(usize::MAX));
            open.extend(needs.filter(|need| visited.insert(*need)));
        }
        visited
            .into_iter()
            .filter_map(|vertex| self.rules.get(vertex).copied())
            .collect()
    }

    fn reverse(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.needs.len()];
        for (user, needs) in self.needs.iter().enumerate() {
            for need in needs {
                users.item_mut(*need).push(user);
            }
        }
        users
    }
}

/// Returns the path of the document that a rule contributes to, or `None` if the tree has no such rule.
pub fn document(tree: &RuleTree, rule: TreeRuleId) -> Option<Vec<Value>> {
    let steps = tree.path(tree.home(rule)?);
    let data = Value::string("data");
    Some(std::iter::once(&data).chain(steps).cloned().collect())
}
