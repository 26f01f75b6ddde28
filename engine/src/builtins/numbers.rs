//! Ranges of integers, and random integers.

use std::hash::{BuildHasher, Hasher};

use num_bigint::BigInt;

use super::arrays::allot;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::bug::bug;
use crate::value::{Number, NumberBuf, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "numbers.range",
        "a: number, b: number => range: array[number]",
        "The integers from one to another, descending if the second is smaller.",
        range,
    ),
    Builtin::new(
        "numbers.range_step",
        "a: number, b: number, step: number => range: array[number]",
        "The integers from one to another with a step.",
        range_step,
    ),
    Builtin::new(
        "rand.intn",
        "str: string, n: number => y: number",
        "A random integer from 0 up to, but not including, a number. Equal strings yield equal results within an evaluation.",
        intn,
    ).listed(&["numbers"])
    .nondeterministic(),
];

fn range<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (first, last) = (operands.integer(0)?, operands.integer(1)?);
    steps(call, first, last, Number::Int(1))
}

fn range_step<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (first, last) = (operands.integer(0)?, operands.integer(1)?);
    let step = operands.integer(2)?;
    if step.compare(Number::Int(0)).is_le() {
        // the message names the function, in addition to the prefix with its name
        return Err(BuiltinError::error(
            "numbers.range_step: step must be a positive integer",
        ));
    }
    steps(call, first, last, step)
}

/// Number of elements that are generated between two polls of the limits.
const POLL_INTERVAL: usize = 1 << 16;

fn steps<'e>(
    call: &mut BuiltinContext<'e>,
    first: Number<'_>,
    last: Number<'_>,
    step: Number<'_>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (Some(first), Some(last), Some(step)) = (first.to_i64(), last.to_i64(), step.to_i64())
    else {
        return big_steps(call, first, last, step);
    };
    let count = first.abs_diff(last) / step.unsigned_abs();
    let count = usize::try_from(count)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    allot(call, count)?;
    let step = if first <= last { step } else { -step };
    let mut next = first;
    let mut list = call.arena.list();
    list.reserve_exact(count);
    while list.len() < count {
        call.budget.check()?;
        let batch = POLL_INTERVAL.min(count - list.len());
        list.extend((0..batch).map(|_| {
            let number = next;
            // the number after the last element may overflow
            next = number.wrapping_add(step);
            ValueRef(RefRepr::Int(number))
        }));
    }
    Ok(call.arena.array_of(list.into_bump_slice()))
}

/// Generates ranges with ends or steps beyond 64 bits.
fn big_steps<'e>(
    call: &mut BuiltinContext<'e>,
    first: Number<'_>,
    last: Number<'_>,
    step: Number<'_>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let to_bigint = |number: Number<'_>| {
        number
            .to_bigint()
            .unwrap_or_else(|| bug!("a whole number has a fraction"))
    };
    let (first, last, step) = (to_bigint(first), to_bigint(last), to_bigint(step));
    let distance = last.clone() - &first;
    let count = usize::try_from(BigInt::from(distance.magnitude().clone()) / &step)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    allot(
        call,
        count.saturating_mul(1 + first.bits().try_into().unwrap_or(0) / 8),
    )?;
    let step = if first <= last { step } else { -step };
    let mut number = first;
    let mut numbers = call.arena.list();
    for _ in 0..count {
        let next = &number + &step;
        numbers.push(
            call.arena
                .number(NumberBuf::from(std::mem::replace(&mut number, next))),
        );
    }
    Ok(call.arena.array_of(numbers.into_bump_slice()))
}

fn intn<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let key = operands.text(0)?;
    let limit = operands.int(1)?.unsigned_abs();
    // a keyed hash of the operands needs no cache of earlier results
    let mut hasher = foldhash::quality::FixedState::with_seed(call.seed()?).build_hasher();
    hasher.write(key.as_bytes());
    hasher.write_u64(limit);
    let random = (u128::from(hasher.finish()) * u128::from(limit)) >> 64;
    Ok(call.arena.number(NumberBuf::from(
        u64::try_from(random).unwrap_or_else(|_| bug!("a product of halves is too large")),
    )))
}
