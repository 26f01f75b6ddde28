//! `json.filter` and `json.remove`.

use std::collections::HashMap;

use super::paths::segments;
use crate::builtins::arrays::allot;
use crate::builtins::{Call, Fault, Operands};
use crate::value::{Kind, V};

pub fn filter<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    operands.object(0)?;
    let paths = Paths::of(call, operands)?;
    keep(call, operands.at(0), &paths, Paths::ROOT)
}

pub fn remove<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    operands.object(0)?;
    let paths = Paths::of(call, operands)?;
    drop_paths(call, operands.at(0), &paths, Paths::ROOT)
}

/// Paths as a tree, its nodes in one list so that a long path nests nothing.
struct Paths<'e> {
    nodes: Vec<Node<'e>>,
}

#[derive(Default)]
struct Node<'e> {
    /// Whether a path ends here; what lies deeper does not matter then.
    whole: bool,
    next: HashMap<V<'e>, usize>,
}

impl<'e> Paths<'e> {
    const ROOT: usize = 0;

    fn of(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<Self, Fault> {
        let mut paths = Self {
            nodes: vec![Node::default()],
        };
        for path in operands.members(1, &["set", "array"])?.iter() {
            let segments = segments(call, path)?;
            allot(call, segments.len())?;
            // a path without segments leads nowhere
            if segments.is_empty()
                || path
                    .as_text()
                    .is_some_and(|text| text.as_bytes().is_empty())
            {
                continue;
            }
            let mut at = Self::ROOT;
            for segment in segments {
                at = paths.step(at, segment);
            }
            if let Some(node) = paths.nodes.get_mut(at) {
                node.whole = true;
            }
        }
        Ok(paths)
    }

    fn step(&mut self, at: usize, segment: V<'e>) -> usize {
        let new = self.nodes.len();
        let next = match self.nodes.get_mut(at) {
            Some(node) => *node.next.entry(segment).or_insert(new),
            None => new,
        };
        if next == new {
            self.nodes.push(Node::default());
        }
        next
    }

    /// The node under a key, and whether a path ends there.
    fn find(&self, at: usize, key: V<'e>) -> Option<(usize, bool)> {
        let next = *self.nodes.get(at)?.next.get(&key)?;
        Some((next, self.nodes.get(next)?.whole))
    }
}

/// The index of an element, as paths spell it.
fn index_text(index: usize) -> V<'static> {
    match crate::value::Short::new(itoa::Buffer::new().format(index).as_bytes()) {
        Some(short) => V::Short(short),
        // an index of more than 14 digits does not exist
        None => V::Null,
    }
}

/// What the paths lead to.
fn keep<'e>(
    call: &mut Call<'e>,
    value: V<'e>,
    paths: &Paths<'e>,
    at: usize,
) -> Result<V<'e>, Fault> {
    let inner = |call: &mut Call<'e>, key: V<'e>, value: V<'e>| match paths.find(at, key) {
        None => Ok(None),
        Some((_, true)) => Ok(Some(value)),
        Some((next, false)) => keep(call, value, paths, next).map(Some),
    };
    each(call, value, inner)
}

/// What the paths do not lead to.
fn drop_paths<'e>(
    call: &mut Call<'e>,
    value: V<'e>,
    paths: &Paths<'e>,
    at: usize,
) -> Result<V<'e>, Fault> {
    let inner = |call: &mut Call<'e>, key: V<'e>, value: V<'e>| match paths.find(at, key) {
        None => Ok(Some(value)),
        Some((_, true)) => Ok(None),
        Some((next, false)) => drop_paths(call, value, paths, next).map(Some),
    };
    each(call, value, inner)
}

/// A collection with each of its parts, known by its key, replaced or left out; scalars stay.
fn each<'e>(
    call: &mut Call<'e>,
    value: V<'e>,
    mut inner: impl FnMut(&mut Call<'e>, V<'e>, V<'e>) -> Result<Option<V<'e>>, Fault>,
) -> Result<V<'e>, Fault> {
    if let Some(object) = value.as_object() {
        allot(call, object.len())?;
        let mut kept = Vec::new();
        for (key, value) in object.iter() {
            kept.extend(inner(call, key, value)?.map(|value| (key, value)));
        }
        return Ok(call.arena.object_from(kept));
    }
    if let Some(array) = value.as_array() {
        allot(call, array.len())?;
        let mut kept = call.arena.list();
        for (index, value) in array.iter().enumerate() {
            kept.extend(inner(call, index_text(index), value)?);
        }
        return Ok(call.arena.array_of(kept.into_bump_slice()));
    }
    if value.kind() == Kind::Set
        && let Some(set) = value.as_set()
    {
        allot(call, set.len())?;
        let mut kept = Vec::new();
        for member in set.iter() {
            kept.extend(inner(call, member, member)?);
        }
        return Ok(call.arena.set_from(kept));
    }
    Ok(value)
}
