//! Objects.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::SmallVec;

use solon_syntax::stack;

use super::arrays::allot;
use super::operands::plain_int;
use super::{Builtin, Call, Fault, Operands, occurrences};
use crate::value::array::ArrayView;
use crate::value::{Kind, ObjectBuilder, ObjectView, SetView, Shape, V, Value};

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "object.filter",
        "object: object[any: any], keys: any<array[any], object[any: any], set[any]> => filtered: object[any: any]",
        "The object with the given keys only.",
        filter,
    ),
    Builtin::new(
        "object.get",
        "object: object[any: any], key: any, default: any => value: any",
        "What an object holds under a key or, for an array, a path; a default when it holds nothing there.",
        get,
    ),
    Builtin::new(
        "object.keys",
        "object: object[any: any] => value: set[any]",
        "The keys of an object.",
        keys,
    ),
    Builtin::new(
        "object.remove",
        "object: object[any: any], keys: any<array[any], object[any: any], set[any]> => output: object[any: any]",
        "The object without the given keys.",
        remove,
    ),
    Builtin::new(
        "object.subset",
        "super: any<array[any], object[any: any], set[any]>, sub: any<array[any], object[any: any], set[any]> => result: boolean",
        "Tells whether one collection is part of another, objects at any depth.",
        subset,
    ),
    Builtin::new(
        "object.union",
        "a: object[any: any], b: object[any: any] => output: object[any: any]",
        "Both objects merged at every depth; the second wins.",
        union,
    ),
    Builtin::new(
        "object.union_n",
        "objects: array[object[any: any]] => output: object[any: any]",
        "Objects merged at every depth; later ones win.",
        union_n,
    ),
];

fn get<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let object = operands.object(0)?;
    let (key, default) = (operands.at(1), operands.at(2));
    let Some(path) = key.as_array() else {
        return Ok(object.get(key).unwrap_or(default));
    };
    let found = path
        .iter()
        .try_fold(operands.at(0), |value, key| match value.as_array() {
            Some(array) => {
                let index = plain_int(key.as_number()?)?;
                array.get(usize::try_from(index).ok()?)
            }
            None => value.lookup(key),
        });
    Ok(found.unwrap_or(default))
}

fn keys<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let object = operands.object(0)?;
    allot(call, object.len())?;
    Ok(call.arena.set_from(object.iter().map(|(key, _)| key)))
}

fn filter<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    with_keys(call, operands, true)
}

fn remove<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    with_keys(call, operands, false)
}

/// The pairs whose keys are among those of the second operand, or the others.
fn with_keys<'e>(call: &mut Call<'e>, operands: &[V<'e>], among: bool) -> Result<V<'e>, Fault> {
    let object = operands.object(0)?;
    let keys = key_set(call, operands)?;
    allot(call, object.len())?;
    let pairs = object
        .iter()
        .filter(|(key, _)| keys.lookup(*key).is_some() == among);
    Ok(call.arena.object_from(pairs))
}

/// Something to look keys up in, from the second operand: an array, a set, or an object for its keys.
fn key_set<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let operand = operands.at(1);
    if let Some(array) = operand.as_array() {
        allot(call, array.len())?;
        return Ok(call.arena.set_from(array.iter()));
    }
    match operand.kind() {
        Kind::Set | Kind::Object => Ok(operand),
        _ => Err(Fault::operand(2, &["object", "set", "array"], operand)),
    }
}

fn union<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (left, right) = (operands.object(0)?, operands.object(1)?);
    if right.is_empty() {
        return Ok(operands.at(0));
    }
    merge(call, left, right)
}

fn union_n<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let array = operands.array(0)?;
    let mut objects = Vec::with_capacity(array.len());
    for element in array.iter() {
        let object = element
            .as_object()
            .ok_or_else(|| Fault::element(1, Kind::Array, &["object"], element))?;
        objects.push(object);
    }
    merge_all(call, &objects)
}

/// Objects up to which they are merged one by one.
const FEW: usize = 6;

