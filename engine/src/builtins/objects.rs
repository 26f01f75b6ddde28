//! Built-ins on objects, except for `object.get` and the unions.

mod get;
pub mod merge_cache;
pub mod shape_merges;
mod union;

use smallvec::SmallVec;
use solon_syntax::stack;

use super::arrays::allot;
use super::{Builtin, BuiltinContext, BuiltinError, Operands, occurrences};
use crate::value::array::ArrayView;
use crate::value::{Kind, ObjectView, ObjectViewRepr, Overlaid, RefRepr, SetView, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "object.filter",
        "object: object[any: any], keys: any<array[any], object[any: any], set[any]> => filtered: object[any: any]",
        "The object with only the given keys.",
        filter,
    ),
    Builtin::new(
        "object.get",
        "object: object[any: any], key: any, default: any => value: any",
        "The value under a key of an object or, for an array, at a path; otherwise a default.",
        get::get,
    ).holding()
    .specialise(get::prepare),
    Builtin::new(
        "object.keys",
        "object: object[any: any] => value: set[any]",
        "The keys of an object.",
        keys,
    ).holding(),
    Builtin::new(
        "object.remove",
        "object: object[any: any], keys: any<array[any], object[any: any], set[any]> => output: object[any: any]",
        "The object without the given keys.",
        remove,
    ).holding(),
    Builtin::new(
        "object.subset",
        "super: any<array[any], object[any: any], set[any]>, sub: any<array[any], object[any: any], set[any]> => result: boolean",
        "Returns `true` if the second collection is part of the first; objects are compared recursively.",
        subset,
    ),
    Builtin::new(
        "object.union",
        "a: object[any: any], b: object[any: any] => output: object[any: any]",
        "Both objects, merged recursively. Values of the second override those of the first.",
        union::union,
    ),
    Builtin::new(
        "object.union_n",
        "objects: array[object[any: any]] => output: object[any: any]",
        "Objects, merged recursively. Values of later ones override those of earlier ones.",
        union::union_n,
    ),
];

fn keys<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let object = operands.object(0)?;
    allot(call, object.len())?;
    if let Some(keys) = shape_merges::cached_keys(call, object) {
        return Ok(call.arena.sorted_set(keys));
    }
    let mut keys = bumpalo::collections::Vec::with_capacity_in(object.len(), call.arena.bump());
    object.iter().for_each(|(key, _)| keys.push(key));
    Ok(call.arena.sorted_set(keys.into_bump_slice()))
}

fn filter<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let object = operands.object(0)?;
    if let Some(filtered) = shape_merges::selected(call, object, operands.operand(1), true)? {
        return Ok(filtered);
    }
    let keys = key_set(call, operands)?;
    if let Some(texts) = few_texts(keys, object.len()) {
        allot(call, texts.len())?;
        let pairs = texts
            .iter()
            .filter_map(|key| Some((*key, object.get(*key)?)));
        return Ok(in_order(call, pairs, texts.len()));
    }
    allot(call, object.len())?;
    let pairs = object.iter().filter(|(key, _)| keys.lookup(*key).is_some());
    Ok(in_order(call, pairs, object.len()))
}

fn remove<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let object = operands.object(0)?;
    if let Some(selected) = shape_merges::selected(call, object, operands.operand(1), false)? {
        return Ok(selected);
    }
    let keys = key_set(call, operands)?;
    if let ObjectView(ObjectViewRepr::Stored(base)) = object
        && base.shaped().is_none()
        && let Some(texts) = few_texts(keys, object.len())
    {
        allot(call, texts.len())?;
        let mut removed = call.arena.list();
        removed.extend(texts.into_iter().filter(|key| base.get(*key).is_some()));
        let no_values = call.arena.bump().alloc_slice_fill_copy(removed.len(), None);
        return Ok(call
            .arena
            .overlaid(base, removed.into_bump_slice(), no_values));
    }
    allot(call, object.len())?;
    let pairs = object.iter().filter(|(key, _)| keys.lookup(*key).is_none());
    Ok(in_order(call, pairs, object.len()))
}

/// Returns the keys of a set or an object in order, if all are strings and their number is small compared to `pairs`.
fn few_texts(keys: ValueRef<'_>, pairs: usize) -> Option<SmallVec<[ValueRef<'_>; 8]>> {
    let (set, object) = (keys.as_set(), keys.as_object());
    let len = set.map(SetView::len).or(object.map(ObjectView::len))?;
    if len.saturating_mul(Overlaid::SHARE) > pairs {
        return None;
    }
    let members = set.into_iter().flat_map(SetView::iter);
    let all = members.chain(
        object
            .into_iter()
            .flat_map(|object| object.iter().map(|(key, _)| key)),
    );
    all.map(|key| key.is_string().then_some(key)).collect()
}

