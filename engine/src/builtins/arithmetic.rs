//! Arithmetic on numbers. `minus` also accepts sets.

use super::{Builtin, BuiltinContext, BuiltinError, Operands, sets};
use crate::value::number::ArithmeticError;
use crate::value::{NumberBuf, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "plus",
        "x: number, y: number => z: number",
        "The sum.",
        plus,
    )
    .listed(&["numbers"])
    .infix("+"),
    Builtin::new(
        "minus",
        "x: any<number, set[any]>, y: any<number, set[any]> => z: any<number, set[any]>",
        "The difference of two numbers or two sets.",
        minus,
    )
    .listed(&["sets", "numbers"])
    .holding()
    .infix("-"),
    Builtin::new(
        "mul",
        "x: number, y: number => z: number",
        "The product.",
        mul,
    )
    .listed(&["numbers"])
    .infix("*"),
    Builtin::new(
        "div",
        "x: number, y: number => z: number",
        "The quotient.",
        div,
    )
    .listed(&["numbers"])
    .infix("/"),
    Builtin::new(
        "rem",
        "x: number, y: number => z: number",
        "The remainder of a division of integers, with the sign of the dividend.",
        rem,
    )
    .listed(&["numbers"])
    .infix("%"),
    Builtin::new(
        "abs",
        "x: number => y: number",
        "The number without its sign.",
        abs,
    )
    .listed(&["numbers"]),
    Builtin::new(
        "round",
        "x: number => y: number",
        "The nearest integer, rounded half away from zero.",
        round,
    )
    .listed(&["numbers"]),
    Builtin::new(
        "ceil",
        "x: number => y: number",
        "The integer at or above.",
        ceil,
    )
    .listed(&["numbers"]),
    Builtin::new(
        "floor",
        "x: number => y: number",
        "The integer at or below.",
        floor,
    )
    .listed(&["numbers"]),
];

/// Converts the failure of a computation to the error of a call.
pub fn arithmetic_error(error: ArithmeticError) -> BuiltinError {
    BuiltinError::error(match error {
        ArithmeticError::DivideByZero => "divide by zero",
        ArithmeticError::ModuloByZero => "modulo by zero",
        ArithmeticError::ModuloOfFloat => "modulo on floating-point number",
        _ => return BuiltinError::error(error.to_string()),
    })
}

/// Converts the result of a computation to a value, or its failure to an error.
pub fn computed<'e>(
    call: &BuiltinContext<'e>,
    outcome: Result<NumberBuf, ArithmeticError>,
) -> Result<ValueRef<'e>, BuiltinError> {
    // matched by reference: moving the value right after its fields were stored would stall store forwarding
    match &outcome {
        Ok(NumberBuf::Int(int)) => Ok(ValueRef(RefRepr::Int(*int))),
        Ok(NumberBuf::Decimal(scale, coefficient)) => {
            Ok(ValueRef(RefRepr::Decimal(*scale, *coefficient)))
        }
        _ => Ok(call.arena.number(outcome.map_err(arithmetic_error)?)),
    }
}

fn plus<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    computed(call, operands.number(0)?.plus(operands.number(1)?))
}

fn minus<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.operand(0), operands.operand(1));
    if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
        return computed(call, left.minus(right));
    }
    match (left.as_set(), right.as_set()) {
        (Some(left), Some(right)) => sets::difference(call, left, right),
        (None, _) if left.as_number().is_none() => {
            Err(BuiltinError::operand(1, &["number", "set"], left))
        }
        (Some(_), _) if right.as_number().is_some() => {
            Err(BuiltinError::operand(2, &["set"], right))
        }
        _ => Err(BuiltinError::operand(2, &["number"], right)),
    }
}

fn mul<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    computed(call, operands.number(0)?.times(operands.number(1)?))
}

fn div<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    computed(call, operands.number(0)?.divide(operands.number(1)?))
}

fn rem<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    computed(call, operands.number(0)?.rem(operands.number(1)?))
}

fn abs<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.number(operands.number(0)?.abs()))
}

fn round<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.number(operands.number(0)?.round()))
}

fn ceil<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.number(operands.number(0)?.ceil()))
}

fn floor<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.number(operands.number(0)?.floor()))
}
