//! Cache of numbered graphs across evaluations.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;

use super::numbered::Edges;
use crate::limits::{CACHED_GRAPHS, CACHED_GRAPHS_BYTES};
use crate::value::object::{Chunked, Object, ObjectRepr};

/// Number of initial nodes up to which each is searched among the keys of a graph.
pub const FEW: usize = 16;

/// Edges of stored graphs, most recently used last.
///
/// A graph is identified by its address. A weak reference keeps the address from being reused, so a graph that is
/// replaced is dropped from the cache. Graphs of a few nodes are not cached.
#[derive(Default)]
pub struct Graphs {
    cached: ArcSwap<Vec<CachedGraph>>,
}

#[derive(Clone)]
struct CachedGraph {
    graph: Weak<Chunked>,
    edges: Arc<Edges>,
}

impl Graphs {
    /// Returns the cached edges of a graph, or `None`. The cache compares addresses of graphs, so it does not find an equal
    /// copy.
    pub fn get(&self, graph: &Object) -> Option<Arc<Edges>> {
        let ObjectRepr::Chunked(graph) = graph.repr() else {
            return None;
        };
        let cached_graphs = self.cached.load();
        let is_it = |cached: &&CachedGraph| cached.graph.as_ptr() == Arc::as_ptr(graph);
        cached_graphs
            .iter()
            .find(is_it)
            .map(|cached| cached.edges.clone())
    }

    /// Adds the edges of a graph. Evicts replaced graphs, and the oldest if the limits are exceeded.
    pub fn keep(&self, graph: &Object, edges: &Arc<Edges>) {
        let ObjectRepr::Chunked(graph) = graph.repr() else {
            return;
        };
        self.cached.rcu(|cached_graphs| {
            let other_graphs = cached_graphs.iter().filter(|cached| {
                cached.graph.strong_count() > 0 && cached.graph.as_ptr() != Arc::as_ptr(graph)
            });
            let new = CachedGraph {
                graph: Arc::downgrade(graph),
                edges: edges.clone(),
            };
            let mut all: Vec<CachedGraph> = other_graphs.cloned().chain([new]).collect();
            let mut bytes = 0;
            let fit = all.iter().rev().take(CACHED_GRAPHS).take_while(|cached| {
                bytes += cached.edges.bytes();
                bytes <= CACHED_GRAPHS_BYTES
            });
            let fit = fit.count();
            all.drain(..all.len() - fit);
            all
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Repr, Value};

    fn graph() -> Object {
        let nodes = (0..100).map(|node| (Value(Repr::Int(node)), Value(Repr::Null)));
        Object::from_sorted(nodes.collect())
    }

    #[test]
    fn graphs_are_cached_while_the_store_holds_them() {
        let graphs = Graphs::default();
        let (object, edges) = (graph(), Arc::new(Edges::default()));
        assert!(graphs.get(&object).is_none());
        graphs.keep(&object, &edges);
        assert!(
            graphs
                .get(&object)
                .is_some_and(|kept| Arc::ptr_eq(&kept, &edges))
        );
        drop(object);
        graphs.keep(&graph(), &edges);
        assert_eq!(graphs.cached.load().len(), 1);
    }

    #[test]
    fn the_number_of_cached_graphs_is_limited() {
        let graphs = Graphs::default();
        let all: Vec<_> = (0..=CACHED_GRAPHS).map(|_| graph()).collect();
        for object in &all {
            graphs.keep(object, &Arc::new(Edges::default()));
        }
        let is_cached: Vec<_> = all
            .iter()
            .map(|object| graphs.get(object).is_some())
            .collect();
        assert_eq!(
            is_cached.iter().filter(|is_cached| **is_cached).count(),
            CACHED_GRAPHS
        );
        assert!(!is_cached[0]);
    }

    #[test]
    fn the_bytes_of_cached_graphs_are_limited() {
        let graphs = Graphs::default();
        let (small, large) = (graph(), graph());
        let half = |bytes| Arc::new(Edges::with_capacity(CACHED_GRAPHS_BYTES / 8 + bytes));
        graphs.keep(&small, &half(0));
        graphs.keep(&large, &half(0));
        assert!(graphs.get(&small).is_some() && graphs.get(&large).is_some());
        graphs.keep(&large, &half(1));
        assert!(graphs.get(&small).is_none() && graphs.get(&large).is_some());
    }
}
