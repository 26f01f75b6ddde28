//! Built-ins on arrays, and the budget that copies of them use.

use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::ValueRef;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "array.concat",
        "x: array[any], y: array[any] => z: array[any]",
        "The concatenation of two arrays.",
        concat,
    )
    .holding(),
    Builtin::new(
        "array.flatten",
        "arr: array[any] => flattened: array[any]",
        "The array with inner arrays replaced by their elements, one level deep.",
        flatten,
    ),
    Builtin::new(
        "array.reverse",
        "arr: array[any] => rev: array[any]",
        "The elements in reverse order.",
        reverse,
    )
    .holding(),
    Builtin::new(
        "array.slice",
        "arr: array[any], start: number, stop: number => slice: array[any]",
        "The elements from a start index up to, but not including, an end index.",
        slice,
    )
    .holding(),
];

fn concat<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (first, second) = (operands.array(0)?, operands.array(1)?);
    if first.is_empty() {
        return Ok(operands.operand(1));
    }
    if second.is_empty() {
        return Ok(operands.operand(0));
    }
    allot(call, first.len() + second.len())?;
    Ok(call.arena.array_from(first.iter().chain(second.iter())))
}

fn flatten<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let array = operands.array(0)?;
    let mut list = call.arena.list();
    for element in array.iter() {
        if let Some(inner) = element.as_array() {
            allot(call, inner.len())?;
            list.extend(inner.iter());
        } else {
            call.budget.step()?;
            list.push(element);
        }
    }
    Ok(call.arena.array_of(list.into_bump_slice()))
}

fn reverse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let array = operands.array(0)?;
    allot(call, array.len())?;
    let mut list = call.arena.list();
    list.extend(array.iter());
    list.reverse();
    Ok(call.arena.array_of(list.into_bump_slice()))
}

fn slice<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let array = operands.array(0)?;
    let clamp = |index: i64| usize::try_from(index).map_or(0, |index| index.min(array.len()));
    let start = clamp(operands.int(1)?);
    let stop = clamp(operands.int(2)?);
    if start == 0 && stop == array.len() {
        return Ok(operands.operand(0));
    }
    let length = stop.saturating_sub(start);
    allot(call, length)?;
    Ok(call
        .arena
        .array_from((start..stop).filter_map(|index| array.get(index))))
}

/// Charges the steps of a new array and rejects one that is too large.
pub fn allot(call: &mut BuiltinContext<'_>, length: usize) -> Result<(), BuiltinError> {
    call.budget.spend_len(length)?;
    call.budget
        .reserve(length.saturating_mul(size_of::<ValueRef<'_>>()))
}
