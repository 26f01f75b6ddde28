//! Graphs whose nodes are strings, represented by numbers.
//!
//! A key lookup costs more the larger an object is, and most edges lead to nodes that other edges lead to, too. If a
//! good part of a graph is visited, it is cheaper to look up each edge once, in memory order, and to traverse numbers.
//! The number of a node is the index of its name among the keys of the graph.

use crate::bug::{Within as _, bug};
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError, Members};
use crate::value::order::{hash, same_key};
use crate::value::{ObjectView, RefRepr, ValueRef};

/// Adjacency lists of numbered nodes, concatenated.
#[derive(Default)]
pub struct Edges {
    /// End of each node's edges in `edges`.
    ends: Vec<u32>,
    edges: Vec<u32>,
}

/// Nodes of a graph and their numbers.
pub struct Nodes<'e> {
    names: Vec<ValueRef<'e>>,
    numbers: NodeNumbers,
}

/// Numbers of nodes by name: a hash table with open addressing and linear probing, at most half full.
struct NodeNumbers {
    slots: Vec<NodeSlot>,
    /// Random hash secrets, so that the author of a graph cannot construct collisions.
    secrets: NameKey,
}

#[derive(Clone, Copy, Default)]
struct NodeSlot {
    key: NameKey,
    /// Number plus one. 0 marks a free slot.
    number_plus_one: u32,
}

/// A name in two words. Short names are identified by them.
type NameKey = (u64, u64);

/// First word of long names, and of short names that would be mistaken for it.
const LONG: u64 = u64::MAX;
const TOO_MANY_NODES: &str = "a graph of more nodes or edges than memory holds";

#[inline]
fn key(name: ValueRef<'_>) -> NameKey {
    match name {
        ValueRef(RefRepr::Short(short)) if short.as_u64_pair().0 != LONG => short.as_u64_pair(),
        _ => (LONG, hash(name)),
    }
}

impl NodeNumbers {
    fn new(count: usize) -> Self {
        Self {
            slots: vec![NodeSlot::default(); (2 * count).next_power_of_two()],
            secrets: (
                hash(ValueRef(RefRepr::Int(0))),
                hash(ValueRef(RefRepr::Int(1))),
            ),
        }
    }

    /// Returns the number of a name, or the free slot for it.
    #[inline]
    fn find(&self, names: &[ValueRef<'_>], name: ValueRef<'_>) -> Result<u32, (usize, NameKey)> {
        let key = key(name);
        let product = u128::from(key.0 ^ self.secrets.0) * u128::from(key.1 ^ self.secrets.1);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
        let hash = (product as u64 ^ (product >> 64) as u64) as usize;
        let mask = self.slots.len() - 1;
        let mut index = hash & mask;
        while let Some(slot) = self.slots.get(index) {
            let Some(number) = slot.number_plus_one.checked_sub(1) else {
                break;
            };
            let is_same = |name| {
                let other = names.get(number as usize);
                other.is_some_and(|other| same_key(*other, name))
            };
            if slot.key == key && (key.0 != LONG || is_same(name)) {
                return Ok(number);
            }
            index = (index + 1) & mask;
        }
        Err((index, key))
    }
}

/// Number of keys up to which a search in an object is fast.
const SMALL: usize = 32;

/// Fraction of the nodes (one in so many) that must be visited before numbering all of them pays off.
const PART: usize = 8;

/// Returns `true` if so many nodes were visited that numbering all of them pays off.
#[inline]
pub fn are_worth_it(graph: ObjectView<'_>, visited: usize) -> bool {
    let length = graph.len();
    length > SMALL && visited * PART > length && u32::try_from(length).is_ok()
}

impl<'e> Nodes<'e> {
    /// Numbers the nodes. Returns `None` if one is not a string: equal nodes may then have several spellings, and the
    /// spelling of the first occurrence counts.
    pub fn new(
        call: &mut BuiltinContext<'e>,
        graph: ObjectView<'e>,
    ) -> Result<Option<Self>, BuiltinError> {
        let length = graph.len();
        allot(call, length)?;
        call.budget.reserve(length.saturating_mul(128))?;
        let mut nodes = Self {
            names: Vec::with_capacity(length),
            numbers: NodeNumbers::new(length),
        };
        for (name, _) in graph.iter() {
            if !name.is_string() {
                return Ok(None);
            }
            if let Err((index, key)) = nodes.numbers.find(&nodes.names, name)
                && let Some(slot) = nodes.numbers.slots.get_mut(index)
            {
                // the graph has fewer than 2^32 nodes
                let number_plus_one =
                    u32::try_from(nodes.names.len() + 1).unwrap_or_else(|_| bug!(TOO_MANY_NODES));
                *slot = NodeSlot {
                    key,
                    number_plus_one,
                };
            }
            nodes.names.push(name);
        }
        Ok(Some(nodes))
    }

