//! Bit operations on integers of any size.

use super::arithmetic::computed;
use super::builtin_error::BuiltinErrorDetail;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{Number, NumberBuf, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "bits.and",
        "x: number, y: number => z: number",
        "Bitwise and.",
        and,
    ),
    Builtin::new(
        "bits.lsh",
        "x: number, s: number => z: number",
        "The first integer shifted to the left by the second.",
        lsh,
    ),
    Builtin::new(
        "bits.negate",
        "x: number => z: number",
        "Bitwise complement.",
        negate,
    ),
    Builtin::new(
        "bits.or",
        "x: number, y: number => z: number",
        "Bitwise or.",
        or,
    ),
    Builtin::new(
        "bits.rsh",
        "x: number, s: number => z: number",
        "The first integer shifted to the right by the second.",
        rsh,
    ),
    Builtin::new(
        "bits.xor",
        "x: number, y: number => z: number",
        "Bitwise exclusive or.",
        xor,
    ),
];

fn and<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    integer_operation(call, operands, Number::bit_and)
}

fn or<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    integer_operation(call, operands, Number::bit_or)
}

fn xor<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    integer_operation(call, operands, Number::bit_xor)
}

fn integer_operation<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    operation: fn(Number<'e>, Number<'e>) -> Option<NumberBuf>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.integer(0)?, operands.integer(1)?);
    let result = operation(left, right).ok_or(BuiltinError::Undefined)?;
    Ok(call.arena.number(result))
}

fn negate<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let result = operands
        .integer(0)?
        .bit_not()
        .ok_or(BuiltinError::Undefined)?;
    Ok(call.arena.number(result))
}

fn lsh<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let number = operands.integer(0)?;
    let distance_in_bits = distance(operands)?;
    let result = number
        .shift_left(distance_in_bits)
        .ok_or(BuiltinError::Undefined)?;
    computed(call, result)
}

fn rsh<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let number = operands.integer(0)?;
    let distance_in_bits = distance(operands)?;
    let result = number
        .shift_right(distance_in_bits)
        .ok_or(BuiltinError::Undefined)?;
    Ok(call.arena.number(result))
}

/// Returns the shift distance. Distances beyond 64 bits shift out all bits, or fail as too large.
fn distance(operands: &[ValueRef<'_>]) -> Result<u64, BuiltinError> {
    let number = operands.integer(1)?;
    match number.to_i64() {
        Some(bits) if bits >= 0 => Ok(bits.unsigned_abs()),
        None if number.compare(Number::Int(0)).is_gt() => Ok(u64::MAX),
        _ => Err(BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
            position: 2,
            want: &["an unsigned integer number"],
            got: "a negative integer".into(),
        }))),
    }
}
