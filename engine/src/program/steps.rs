//! Hash table of a tree's edges: one package may have many rules, and each reference to one looks it up.

use hashbrown::HashTable;

use crate::value::ValueRef;
use crate::value::order::hash;

/// The steps of a tree whose nodes are numbered.
#[derive(Clone, Debug, Default)]
pub struct Steps(HashTable<SearchStep>);

#[derive(Clone, Copy, Debug)]
struct SearchStep {
    hash: u64,
    from: u32,
    to: u32,
}

impl Steps {
    fn hash(from: u32, key: ValueRef<'_>) -> u64 {
        hash(key) ^ u64::from(from).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the child of a node, or `None`. `has_key` tests the key of a candidate.
    pub fn find(&self, from: u32, key: ValueRef<'_>, has_key: impl Fn(u32) -> bool) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let found = self.0.find(Self::hash(from, key), |step| {
            step.from == from && has_key(step.to)
        });
        found.map(|step| step.to)
    }

    /// Returns the child of a node; adds an edge to `to` if there is none.
    pub fn find_or_add(
        &mut self,
        from: u32,
        key: ValueRef<'_>,
        to: u32,
        has_key: impl Fn(u32) -> bool,
    ) -> u32 {
        let hash = Self::hash(from, key);
        let is_it = |step: &SearchStep| step.from == from && has_key(step.to);
        let entry = self.0.entry(hash, is_it, |step| step.hash);
        entry.or_insert(SearchStep { hash, from, to }).get().to
    }

    /// Adds an edge, of which only the hash of the key is stored. The edge must not exist yet, which is not checked. Amortized O(1).
    pub fn add(&mut self, from: u32, key: ValueRef<'_>, to: u32) {
        let hash = Self::hash(from, key);
        let step = SearchStep { hash, from, to };
        self.0.insert_unique(hash, step, |step| step.hash);
    }

    /// Removes the edge between two nodes. Returns `false` if there is none.
    pub fn remove(&mut self, from: u32, key: ValueRef<'_>, to: u32) -> bool {
        let is_it = |step: &SearchStep| step.from == from && step.to == to;
        let entry = self.0.find_entry(Self::hash(from, key), is_it);
        entry.map(|entry| entry.remove()).is_ok()
    }

    /// Reserves capacity for `count` additional edges.
    pub fn reserve(&mut self, count: usize) {
        self.0.reserve(count, |step| step.hash);
    }
}
