//! Index of the documents and functions that rules read. It answers which rules depend on something that `with`
//! replaces; results of all other rules stay valid.
//!
//! The index is a radix tree of read paths. A rule that reads `data.a.b` depends on replacements of `data.a`, of
//! `data.a.b` and of everything below it, and on each rule at one of these paths, and so on transitively. A path ends
//! at its first step that is not a constant string, so `data.a[x].b` reads all of `data.a`: base documents have string
//! keys where a reference has numbers. The index may thus report a rule that does not depend on a document, but never
//! omits one that does.
//!
//! It is built from the canonical bodies, because plans of rules also contain what was inlined or fused. Building it
//! takes time linear in the size of the policy, once for each program, when the first `with` needs it. The dependents
//! of a path are computed on first use, in time linear in the references to them.

mod builder;
mod scan;
mod search;

use std::sync::{Arc, OnceLock};

use hashbrown::{Equivalent, HashMap};

use self::builder::Builder;
use self::search::ReaderSearch;
use super::rule_subset::RuleSubset;
use super::{Program, RuleId};
use crate::builtins::PRINT_EACH;
use crate::index::Indexed as _;

type PathNodeId = u32;

/// Absent parent, child or sibling.
const NONE: PathNodeId = PathNodeId::MAX;

/// Document or function from which a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadRoot {
    /// `input`
    Input,
    /// `data`
    Data,
    /// The names of built-ins and functions of the host; each segment is a step.
    Function,
}

impl ReadRoot {
    /// All roots, in the order of their nodes.
    const ALL: [Self; 3] = [Self::Input, Self::Data, Self::Function];

    /// Returns the root of a reference that starts with a variable.
    fn of_variable(name: &str) -> Option<Self> {
        match name {
            "input" => Some(Self::Input),
            "data" => Some(Self::Data),
            _ => None,
        }
    }

    fn node(self) -> PathNodeId {
        match self {
            Self::Input => 0,
            Self::Data => 1,
            Self::Function => 2,
        }
    }
}

/// See the module's documentation.
pub struct ReadIndex {
    nodes: Vec<PathNode>,
    children: HashMap<Edge, PathNodeId>,
    /// Readers of all paths, ordered by path.
    readers: Vec<RuleId>,
    /// ReadLocation of each rule set's own path; `None` for unused ids.
    rules: Vec<Option<ReadLocation>>,
    repeated: RuleSubset,
}

/// A path that rules read, or a prefix of one.
struct PathNode {
    parent: PathNodeId,
    first_child: PathNodeId,
    next_sibling: PathNodeId,
    /// Start of its readers in `readers`.
    readers: u32,
    /// Dependents of the path and everything below it.
    dependents: OnceLock<Box<RuleSubset>>,
    /// Dependents of paths below it that no rule reads, computed on first use.
    dependents_beyond: OnceLock<Box<RuleSubset>>,
}

#[derive(Hash, PartialEq, Eq)]
struct Edge {
    from: PathNodeId,
    key: Arc<str>,
}

/// Borrowed form of [`Edge`], with the same hash.
#[derive(Hash)]
struct EdgeKey<'k> {
    from: PathNodeId,
    key: &'k str,
}

impl Equivalent<Edge> for EdgeKey<'_> {
    fn equivalent(&self, edge: &Edge) -> bool {
        self.from == edge.from && *self.key == *edge.key
    }
}

/// Location of a path in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReadLocation {
    /// Deepest node that is on the path.
    node: PathNodeId,
    /// `true` if the node is the whole path. Otherwise no rule reads the path or anything below it.
    is_exact: bool,
}

impl ReadIndex {
    /// Builds the index of a program. Visits every canonical body once.
    pub fn new(program: &Program) -> Self {
        let mut builder = Builder::new(program.rules.len());
        for node in &program.tree.nodes {
            if let Some(rule) = node.rule {
                builder.add_rule(rule);
            }
        }
        scan::modules(program, &mut builder);
        let paths = (0..).zip(&program.rules);
        let paths = paths.map(|(rule, set)| (rule, set.path.iter().map_while(|key| key.as_str())));
        let repeated = program
            .functions
            .iter()
            .filter(|function| !function.memoise);
        let repeated = repeated.map(|function| &*function.name);
        builder.finish(paths, repeated.chain([PRINT_EACH]))
    }

    /// Returns the rules whose results depend on the document or function at a path, or on a part of it.
    pub fn dependents<'p>(
        &self,
        root: ReadRoot,
        path: impl IntoIterator<Item = &'p str>,
    ) -> &RuleSubset {
        let location = self.locate(root, path);
        let node = self.nodes.item(location.node);
        let cell = if location.is_exact {
            &node.dependents
        } else {
            &node.dependents_beyond
        };
        cell.get_or_init(|| {
            let mut search = ReaderSearch::new(self);
            search.enter(location);
            Box::new(search.finish())
        })
    }

    /// Returns the rules whose evaluation is observable, so that their results are not shared between scopes: those that
    /// print, or call functions of the host that are not memoised.
    pub fn repeated(&self) -> &RuleSubset {
        &self.repeated
    }

    /// Splits the name of a built-in or a function of the host into the root and the steps of its path.
    pub fn function_path(name: &str) -> (ReadRoot, impl Iterator<Item = &str>) {
        let mut steps = name.split('.').peekable();
        // a call `data.f(x)` is a reference to the document `data.f`
        let root = steps.peek().and_then(|step| ReadRoot::of_variable(step));
        if root.is_some() {
            steps.next();
        }
        (root.unwrap_or(ReadRoot::Function), steps)
    }

    fn child(&self, from: PathNodeId, key: &str) -> Option<PathNodeId> {
        self.children.get(&EdgeKey { from, key }).copied()
    }

    fn locate<'p>(&self, root: ReadRoot, path: impl IntoIterator<Item = &'p str>) -> ReadLocation {
        let mut node = root.node();
        for key in path {
            match self.child(node, key) {
                Some(child) => node = child,
                None => {
                    return ReadLocation {
                        node,
                        is_exact: false,
                    };
                }
            }
        }
        ReadLocation {
            node,
            is_exact: true,
        }
    }

    /// Returns the rules that read exactly the path of a node.
    fn readers_at(&self, node: PathNodeId) -> &[RuleId] {
        let start = self.nodes.item(node).readers as usize;
        let next = self.nodes.get(node as usize + 1);
        let end = next.map_or(self.readers.len(), |next| next.readers as usize);
        self.readers.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
