//! Construction of the index: collects reads rule by rule.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use super::search::ReaderSearch;
use super::{Edge, EdgeKey, NONE, PathNode, PathNodeId, ReadIndex, ReadRoot};
use crate::index::Indexed as _;
use crate::program::{RuleId, RuleSubset};

pub(super) struct Builder {
    nodes: Vec<PathNode>,
    children: HashMap<Edge, PathNodeId>,
    reads: Vec<(PathNodeId, RuleId)>,
    rules: Vec<ReadCoverage>,
}

/// State of a rule set during construction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadCoverage {
    /// The id is not used by the program.
    Unused,
    /// No body was found.
    Unknown,
    /// Its bodies were scanned.
    Scanned,
}

impl Builder {
    pub(super) fn new(rules: usize) -> Self {
        let mut builder = Self {
            nodes: Vec::new(),
            children: HashMap::new(),
            reads: Vec::new(),
            rules: vec![ReadCoverage::Unused; rules],
        };
        for _ in ReadRoot::ALL {
            builder.add_node(NONE);
        }
        builder
    }

    pub(super) fn add_rule(&mut self, rule: RuleId) {
        *self.rules.item_mut(rule) = ReadCoverage::Unknown;
    }

    /// Records that a body of a rule set is scanned.
    pub(super) fn scan(&mut self, rule: RuleId) {
        *self.rules.item_mut(rule) = ReadCoverage::Scanned;
    }

    fn add_node(&mut self, parent: PathNodeId) -> PathNodeId {
        let id = PathNodeId::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(PathNode {
            parent,
            first_child: NONE,
            next_sibling: NONE,
            readers: 0,
            dependents: OnceLock::new(),
            dependents_beyond: OnceLock::new(),
        });
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            let sibling = std::mem::replace(&mut parent.first_child, id);
            self.nodes.item_mut(id).next_sibling = sibling;
        }
        id
    }

    /// Records that rules read a path. Nodes of the path are created.
    pub(super) fn add_read<'p>(
        &mut self,
        rules: &[RuleId],
        root: ReadRoot,
        path: impl IntoIterator<Item = &'p Arc<str>>,
    ) {
        let mut node = root.node();
        for key in path {
            let edge = EdgeKey { from: node, key };
            node = match self.children.get(&edge) {
                Some(child) => *child,
                None => {
                    let child = self.add_node(node);
                    let key = key.clone();
                    self.children.insert(Edge { from: node, key }, child);
                    child
                }
            };
        }
        self.reads.extend(rules.iter().map(|rule| (node, *rule)));
    }

    /// Builds the index from the paths of all rule sets, and the names of functions whose calls are observable.
    pub(super) fn finish<'p, P: Iterator<Item = &'p str>>(
        mut self,
        paths: impl Iterator<Item = (RuleId, P)>,
        observable: impl Iterator<Item = &'p str>,
    ) -> ReadIndex {
        self.reads.sort_unstable();
        self.reads.dedup();
        let mut next = 0;
        for (id, node) in (0..).zip(&mut self.nodes) {
            let own = self.reads.iter().skip(next as usize);
            node.readers = next;
            next += u32::try_from(own.take_while(|read| read.0 == id).count()).unwrap_or(u32::MAX);
        }
        let mut index = ReadIndex {
            nodes: self.nodes,
            children: self.children,
            readers: self.reads.into_iter().map(|(_, rule)| rule).collect(),
            rules: vec![None; self.rules.len()],
            repeated: RuleSubset::new(Vec::new(), 0),
        };
        for (rule, path) in paths {
            if *self.rules.item(rule) != ReadCoverage::Unused {
                *index.rules.item_mut(rule) = Some(index.locate(ReadRoot::Data, path));
            }
        }
        let mut search = ReaderSearch::new(&index);
        for (rule, state) in (0..).zip(&self.rules) {
            // nothing is known about what it reads
            if *state == ReadCoverage::Unknown {
                search.add(rule);
            }
        }
        for name in observable {
            let (root, path) = ReadIndex::function_path(name);
            let location = index.locate(root, path);
            if location.is_exact {
                search.enter(location);
            }
        }
        index.repeated = search.finish();
        index
    }
}