/// Builds an object from at most `capacity` sorted pairs.
fn in_order<'e>(
    call: &BuiltinContext<'e>,
    pairs: impl Iterator<Item = (ValueRef<'e>, ValueRef<'e>)>,
    capacity: usize,
) -> ValueRef<'e> {
    let list = || bumpalo::collections::Vec::with_capacity_in(capacity, call.arena.bump());
    let (mut keys, mut values) = (list(), list());
    pairs.for_each(|(key, value)| {
        keys.push(key);
        values.push(value);
    });
    call.arena
        .sorted_object(keys.into_bump_slice(), values.into_bump_slice())
}

/// Converts the second operand to a collection for key lookups: an array, a set, or an object for its keys.
fn key_set<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operand = operands.operand(1);
    if let Some(array) = operand.as_array() {
        allot(call, array.len())?;
        return Ok(call.arena.set_from(array.iter()));
    }
    match operand.kind() {
        Kind::Set | Kind::Object => Ok(operand),
        _ => Err(BuiltinError::operand(
            2,
            &["object", "set", "array"],
            operand,
        )),
    }
}

fn subset<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (container, part) = (operands.operand(0), operands.operand(1));
    let is_subset = if let (Some(container), Some(part)) = (container.as_object(), part.as_object())
    {
        object_subset(call, container, part)?
    } else if let (Some(container), Some(part)) = (container.as_set(), part.as_set()) {
        set_subset(call, container, part)?
    } else if let (Some(container), Some(part)) = (container.as_array(), part.as_array()) {
        array_subset(call, container, part)?
    } else if let (Some(container), Some(part)) = (container.as_array(), part.as_set()) {
        call.budget.spend_len(container.len())?;
        array_contains_set(container, part)
    } else {
        return Err(BuiltinError::type_error(
            "both arguments object.subset must be of the same type or array and set",
        ));
    };
    Ok(ValueRef(RefRepr::Bool(is_subset)))
}

fn object_subset<'e>(
    call: &mut BuiltinContext<'e>,
    container: ObjectView<'e>,
    part: ObjectView<'e>,
) -> Result<bool, BuiltinError> {
    call.budget.spend_len(part.len())?;
    for (key, part) in part.iter() {
        let Some(value_in_container) = container.get(key) else {
            return Ok(false);
        };
        let is_subset = if let (Some(container_value), Some(part)) =
            (value_in_container.as_object(), part.as_object())
        {
            stack::level(|| object_subset(call, container_value, part))?
        } else if let (Some(container_value), Some(part)) =
            (value_in_container.as_set(), part.as_set())
        {
            set_subset(call, container_value, part)?
        } else if let (Some(container_value), Some(part)) =
            (value_in_container.as_array(), part.as_array())
        {
            array_subset(call, container_value, part)?
        } else {
            value_in_container == part
        };
        if !is_subset {
            return Ok(false);
        }
    }
    Ok(true)
}

fn set_subset(
    call: &mut BuiltinContext<'_>,
    container: SetView<'_>,
    part: SetView<'_>,
) -> Result<bool, BuiltinError> {
    call.budget.spend_len(part.len())?;
    Ok(part.len() <= container.len()
        && part
            .iter_unordered()
            .all(|member| container.contains(member)))
}

/// Returns `true` if the array's elements are a contiguous part of the other array.
fn array_subset(
    call: &mut BuiltinContext<'_>,
    container: ArrayView<'_>,
    part: ArrayView<'_>,
) -> Result<bool, BuiltinError> {
    allot(call, container.len() + part.len())?;
    let elements: Vec<ValueRef<'_>> = container.iter().collect();
    let part: Vec<ValueRef<'_>> = part.iter().collect();
    let mut occurs = part.is_empty();
    occurrences::each(&elements, &part, |_| {
        occurs = true;
        false
    });
    Ok(occurs)
}

/// Counts as OPA does: repeated elements count each time, and an empty array contains nothing.
fn array_contains_set(array: ArrayView<'_>, part: SetView<'_>) -> bool {
    let mut contained = 0;
    array.iter().any(|element| {
        contained += usize::from(part.contains(element));
        contained == part.len()
    })
}
