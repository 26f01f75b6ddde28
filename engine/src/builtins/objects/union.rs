//! `object.union` and `object.union_n`. Merged objects are cached by address.

use std::cmp::Ordering;

use smallvec::SmallVec;

use solon_syntax::stack;

use super::shape_merges::{self, MergeSource, MergeTemplate, MergedValues};
use crate::bug::bug;
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{
    Kind, Object, ObjectBuilder, ObjectView, ObjectViewRepr, Overlaid, RefRepr, ValueRef,
};

pub fn union<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.object(0)?, operands.object(1)?);
    if right.is_empty() {
        return Ok(operands.operand(0));
    }
    merge_again(call, left, right)
}

pub fn union_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let array = operands.array(0)?;
    let mut objects: SmallVec<[ObjectView<'e>; FEW]> = SmallVec::with_capacity(array.len());
    for element in array.iter() {
        let object = element
            .as_object()
            .ok_or_else(|| BuiltinError::element(1, Kind::Array, &["object"], element))?;
        objects.push(object);
    }
    merge_all(call, &objects)
}

/// Number of objects up to which they are merged one by one.
const FEW: usize = 6;

/// Merges objects. For each key, a value that is not an object hides all earlier ones, so only objects after the last
/// such value are merged.
fn merge_all<'e>(
    call: &mut BuiltinContext<'e>,
    objects: &[ObjectView<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    if let [first, second, rest @ ..] = objects
        && rest.len() + 2 <= FEW
    {
        let mut merged = merge_again(call, *first, *second)?;
        for object in rest {
            let Some(before) = merged.as_object() else {
                break;
            };
            merged = merge(call, before, *object)?;
        }
        return Ok(merged);
    }
    let mut positions = ObjectBuilder::new(call.arena);
    let mut merged: Vec<(ValueRef<'e>, SmallVec<[ValueRef<'e>; 2]>)> = Vec::new();
    for object in objects {
        allot(call, object.len())?;
        for (key, value) in object.iter() {
            let position = positions.get(key).and_then(|value| value.as_number());
            let merged_entry = position.and_then(|position| merged.get_mut(position.as_index()?));
            if let Some((_, values)) = merged_entry {
                values.push(value);
            } else {
                positions.put(key, call.arena.number(merged.len().into()));
                merged.push((key, SmallVec::from_slice(&[value])));
            }
        }
    }
    let mut result = ObjectBuilder::new(call.arena);
    for (key, values) in merged {
        let visible: Vec<_> = values
            .iter()
            .rev()
            .map_while(|value| value.as_object())
            .collect();
        let value = if let ([] | [_], Some(last)) = (visible.as_slice(), values.last()) {
            *last
        } else {
            let in_order: Vec<_> = visible.into_iter().rev().collect();
            stack::level(|| merge_all(call, &in_order))?
        };
        result.put(key, value);
    }
    Ok(result.finish())
}

/// Merges objects that may be in the cache, and caches the result.
#[inline]
fn merge_again<'e>(
    call: &mut BuiltinContext<'e>,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    if let Some(merged) = call.caches().merges.find(left, right) {
        return Ok(merged);
    }
    let merged = merge(call, left, right)?;
    let arena = call.arena;
    call.caches().merges.keep(arena, left, right, merged);
    Ok(merged)
}

/// Merges two values if both are objects, and otherwise returns the right one.
fn merge<'e>(
    call: &mut BuiltinContext<'e>,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    if let Some(template) = shape_merges::merged(call, left, right) {
        return fill(
            call,
            template,
            shape_merges::values(left),
            shape_merges::values(right),
        );
    }
    if let Some((base, before)) = large(left)
        && (before + right.len()) * Overlaid::SHARE <= base.len()
    {
        return overlay(call, base, left, right);
    }
    merge_pairs(call, left, right)
}

/// Returns the merged value of a key that both objects have.
#[inline]
fn merge_values<'e>(
    call: &mut BuiltinContext<'e>,
    left: ValueRef<'e>,
    right: ValueRef<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    match (left.as_object(), right.as_object()) {
        (Some(left), Some(right)) => stack::level(|| merge(call, left, right)),
        _ => Ok(right),
    }
}

