//! Arithmetic with years, months and days.

use super::instant::{Instant, checked_ns, days_in};
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{RefRepr, ValueRef};

pub fn add_date<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let instant = Instant::read(call, operands.operand(0))?;
    let (years, months, days) = (operands.int(1)?, operands.int(2)?, operands.int(3)?);
    let mut civil = instant.civil();
    civil.year = civil.year.saturating_add(years);
    civil.month = civil.month.saturating_add(months);
    civil.day = civil.day.saturating_add(days);
    checked_ns(civil.to_ns_in(&instant.zone(call)?))
}

pub fn diff<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let first = Instant::read(call, operands.operand(0))?;
    let second = Instant::read(call, operands.operand(1))?;
    let second = second.within(&first.zone(call)?);
    let (from, to) = if first.ns <= second.ns {
        (first.civil(), second.civil())
    } else {
        (second.civil(), first.civil())
    };
    let (seconds, borrow) = borrowing(to.second - from.second, 60);
    let (minutes, borrow) = borrowing(to.minute - from.minute - borrow, 60);
    let (hours, borrow) = borrowing(to.hour - from.hour - borrow, 24);
    let month_length = days_in(from.year, from.month);
    let (days, borrow) = borrowing(to.day - from.day - borrow, month_length);
    let (months, borrow) = borrowing(to.month - from.month - borrow, 12);
    let years = to.year - from.year - borrow;
    let parts = [years, months, days, hours, minutes, seconds];
    Ok(call
        .arena
        .array(&parts.map(|part| ValueRef(RefRepr::Int(part)))))
}

/// If a difference is negative, borrows from the next larger unit.
fn borrowing(difference: i64, larger: i64) -> (i64, i64) {
    if difference < 0 {
        (difference + larger, 1)
    } else {
        (difference, 0)
    }
}
