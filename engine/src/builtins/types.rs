//! Kinds of values: tests, names, and the deprecated casts.

use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{Kind, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "is_array",
        "x: any => result: boolean",
        "Returns `true` if a value is an array.",
        |_, operands| is_kind(operands, Kind::Array),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_boolean",
        "x: any => result: boolean",
        "Returns `true` if a value is a boolean.",
        |_, operands| is_kind(operands, Kind::Boolean),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_null",
        "x: any => result: boolean",
        "Returns `true` if a value is null.",
        |_, operands| is_kind(operands, Kind::Null),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_number",
        "x: any => result: boolean",
        "Returns `true` if a value is a number.",
        |_, operands| is_kind(operands, Kind::Number),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_object",
        "x: any => result: boolean",
        "Returns `true` if a value is an object.",
        |_, operands| is_kind(operands, Kind::Object),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_set",
        "x: any => result: boolean",
        "Returns `true` if a value is a set.",
        |_, operands| is_kind(operands, Kind::Set),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "is_string",
        "x: any => result: boolean",
        "Returns `true` if a value is a string.",
        |_, operands| is_kind(operands, Kind::String),
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "type_name",
        "x: any => type: string",
        "The name of a value's kind.",
        type_name,
    )
    .listed(&["types"])
    .holding(),
    Builtin::new(
        "cast_array",
        "any => array[any]",
        "An array unchanged, or a set as an array.",
        cast_array,
    )
    .deprecated(),
    Builtin::new(
        "cast_boolean",
        "any => boolean",
        "A boolean unchanged.",
        |_, operands| cast(operands, Kind::Boolean, &["boolean"]),
    )
    .deprecated(),
    Builtin::new(
        "cast_null",
        "any => null",
        "Null unchanged.",
        |_, operands| cast(operands, Kind::Null, &["null"]),
    )
    .deprecated(),
    Builtin::new(
        "cast_object",
        "any => object[any: any]",
        "An object unchanged.",
        |_, operands| cast(operands, Kind::Object, &["object"]),
    )
    .deprecated(),
    Builtin::new(
        "cast_set",
        "any => set[any]",
        "A set unchanged, or an array as a set.",
        cast_set,
    )
    .deprecated(),
    Builtin::new(
        "cast_string",
        "any => string",
        "A string unchanged.",
        |_, operands| cast(operands, Kind::String, &["string"]),
    )
    .deprecated(),
];

fn is_kind<'e>(operands: &[ValueRef<'e>], kind: Kind) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Bool(operands.operand(0).kind() == kind)))
}

fn type_name<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.text(operands.operand(0).kind().as_str()))
}

fn cast<'e>(
    operands: &[ValueRef<'e>],
    kind: Kind,
    want: &'static [&'static str],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operand = operands.operand(0);
    if operand.kind() == kind {
        Ok(operand)
    } else {
        Err(BuiltinError::operand(1, want, operand))
    }
}

fn cast_array<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, &["array", "set"])?;
    match members.kind() {
        Kind::Array => Ok(operands.operand(0)),
        _ => Ok(call.arena.array_from(members.iter())),
    }
}

fn cast_set<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let members = operands.members(0, &["array", "set"])?;
    match members.kind() {
        Kind::Set => Ok(operands.operand(0)),
        _ => Ok(call.arena.set_from(members.iter())),
    }
}
