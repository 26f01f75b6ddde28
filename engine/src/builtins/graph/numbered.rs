//! Graphs whose nodes are strings, with numbers in their place.
//!
//! An object is searched by key, which costs more the larger it is, and most edges lead where others led before. When a
//! good part of a graph is visited, it is cheaper to look each edge up once, in the order in which they lie in memory,
//! and to walk over numbers.

use crate::builtins::arrays::allot;
use crate::builtins::{Call, Fault, Members};
use crate::value::order::{hash, same_key};
use crate::value::{ObjectView, SetBuilder, V};

/// The nodes of a graph and their edges.
pub struct Nodes<'e> {
    names: Vec<V<'e>>,
    /// Where the edges of each node end among all edges.
    ends: Vec<u32>,
    edges: Vec<u32>,
    places: Places,
}

/// The numbers of nodes by their names: a table at most half full, with runs for those that collide.
struct Places {
    slots: Vec<Place>,
    /// Unknown to who writes the graph, so that nobody can make names collide.
    secrets: Key,
}

/// A name and its number.
#[derive(Clone, Copy, Default)]
struct Place {
    key: Key,
    /// The number and one; 0 is free.
    held: u32,
}

/// A name in two words. Short ones are told apart by them.
type Key = (u64, u64);

/// The first word of names that are not short, and of short ones that look like it.
const LONG: u64 = u64::MAX;

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a few instructions for each edge, which a call would double"
)]
fn key(name: V<'_>) -> Key {
    match name {
        V::Short(short) if short.words().0 != LONG => short.words(),
        _ => (LONG, hash(name)),
    }
}

impl Places {
    fn new(count: usize) -> Self {
        Self {
            slots: vec![Place::default(); (2 * count).next_power_of_two()],
            secrets: (hash(V::Int(0)), hash(V::Int(1))),
        }
    }

    /// The number of a name, or the free place where it would stand.
    #[inline]
    fn find(&self, names: &[V<'_>], name: V<'_>) -> Result<u32, (usize, Key)> {
        let key = key(name);
        let product = u128::from(key.0 ^ self.secrets.0) * u128::from(key.1 ^ self.secrets.1);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
        let hash = (product as u64 ^ (product >> 64) as u64) as usize;
        let mask = self.slots.len() - 1;
        let mut at = hash & mask;
        while let Some(place) = self.slots.get(at) {
            let Some(number) = place.held.checked_sub(1) else {
                break;
            };
            let same = |name| {
                let held = names.get(number as usize);
                held.is_some_and(|held| same_key(*held, name))
            };
            if place.key == key && (key.0 != LONG || same(name)) {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
        Err((at, key))
    }
}

impl<'e> Nodes<'e> {
    /// Objects among whose keys a search is quick.
    const SMALL: usize = 32;

    /// Nodes that were visited, of how many, are worth numbers for all.
    const PART: usize = 8;

    /// Whether so many of a graph's nodes were visited that all of them are worth a number.
    #[inline]
    pub fn are_worth_it(graph: ObjectView<'e>, visited: usize) -> bool {
        let length = graph.len();
        length > Self::SMALL && visited * Self::PART > length && u32::try_from(length).is_ok()
    }

    /// Numbers the nodes; `None` when one is no string: equal ones may be spelled in several ways then, and how they are
    /// spelled where they were met first counts.
    pub fn new(call: &mut Call<'e>, graph: ObjectView<'e>) -> Result<Option<Self>, Fault> {
        let length = graph.len();
        allot(call, length)?;
        call.budget.reserve(length.saturating_mul(128))?;
        let mut nodes = Self {
            names: Vec::with_capacity(length),
            ends: Vec::with_capacity(length),
            edges: Vec::new(),
            places: Places::new(length),
        };
        for (name, _) in graph.iter() {
            if !name.is_string() {
                return Ok(None);
            }
            if let Err((at, key)) = nodes.places.find(&nodes.names, name)
                && let Some(place) = nodes.places.slots.get_mut(at)
            {
                // the graph has fewer than 2^32 nodes
                let held = u32::try_from(nodes.names.len() + 1).unwrap_or(0);
                *place = Place { key, held };
            }
            nodes.names.push(name);
        }
        for (_, edges) in graph.iter() {
            nodes.add_edges(call, edges)?;
        }
        Ok(Some(nodes))
    }

    fn add_edges(&mut self, call: &mut Call<'e>, edges: V<'e>) -> Result<(), Fault> {
        if let Some(edges) = Members::of(edges) {
            allot(call, edges.len())?;
            for node in edges.iter_unordered() {
                if let Some(number) = self.number(node) {
                    self.edges.push(number);
                }
            }
        }
        // more edges than that take more memory than there is
        self.ends
            .push(u32::try_from(self.edges.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    #[inline]
    fn number(&self, node: V<'_>) -> Option<u32> {
        self.places.find(&self.names, node).ok()
    }

    fn edges(&self, node: u32) -> &[u32] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let at = node as usize;
        let start = at.checked_sub(1).map_or(0, end);
        self.edges.get(start..end(at)).unwrap_or_default()
    }

    /// The nodes that were found, those that are still to be visited, and all that these lead to.
    pub fn reachable(
        &self,
        call: &mut Call<'e>,
        found: &[V<'e>],
        queue: &[V<'e>],
    ) -> Result<V<'e>, Fault> {
        let mut visited = vec![false; self.names.len()];
        for node in found.iter().filter_map(|node| self.number(*node)) {
            if let Some(visited) = visited.get_mut(node as usize) {
                *visited = true;
            }
        }
        let mut queue: Vec<u32> = queue.iter().filter_map(|node| self.number(*node)).collect();
        while let Some(node) = queue.pop() {
            match visited.get_mut(node as usize) {
                Some(visited) if !*visited => *visited = true,
                _ => continue,
            }
            let edges = self.edges(node);
            call.budget.spend_len(edges.len())?;
            queue.extend_from_slice(edges);
        }
        let count = visited.iter().filter(|visited| **visited).count();
        allot(call, count)?;
        // in the order of the keys, which is the order of the set
        let mut all = SetBuilder::with_capacity(call.arena, count);
        for (name, _) in self
            .names
            .iter()
            .zip(visited)
            .filter(|(_, visited)| *visited)
        {
            all.append(*name, hash(*name));
        }
        Ok(all.finish())
    }
}
