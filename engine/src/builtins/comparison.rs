//! Comparison by the total order of values, and membership.

use super::{Builtin, BuiltinContext, BuiltinError, IndexTest, Operands};
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::evaluator(
        "eq",
        "any, any => boolean",
        "Unifies two terms, binding the variables in them.",
    )
    .silent()
    .testing(IndexTest::Equality)
    .infix("="),
    Builtin::evaluator(
        "assign",
        "any, any => boolean",
        "Declares local variables and assigns a value to them.",
    )
    .infix(":="),
    Builtin::new(
        "equal",
        "x: any, y: any => result: boolean",
        "Returns `true` if two values are equal.",
        equal,
    )
    .listed(&["comparison"])
    .silent()
    .testing(IndexTest::Equality)
    .holding()
    .infix("=="),
    Builtin::new(
        "neq",
        "x: any, y: any => result: boolean",
        "Returns `true` if two values differ.",
        neq,
    )
    .listed(&["comparison"])
    .silent()
    .holding()
    .infix("!="),
    Builtin::new(
        "lt",
        "x: any, y: any => result: boolean",
        "Returns `true` if the first value sorts before the second.",
        lt,
    )
    .listed(&["comparison"])
    .silent()
    .infix("<"),
    Builtin::new(
        "lte",
        "x: any, y: any => result: boolean",
        "Returns `true` if the first value does not sort after the second.",
        lte,
    )
    .listed(&["comparison"])
    .silent()
    .infix("<="),
    Builtin::new(
        "gt",
        "x: any, y: any => result: boolean",
        "Returns `true` if the first value sorts after the second.",
        gt,
    )
    .listed(&["comparison"])
    .silent()
    .infix(">"),
    Builtin::new(
        "gte",
        "x: any, y: any => result: boolean",
        "Returns `true` if the first value does not sort before the second.",
        gte,
    )
    .listed(&["comparison"])
    .silent()
    .infix(">="),
    Builtin::new(
        "internal.member_2",
        "any, any => boolean",
        "Returns `true` if a collection holds a value: `x in xs`.",
        member,
    )
    .silent()
    .testing(IndexTest::Member)
    .holding()
    .infix("in"),
    Builtin::new(
        "internal.member_3",
        "any, any, any => boolean",
        "Returns `true` if a collection holds a value under a key: `k, x in xs`.",
        member_at,
    )
    .holding()
    .infix("in"),
];

fn equal<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) == operands.operand(1),
    )))
}

fn neq<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) != operands.operand(1),
    )))
}

fn lt<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) < operands.operand(1),
    )))
}

fn lte<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) <= operands.operand(1),
    )))
}

fn gt<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) > operands.operand(1),
    )))
}

fn gte<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(
        operands.operand(0) >= operands.operand(1),
    )))
}

fn member<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(has_element(
        operands.operand(1),
        operands.operand(0),
    ))))
}

/// Returns `true` if a collection contains a value: as an element, as a member, or as the value of a key.
pub fn has_element<'e>(collection: ValueRef<'e>, value: ValueRef<'e>) -> bool {
    if let Some(array) = collection.as_array() {
        array.iter().any(|element| element == value)
    } else if let Some(set) = collection.as_set() {
        set.contains(value)
    } else if let Some(object) = collection.as_object() {
        object.iter().any(|(_, element)| element == value)
    } else {
        false
    }
}

fn member_at<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (key, value) = (operands.operand(0), operands.operand(1));
    let element = operands.operand(2).lookup(key);
    Ok(ValueRef(RefRepr::Bool(
        element.is_some_and(|element| element == value),
    )))
}