/// Merges objects. Under each key a value that is no object hides all earlier ones, so objects
/// merge from the last such value on.
fn merge_all<'e>(call: &mut Call<'e>, objects: &[ObjectView<'e>]) -> Result<V<'e>, Fault> {
    if let [first, second, rest @ ..] = objects
        && rest.len() + 2 <= FEW
    {
        let mut merged = merge(call, *first, *second)?;
        for object in rest {
            let Some(before) = merged.as_object() else {
                break;
            };
            merged = merge(call, before, *object)?;
        }
        return Ok(merged);
    }
    let mut places = ObjectBuilder::new(call.arena);
    let mut merged: Vec<(V<'e>, SmallVec<[V<'e>; 2]>)> = Vec::new();
    for object in objects {
        allot(call, object.len())?;
        for (key, value) in object.iter() {
            let place = places.get(key).and_then(V::as_number);
            let held = place.and_then(|place| merged.get_mut(place.as_index()?));
            if let Some((_, values)) = held {
                values.push(value);
            } else {
                places.put(key, call.arena.number(merged.len().into()));
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

/// Values that are objects on both sides merge; else the right one wins. Both are gone through in order, so that the
/// result is in order, too.
fn merge<'e>(
    call: &mut Call<'e>,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Result<V<'e>, Fault> {
    let pairs = |object: ObjectView<'e>| (object.len(), object.iter());
    let stored = |object: ObjectView<'e>| match object {
        ObjectView::Stored(object) => object.shaped(),
        ObjectView::Arena(_) => None,
    };
    // what most objects are, gone through without a choice for each pair
    match (stored(left), stored(right)) {
        (Some(left), Some(right)) => merge_pairs(call, shaped(left), shaped(right)),
        (None, Some(right)) => merge_pairs(call, pairs(left), shaped(right)),
        _ => merge_pairs(call, pairs(left), pairs(right)),
    }
}

/// The pairs of a stored object, and how many there are.
fn shaped<'e>(
    (shape, values): (&'e Arc<Shape>, &'e [Value]),
) -> (usize, impl Iterator<Item = (V<'e>, V<'e>)>) {
    let keys = shape.keys().iter().map(Value::borrow);
    (values.len(), keys.zip(values.iter().map(Value::borrow)))
}

/// Merges pairs in order, of which there are so many.
fn merge_pairs<'e>(
    call: &mut Call<'e>,
    (left, mut lefts): (usize, impl Iterator<Item = (V<'e>, V<'e>)>),
    (right, mut rights): (usize, impl Iterator<Item = (V<'e>, V<'e>)>),
) -> Result<V<'e>, Fault> {
    let most = left + right;
    call.budget
        .reserve(most.saturating_mul(2 * size_of::<V<'_>>()))?;
    let list = || bumpalo::collections::Vec::with_capacity_in(most, call.arena.bump());
    let (mut keys, mut values) = (list(), list());
    let mut over = rights.next();
    'lefts: for (key, value) in lefts.by_ref() {
        // large objects take long to make, so steps are not spent beforehand
        call.budget.step()?;
        while let Some((other, new)) = over {
            match other.cmp(&key) {
                Ordering::Greater => break,
                Ordering::Equal => {
                    keys.push(key);
                    values.push(match (value.as_object(), new.as_object()) {
                        (Some(left), Some(right)) => stack::level(|| merge(call, left, right))?,
                        _ => new,
                    });
                    over = rights.next();
                    continue 'lefts;
                }
                Ordering::Less => {
                    call.budget.step()?;
                    keys.push(other);
                    values.push(new);
                    over = rights.next();
                }
            }
        }
        keys.push(key);
        values.push(value);
    }
    while let Some((key, value)) = over {
        call.budget.step()?;
        keys.push(key);
        values.push(value);
        over = rights.next();
    }
    Ok(call
        .arena
        .sorted_object(keys.into_bump_slice(), values.into_bump_slice()))
}

fn subset<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (whole, part) = (operands.at(0), operands.at(1));
    let found = if let (Some(whole), Some(part)) = (whole.as_object(), part.as_object()) {
        object_subset(call, whole, part)?
    } else if let (Some(whole), Some(part)) = (whole.as_set(), part.as_set()) {
        set_subset(call, whole, part)?
    } else if let (Some(whole), Some(part)) = (whole.as_array(), part.as_array()) {
        array_subset(call, whole, part)?
    } else if let (Some(whole), Some(part)) = (whole.as_array(), part.as_set()) {
        call.budget.spend_len(whole.len())?;
        array_holds_set(whole, part)
    } else {
        return Err(Fault::type_error(
            "both arguments object.subset must be of the same type or array and set",
        ));
    };
    Ok(V::Bool(found))
}

fn object_subset<'e>(
    call: &mut Call<'e>,
    whole: ObjectView<'e>,
    part: ObjectView<'e>,
) -> Result<bool, Fault> {
    call.budget.spend_len(part.len())?;
    for (key, part) in part.iter() {
        let Some(whole) = whole.get(key) else {
            return Ok(false);
        };
        let found = if let (Some(whole), Some(part)) = (whole.as_object(), part.as_object()) {
            stack::level(|| object_subset(call, whole, part))?
        } else if let (Some(whole), Some(part)) = (whole.as_set(), part.as_set()) {
            set_subset(call, whole, part)?
        } else if let (Some(whole), Some(part)) = (whole.as_array(), part.as_array()) {
            array_subset(call, whole, part)?
        } else {
            whole == part
        };
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

fn set_subset(call: &mut Call<'_>, whole: SetView<'_>, part: SetView<'_>) -> Result<bool, Fault> {
    call.budget.spend_len(part.len())?;
    Ok(part.len() <= whole.len() && part.iter_unordered().all(|member| whole.contains(member)))
}

/// Whether the array's elements stand in the other one in a row.
fn array_subset(
    call: &mut Call<'_>,
    whole: ArrayView<'_>,
    part: ArrayView<'_>,
) -> Result<bool, Fault> {
    allot(call, whole.len() + part.len())?;
    let whole: Vec<V<'_>> = whole.iter().collect();
    let part: Vec<V<'_>> = part.iter().collect();
    let mut found = part.is_empty();
    occurrences::each(&whole, &part, |_| {
        found = true;
        false
    });
    Ok(found)
}

/// Counts as OPA does: an element that is there twice counts twice, and nothing is in an empty array.
fn array_holds_set(whole: ArrayView<'_>, part: SetView<'_>) -> bool {
    let mut held = 0;
    whole.iter().any(|element| {
        held += usize::from(part.contains(element));
        held == part.len()
    })
}
