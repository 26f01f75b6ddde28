//! Aggregates: functions of all elements of a collection.

use super::arithmetic::{arithmetic_error, computed};
use super::arrays::allot;
use super::{Aggregation, Builtin, BuiltinContext, BuiltinError, Fold, Members, Operands, runes};
use crate::value::number::Product;
use crate::value::{
    ArrayView, ArrayViewRepr, NumberBuf, RefRepr, SetView, SetViewRepr, Value, ValueRef, sort,
};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "count",
        "collection: any<string, array[any], object[any: any], set[any]> => n: number",
        "The number of elements, keys or characters.",
        count,
    )
    .listed(&["aggregates"])
    .aggregating(Aggregation::Count)
    .holding(),
    Builtin::new(
        "sum",
        "collection: any<array[number], set[number]> => n: number",
        "The sum of numbers, 0 if there are none.",
        sum,
    )
    .listed(&["aggregates"])
    .aggregating(Aggregation::Sum),
    Builtin::new(
        "product",
        "collection: any<array[number], set[number]> => n: number",
        "The product of numbers, 1 if there are none.",
        product,
    )
    .listed(&["aggregates"]),
    Builtin::new(
        "max",
        "collection: any<array[any], set[any]> => n: any",
        "The greatest element, undefined if there is none.",
        max,
    )
    .listed(&["aggregates"])
    .aggregating(Aggregation::Max)
    .holding(),
    Builtin::new(
        "min",
        "collection: any<array[any], set[any]> => n: any",
        "The least element, undefined if there is none.",
        min,
    )
    .listed(&["aggregates"])
    .aggregating(Aggregation::Min)
    .holding(),
    Builtin::new(
        "sort",
        "collection: any<array[any], set[any]> => n: array[any]",
        "The elements in order.",
        sort_members,
    )
    .listed(&["aggregates"])
    .holding(),
    Builtin::new(
        "all",
        "any<array[any], set[any]> => boolean",
        "Returns `true` if every element is `true`.",
        all,
    )
    .deprecated(),
    Builtin::new(
        "any",
        "any<array[any], set[any]> => boolean",
        "Returns `true` if some element is `true`.",
        any,
    )
    .deprecated(),
];

const MEMBERS: &[&str] = &["set", "array"];

fn count<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operand = operands.operand(0);
    let count = if let Some(array) = operand.as_array() {
        array.len()
    } else if let Some(object) = operand.as_object() {
        object.len()
    } else if let Some(set) = operand.as_set() {
        set.len()
    } else if let Some(text) = operand.as_text() {
        runes::count(text.as_bytes())
    } else {
        return Err(BuiltinError::operand(
            1,
            &["array", "object", "set", "string"],
            operand,
        ));
    };
    Ok(call.arena.number(NumberBuf::from(count)))
}

fn sum<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    fold_members(call, Aggregation::Sum, operands)
}

fn product<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, MEMBERS)?;
    let mut product = Product::default();
    for member in members.iter() {
        call.budget.step()?;
        let number = member
            .as_number()
            .ok_or_else(|| BuiltinError::element(1, members.kind(), &["number"], member))?;
        product.multiply(number).map_err(arithmetic_error)?;
    }
    computed(call, product.finish())
}

fn max<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    fold_members(call, Aggregation::Max, operands)
}

fn min<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    fold_members(call, Aggregation::Min, operands)
}

fn fold_members<'e>(
    call: &mut BuiltinContext<'e>,
    aggregation: Aggregation,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, MEMBERS)?;
    call.budget.spend_len(members.len())?;
    let mut fold = Fold::new(aggregation);
    match members {
        Members::Array(ArrayView(ArrayViewRepr::Stored(items))) => {
            fold.add_all(items.iter().map(Value::borrow));
        }
        Members::Array(ArrayView(ArrayViewRepr::Arena(items))) => {
            fold.add_all(items.iter().copied());
        }
        // sums of floats depend on the order of addition
        Members::Set(_) if aggregation == Aggregation::Sum => fold.add_all(members.iter()),
        Members::Set(_) => fold.add_all(members.iter_unordered()),
    }
    fold.finish(call, members.kind())
}

fn sort_members<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, MEMBERS)?;
    allot(call, members.len())?;
    if let Members::Set(SetView(SetViewRepr::Arena(set))) = members
        && let Some(items) = set.in_order()
    {
        return Ok(call.arena.array_of(items));
    }
    let list = match members {
        Members::Array(array) => {
            let list = match array {
                ArrayView(ArrayViewRepr::Stored(items)) => call.arena.in_flight(items),
                ArrayView(ArrayViewRepr::Arena(items)) => call.arena.bump().alloc_slice_copy(items),
            };
            sort::sort(list, || call.arena.goes_on());
            list
        }
        // the members of a set in sorted order
        Members::Set(set) => {
            let mut list =
                bumpalo::collections::Vec::with_capacity_in(set.len(), call.arena.bump());
            list.extend(set.iter());
            list.into_bump_slice_mut()
        }
    };
    Ok(call.arena.array_of(list))
}

fn all<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, &["array", "set"])?;
    Ok(ValueRef(RefRepr::Bool(
        members.iter_unordered().all(is_true),
    )))
}

fn any<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, &["array", "set"])?;
    Ok(ValueRef(RefRepr::Bool(
        members.iter_unordered().any(is_true),
    )))
}

fn is_true(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef(RefRepr::Bool(true)))
}