fn fill<'e>(
    call: &mut BuiltinContext<'e>,
    template: &'e MergeTemplate<'e>,
    left: MergedValues<'e>,
    right: MergedValues<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let object = shape_merges::fill(call, template, |call, source, target| {
        match source {
            MergeSource::Left(slot) => left.put(slot, target),
            MergeSource::Right(slot) => right.put(slot, target),
            MergeSource::Both(slot, other) => {
                right.put(other, target);
                if matches!(
                    target,
                    ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_))
                ) {
                    *target = merge_values(call, left.get(slot), *target)?;
                }
            }
        }
        Ok(true)
    })?;
    Ok(object.unwrap_or_else(|| bug!("a form names a value that its object does not have")))
}

/// Returns the large stored object that an object is based on, and the number of pairs that differ from it.
fn large(object: ObjectView<'_>) -> Option<(&Object, usize)> {
    match object {
        ObjectView(ObjectViewRepr::Stored(object)) if object.shaped().is_none() => {
            Some((object, 0))
        }
        ObjectView(ObjectViewRepr::Stored(_)) => None,
        ObjectView(ObjectViewRepr::Arena(object)) => {
            let overlaid = object.overlaid()?;
            Some((overlaid.base(), overlaid.changes().count()))
        }
    }
}

/// Adds a few pairs to a large stored object, or to an object based on one.
fn overlay<'e>(
    call: &mut BuiltinContext<'e>,
    base: &'e Object,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut before = match left {
        ObjectView(ObjectViewRepr::Arena(object)) => object.overlaid().map(Overlaid::changes),
        ObjectView(ObjectViewRepr::Stored(_)) => None,
    }
    .into_iter()
    .flatten()
    .peekable();
    let mut keys = call.arena.list();
    let mut values = bumpalo::collections::Vec::new_in(call.arena.bump());
    allot(call, right.len())?;
    for (key, value) in right.iter() {
        while let Some((earlier, left_value)) = before.next_if(|(earlier, _)| *earlier < key) {
            keys.push(earlier);
            values.push(left_value);
        }
        let earlier = before.next_if(|(earlier, _)| *earlier == key);
        let value = match left.get(key) {
            Some(left) => merge_values(call, left, value)?,
            None => value,
        };
        keys.push(earlier.map_or(key, |(earlier, _)| earlier));
        values.push(Some(value));
    }
    for (key, value) in before {
        keys.push(key);
        values.push(value);
    }
    let (keys, values) = (keys.into_bump_slice(), values.into_bump_slice());
    Ok(call.arena.overlaid(base, keys, values))
}

/// Merges the pairs of both objects in order, so that the result is sorted, too.
fn merge_pairs<'e>(
    call: &mut BuiltinContext<'e>,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let capacity = left.len() + right.len();
    call.budget
        .reserve(capacity.saturating_mul(2 * size_of::<ValueRef<'_>>()))?;
    let list = || bumpalo::collections::Vec::with_capacity_in(capacity, call.arena.bump());
    let (mut keys, mut values) = (list(), list());
    let (mut lefts, mut rights) = (left.iter(), right.iter());
    let mut right_pair = rights.next();
    'lefts: for (key, value) in lefts.by_ref() {
        // large objects take long to build, so steps are charged one by one
        call.budget.step()?;
        while let Some((other, new)) = right_pair {
            match other.cmp(&key) {
                Ordering::Greater => break,
                Ordering::Equal => {
                    keys.push(key);
                    values.push(merge_values(call, value, new)?);
                    right_pair = rights.next();
                    continue 'lefts;
                }
                Ordering::Less => {
                    call.budget.step()?;
                    keys.push(other);
                    values.push(new);
                    right_pair = rights.next();
                }
            }
        }
        keys.push(key);
        values.push(value);
    }
    while let Some((key, value)) = right_pair {
        call.budget.step()?;
        keys.push(key);
        values.push(value);
        right_pair = rights.next();
    }
    Ok(call
        .arena
        .sorted_object(keys.into_bump_slice(), values.into_bump_slice()))
}
