//! Graphs whose nodes are strings, with numbers in their place.
//!
//! An object is searched by key, which costs more the larger it is, and most edges lead where others led before. When a
//! good part of a graph is visited, it is cheaper to look each edge up once, in the order in which they lie in memory,
//! and to walk over numbers. A node's number is the place of its name among the keys of the graph.

use crate::bug::{Within as _, bug};
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError, Members};
use crate::value::order::{hash, same_key};
use crate::value::{ObjectView, ValueRef};

/// The edges of a graph between numbered nodes.
#[derive(Default)]
pub struct Edges {
    /// Where the edges of each node end among all edges.
    ends: Vec<u32>,
    edges: Vec<u32>,
}

/// The nodes of a graph, to be found by name.
pub struct Nodes<'e> {
    names: Vec<ValueRef<'e>>,
    numbers: NodeNumbers,
}

/// The numbers of nodes by their names: a table at most half full, with runs for those that collide.
struct NodeNumbers {
    slots: Vec<NodeSlot>,
    /// Unknown to who writes the graph, so that nobody can make names collide.
    secrets: Key,
}

/// A name and its number.
#[derive(Clone, Copy, Default)]
struct NodeSlot {
    key: Key,
    /// The number and one; 0 is free.
    number_plus_one: u32,
}

/// A name in two words. Short ones are told apart by them.
type Key = (u64, u64);

/// The first word of names that are not short, and of short ones that look like it.
const LONG: u64 = u64::MAX;
const TOO_MANY_NODES: &str = "a graph of more nodes or edges than memory holds";

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a few instructions for each edge, which a call would double"
)]
fn key(name: ValueRef<'_>) -> Key {
    match name {
        ValueRef::Short(short) if short.words().0 != LONG => short.words(),
        _ => (LONG, hash(name)),
    }
}

impl NodeNumbers {
    fn new(count: usize) -> Self {
        Self {
            slots: vec![NodeSlot::default(); (2 * count).next_power_of_two()],
            secrets: (hash(ValueRef::Int(0)), hash(ValueRef::Int(1))),
        }
    }

    /// The number of a name, or the free place where it would stand.
    #[inline]
    fn find(&self, names: &[ValueRef<'_>], name: ValueRef<'_>) -> Result<u32, (usize, Key)> {
        let key = key(name);
        let product = u128::from(key.0 ^ self.secrets.0) * u128::from(key.1 ^ self.secrets.1);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
        let hash = (product as u64 ^ (product >> 64) as u64) as usize;
        let mask = self.slots.len() - 1;
        let mut at = hash & mask;
        while let Some(place) = self.slots.get(at) {
            let Some(number) = place.number_plus_one.checked_sub(1) else {
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

/// Objects among whose keys a search is quick.
const SMALL: usize = 32;

/// Nodes that were visited, of how many, are worth numbers for all.
const PART: usize = 8;

/// Whether so many of a graph's nodes were visited that all of them are worth a number.
#[inline]
pub fn are_worth_it(graph: ObjectView<'_>, visited: usize) -> bool {
    let length = graph.len();
    length > SMALL && visited * PART > length && u32::try_from(length).is_ok()
}

impl<'e> Nodes<'e> {
    /// Numbers the nodes; `None` when one is no string: equal ones may be spelled in several ways then, and how they are
    /// spelled where they were met first counts.
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
            if let Err((at, key)) = nodes.numbers.find(&nodes.names, name)
                && let Some(place) = nodes.numbers.slots.get_mut(at)
            {
                // the graph has fewer than 2^32 nodes
                let held =
                    u32::try_from(nodes.names.len() + 1).unwrap_or_else(|_| bug!(TOO_MANY_NODES));
                *place = NodeSlot {
                    key,
                    number_plus_one: held,
                };
            }
            nodes.names.push(name);
        }
        Ok(Some(nodes))
    }

    /// The edges between them.
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
                let known = edges.iter_unordered().filter_map(|node| self.number(node));
                all.edges.extend(known);
            }
            // more edges than that take more memory than there is
            let end = u32::try_from(all.edges.len()).unwrap_or_else(|_| bug!(TOO_MANY_NODES));
            all.ends.push(end);
        }
        Ok(all)
    }

    /// The number of a node, if it is one.
    #[inline]
    pub fn number(&self, node: ValueRef<'_>) -> Option<u32> {
        self.numbers.find(&self.names, node).ok()
    }
}

impl Edges {
    /// None yet, with room for so many.
    #[cfg(test)]
    pub fn with_capacity(edges: usize) -> Self {
        Self {
            ends: Vec::new(),
            edges: Vec::with_capacity(edges),
        }
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of::<u32>() * (self.ends.capacity() + self.edges.capacity())
    }

    /// Where the edges of a node lead to.
    fn behind(&self, node: u32) -> &[u32] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let at = node as usize;
        let start = at.checked_sub(1).map_or(0, end);
        self.edges.within(start..end(at))
    }

    /// The names in `graph` of the nodes that were found, those that are still to be visited, and all that these lead to.
    pub fn reachable<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        graph: ObjectView<'e>,
        found: impl Iterator<Item = u32>,
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
        found.for_each(|node| {
            visit(node);
        });
        let mut queue: Vec<u32> = open.filter(|node| visit(*node)).collect();
        while let Some(node) = queue.pop() {
            let edges = self.behind(node);
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
