//! `json.filter` and `json.remove`. Both select by a tree of paths.

use hashbrown::HashTable;
use smallvec::SmallVec;
use solon_syntax::stack;

use super::paths::segments;
use crate::bug::Within;
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::index::Indexed as _;
use crate::value::order::hash;
use crate::value::{Kind, RefRepr, SetBuilder, ValueRef};

pub fn filter<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    operands.object(0)?;
    let paths = Paths::from_operands(call, operands)?;
    keep(call, operands.operand(0), &paths, Paths::ROOT)
}

pub fn remove<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    operands.object(0)?;
    let paths = Paths::from_operands(call, operands)?;
    drop_paths(call, operands.operand(0), &paths, Paths::ROOT)
}

/// Paths as a tree. Its nodes are in one list, so that long paths need no recursion.
struct Paths<'e> {
    /// For each node except the root, in the order of their numbers, the step that leads to it.
    steps: SmallVec<[FilterStep<'e>; 16]>,
    /// Steps by parent and key, if there are many.
    step_index: Option<HashTable<u32>>,
}

struct FilterStep<'e> {
    from: usize,
    key: ValueRef<'e>,
    /// `true` if a path ends after it. Longer paths through it have no effect.
    whole: bool,
}

impl<'e> Paths<'e> {
    const ROOT: usize = 0;

    /// Number of steps up to which a scan is faster than a table.
    const SCANNED: usize = 16;

    fn from_operands(
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<Self, BuiltinError> {
        let mut paths = Self {
            steps: SmallVec::new(),
            step_index: None,
        };
        for path in operands.members(1, &["set", "array"])?.iter() {
            let segments = segments(call, path)?;
            allot(call, segments.len())?;
            // a path without segments has no effect
            if segments.is_empty()
                || path
                    .as_text()
                    .is_some_and(|text| text.as_bytes().is_empty())
            {
                continue;
            }
            let mut node = Self::ROOT;
            for segment in segments {
                node = match paths.next(node, segment) {
                    Some(next) => next,
                    None => paths.add(node, segment),
                };
            }
            paths.steps.item_mut(node.wrapping_sub(1)).whole = true;
        }
        Ok(paths)
    }

    fn hash(from: usize, key: ValueRef<'_>) -> u64 {
        hash(key) ^ (from as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn add(&mut self, from: usize, key: ValueRef<'e>) -> usize {
        self.steps.push(FilterStep {
            from,
            key,
            whole: false,
        });
        if self.steps.len() > Self::SCANNED {
            let Self { steps, step_index } = self;
            let rehash = |index: &u32| {
                let step = steps.get(*index as usize);
                step.map_or(0, |step| Self::hash(step.from, step.key))
            };
            let indexed = step_index.as_ref().map_or(0, HashTable::len);
            let step_index = step_index.get_or_insert_default();
            // usually there is only one, so the earlier ones must not be scanned
            let new = steps.within(indexed..);
            for (index, step) in (indexed..).zip(new) {
                let Ok(number) = u32::try_from(index) else {
                    break;
                };
                step_index.insert_unique(Self::hash(step.from, step.key), number, rehash);
            }
        }
        self.steps.len()
    }

    /// Returns the child node for a key, or `None` if no path has it.
    #[inline]
    fn next(&self, from: usize, key: ValueRef<'e>) -> Option<usize> {
        let leads = |step: &FilterStep<'_>| step.from == from && step.key == key;
        let Some(places) = &self.step_index else {
            return Some(1 + self.steps.iter().position(leads)?);
        };
        let index = places.find(Self::hash(from, key), |index| {
            self.steps.get(*index as usize).is_some_and(leads)
        })?;
        Some(1 + *index as usize)
    }

    /// Returns the child node for a key, and whether a path ends there.
    #[inline]
    fn find(&self, node: usize, key: ValueRef<'e>) -> Option<(usize, bool)> {
        let next = self.next(node, key)?;
        Some((next, self.steps.get(next - 1)?.whole))
    }
}

/// Returns the index of an element, as paths spell it.
fn index_text(index: usize) -> ValueRef<'static> {
    match crate::value::Short::new(itoa::Buffer::new().format(index).as_bytes()) {
        Some(short) => ValueRef(RefRepr::Short(short)),
        // arrays with indexes of more than 14 digits do not exist
        None => ValueRef(RefRepr::Null),
    }
}

/// Returns the parts of a value that the paths select.
fn keep<'e>(
    call: &mut BuiltinContext<'e>,
    value: ValueRef<'e>,
    paths: &Paths<'e>,
    node: usize,
) -> Result<ValueRef<'e>, BuiltinError> {
    let inner = |call: &mut BuiltinContext<'e>, key: ValueRef<'e>, value: ValueRef<'e>| match paths
        .find(node, key)
    {
        None => Ok(None),
        Some((_, true)) => Ok(Some(value)),
        Some((next, false)) => stack::level(|| keep(call, value, paths, next)).map(Some),
    };
    each(call, value, inner)
}

/// Returns a value without the parts that the paths select.
fn drop_paths<'e>(
    call: &mut BuiltinContext<'e>,
    value: ValueRef<'e>,
    paths: &Paths<'e>,
    node: usize,
) -> Result<ValueRef<'e>, BuiltinError> {
    let inner = |call: &mut BuiltinContext<'e>, key: ValueRef<'e>, value: ValueRef<'e>| match paths
        .find(node, key)
    {
        None => Ok(Some(value)),
        Some((_, true)) => Ok(None),
        Some((next, false)) => stack::level(|| drop_paths(call, value, paths, next)).map(Some),
    };
    each(call, value, inner)
}

/// Returns a collection with each child, identified by its key, replaced or removed. Scalars are returned unchanged.
pub fn each<'e>(
    call: &mut BuiltinContext<'e>,
    value: ValueRef<'e>,
    mut inner: impl FnMut(
        &mut BuiltinContext<'e>,
        ValueRef<'e>,
        ValueRef<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError>,
) -> Result<ValueRef<'e>, BuiltinError> {
    if let Some(object) = value.as_object() {
        allot(call, object.len())?;
        let list = || bumpalo::collections::Vec::new_in(call.arena.bump());
        let (mut keys, mut values) = (list(), list());
        for (key, value) in object.iter() {
            if let Some(value) = inner(call, key, value)? {
                keys.push(key);
                values.push(value);
            }
        }
        let (keys, values) = (keys.into_bump_slice(), values.into_bump_slice());
        return Ok(call.arena.sorted_object(keys, values));
    }
    if let Some(array) = value.as_array() {
        allot(call, array.len())?;
        let mut items = call.arena.list();
        for (index, value) in array.iter().enumerate() {
            items.extend(inner(call, index_text(index), value)?);
        }
        return Ok(call.arena.array_of(items.into_bump_slice()));
    }
    if value.kind() == Kind::Set
        && let Some(set) = value.as_set()
    {
        allot(call, set.len())?;
        let mut members = SetBuilder::new(call.arena);
        for member in set.iter() {
            if let Some(member) = inner(call, member, member)? {
                members.insert(member);
            }
        }
        return Ok(members.finish());
    }
    Ok(value)
}
