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
    /// Returns the edges of a graph.
    pub fn get(&self, graph: &Object) -> Option<Arc<Edges>> {
        let ObjectRepr::Chunked(graph) = graph.repr() else {
            return None;
        };
        let kept = self.cached.load();
        let is_it = |one: &&CachedGraph| one.graph.as_ptr() == Arc::as_ptr(graph);
        kept.iter().find(is_it).map(|one| one.edges.clone())
    }

    /// Adds the edges of a graph. Evicts replaced graphs, and the oldest if the limits are exceeded.
    pub fn keep(&self, graph: &Object, edges: &Arc<Edges>) {
        let ObjectRepr::Chunked(graph) = graph.repr() else {
            return;
        };
        self.cached.rcu(|kept| {
            let others = kept.iter().filter(|one| {
                one.graph.strong_count() > 0 && one.graph.as_ptr() != Arc::as_ptr(graph)
            });
            let new = CachedGraph {
                graph: Arc::downgrade(graph),
                edges: edges.clone(),
            };
            let mut all: Vec<CachedGraph> = others.cloned().chain([new]).collect();
            let mut bytes = 0;
            let fit = all.iter().rev().take(CACHED_GRAPHS).take_while(|one| {
                bytes += one.edges.bytes();
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
        let (one, edges) = (graph(), Arc::new(Edges::default()));
        assert!(graphs.get(&one).is_none());
        graphs.keep(&one, &edges);
        assert!(
            graphs
                .get(&one)
                .is_some_and(|kept| Arc::ptr_eq(&kept, &edges))
        );
        drop(one);
        graphs.keep(&graph(), &edges);
        assert_eq!(graphs.cached.load().len(), 1);
    }

    #[test]
    fn the_number_of_cached_graphs_is_limited() {
        let graphs = Graphs::default();
        let all: Vec<_> = (0..=CACHED_GRAPHS).map(|_| graph()).collect();
        for one in &all {
            graphs.keep(one, &Arc::new(Edges::default()));
        }
        let known: Vec<_> = all.iter().map(|one| graphs.get(one).is_some()).collect();
        assert_eq!(known.iter().filter(|known| **known).count(), CACHED_GRAPHS);
        assert!(!known[0]);
    }

    #[test]
    fn the_bytes_of_cached_graphs_are_limited() {
        let graphs = Graphs::default();
        let (small, large) = (graph(), graph());
        let half = |more| Arc::new(Edges::with_capacity(CACHED_GRAPHS_BYTES / 8 + more));
        graphs.keep(&small, &half(0));
        graphs.keep(&large, &half(0));
        assert!(graphs.get(&small).is_some() && graphs.get(&large).is_some());
        graphs.keep(&large, &half(1));
        assert!(graphs.get(&small).is_none() && graphs.get(&large).is_some());
    }
}
