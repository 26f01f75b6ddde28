//! The rules that depend on paths, transitively.

use hashbrown::HashSet;

use super::{PathNodeId, ReadIndex, ReadLocation};
use crate::index::Indexed as _;
use crate::program::{RuleId, RuleSubset};

/// Search for the rules that depend on paths.
pub(super) struct ReaderSearch<'i> {
    index: &'i ReadIndex,
    found: HashSet<RuleId>,
    /// Found rules whose dependents are not searched yet.
    open: Vec<RuleId>,
    /// Nodes whose readers, and those of their prefixes, were found.
    prefixes: HashSet<PathNodeId>,
    /// Nodes whose subtree was searched, so that each is searched once.
    subtrees: HashSet<PathNodeId>,
}

impl<'i> ReaderSearch<'i> {
    pub(super) fn new(index: &'i ReadIndex) -> Self {
        Self {
            index,
            found: HashSet::new(),
            open: Vec::new(),
            prefixes: HashSet::new(),
            subtrees: HashSet::new(),
        }
    }

    pub(super) fn add(&mut self, rule: RuleId) {
        if self.found.insert(rule) {
            self.open.push(rule);
        }
    }

    /// Adds the rules that read a path, a prefix of it, or, if the whole path is in the tree, something below it.
    pub(super) fn enter(&mut self, location: ReadLocation) {
        let index = self.index;
        let mut next = location.node;
        while let Some(node) = index.nodes.get(next as usize)
            && self.prefixes.insert(next)
        {
            self.add_readers(next);
            next = node.parent;
        }
        if !location.is_exact {
            return;
        }
        let mut open = vec![location.node];
        while let Some(id) = open.pop() {
            if !self.subtrees.insert(id) {
                continue;
            }
            self.add_readers(id);
            let mut child = index.nodes.item(id).first_child;
            while let Some(node) = index.nodes.get(child as usize) {
                open.push(child);
                child = node.next_sibling;
            }
        }
    }

    fn add_readers(&mut self, node: PathNodeId) {
        for rule in self.index.readers_at(node) {
            self.add(*rule);
        }
    }

    /// Adds the dependents of all found rules, and returns the result.
    pub(super) fn finish(mut self) -> RuleSubset {
        while let Some(rule) = self.open.pop() {
            if let Some(location) = *self.index.rules.item(rule) {
                self.enter(location);
            }
        }
        RuleSubset::new(self.found.into_iter().collect(), self.index.rules.len())
    }
}