    /// Returns the edges between the nodes. Edges to values that are not nodes are omitted.
    pub fn edges(
        &self,
        call: &mut BuiltinContext<'e>,
        graph: ObjectView<'e>,
    ) -> Result<Edges, BuiltinError> {
        let mut all = Edges {
            ends: Vec::with_capacity(graph.len()),
            edges: Vec::new(),
        };
        for (_, edges) in graph.iter() {
            if let Some(edges) = Members::from_value(edges) {
                allot(call, edges.len())?;
                let numbers = edges.iter_unordered().filter_map(|node| self.number(node));
                all.edges.extend(numbers);
            }
            // more edges than that would exceed any memory
            let end = u32::try_from(all.edges.len()).unwrap_or_else(|_| bug!(TOO_MANY_NODES));
            all.ends.push(end);
        }
        Ok(all)
    }

    /// Returns the number of a node, its position among the keys of the graph. `None` for a node that is not a key.
    #[inline]
    pub fn number(&self, node: ValueRef<'_>) -> Option<u32> {
        self.numbers.find(&self.names, node).ok()
    }
}

impl Edges {
    /// Returns an empty list with the given capacity.
    #[cfg(test)]
    pub fn with_capacity(edges: usize) -> Self {
        Self {
            ends: Vec::new(),
            edges: Vec::with_capacity(edges),
        }
    }

    /// Returns the allocated memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<u32>() * (self.ends.capacity() + self.edges.capacity())
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        let end = |end_index: usize| self.ends.get(end_index).map_or(0, |end| *end as usize);
        let node_index = node as usize;
        let start = node_index.checked_sub(1).map_or(0, end);
        self.edges.within(start..end(node_index))
    }

    /// Returns the names in `graph` of the visited nodes, of the pending nodes, and of all nodes reachable from these.
    pub fn reachable<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        graph: ObjectView<'e>,
        reached: impl Iterator<Item = u32>,
        open: impl Iterator<Item = u32>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let mut visited = vec![false; self.ends.len()];
        let mut count = 0;
        let mut visit = |node: u32| {
            let new = visited
                .get_mut(node as usize)
                .is_some_and(|visited| !std::mem::replace(visited, true));
            count += usize::from(new);
            new
        };
        reached.for_each(|node| {
            visit(node);
        });
        let mut queue: Vec<u32> = open.filter(|node| visit(*node)).collect();
        while let Some(node) = queue.pop() {
            let edges = self.edges_of(node);
            call.budget.spend_len(edges.len())?;
            queue.extend(edges.iter().filter(|node| visit(**node)));
        }
        allot(call, count)?;
        let arena = call.arena;
        let mut all = bumpalo::collections::Vec::with_capacity_in(count, arena.bump());
        let mut visited = visited.into_iter();
        graph.iter().for_each(|(name, _)| {
            if visited.next() == Some(true) {
                all.push(name);
            }
        });
        // in the order of the keys, which is the order of the set
        Ok(arena.sorted_set(all.into_bump_slice()))
    }
}
