//! Time: nanoseconds since 1970, calendar, formatting and parsing.

mod calendar;
pub(super) mod duration;
mod format;
mod instant;
mod layout;
pub(super) mod parse;
mod usual;
mod zone;

use std::sync::Arc;

use super::{
    Builtin, BuiltinContext, BuiltinError, IntrinsicFunction, IntrinsicResult, Operands, Prepared,
};
use crate::value::{RefRepr, ValueRef};
use instant::{Instant, checked_ns};
pub use layout::TimeLayout;
pub use zone::LastZone;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "time.add_date",
        "ns: number, years: number, months: number, days: number => output: number",
        "The time after some years, months and days.",
        calendar::add_date,
    ),
    Builtin::new(
        "time.clock",
        "x: any<number, array<number, string>> => output: array<number, number, number>",
        "The hour, minute and second of a time.",
        clock,
    ),
    Builtin::new(
        "time.date",
        "x: any<number, array<number, string>> => date: array<number, number, number>",
        "The year, month and day of a time.",
        date,
    ),
    Builtin::new(
        "time.diff",
        "ns1: any<number, array<number, string>>, ns2: any<number, array<number, string>> => output: array<number, number, number, number, number, number>",
        "The years, months, days, hours, minutes and seconds between two times.",
        calendar::diff,
    ),
    Builtin::new(
        "time.format",
        "x: any<number, array<number, string>, array<number, string, string>> => formatted timestamp: string",
        "A time, formatted by a layout.",
        format::format,
    ),
    Builtin::new(
        "time.parse_duration_ns",
        "duration: string => ns: number",
        "The nanoseconds of a duration such as `1h30m`.",
        parse_duration_ns,
    )
    .specialise(prepare_duration)
    .quick(IntrinsicFunction::One(
        IntrinsicResult::Int,
        usual::duration,
    )),
    Builtin::new(
        "time.parse_ns",
        "layout: string, value: string => ns: number",
        "The time in a string, parsed by a layout.",
        parse_ns,
    )
    .specialise(prepare),
    Builtin::new(
        "time.parse_rfc3339_ns",
        "value: string => ns: number",
        "The time in a string in RFC 3339 format.",
        parse_rfc3339_ns,
    )
    .specialise(prepare_rfc3339)
    .quick(IntrinsicFunction::One(IntrinsicResult::Int, usual::usual)),
    Builtin::new(
        "time.weekday",
        "x: any<number, array<number, string>> => day: string",
        "The day of the week of a time.",
        weekday,
    ),
];

/// Returns `true` if a text is a time in the format of a layout.
#[cfg(feature = "formats")]
pub fn matches_layout(layout: &str, text: &str) -> bool {
    parse::parse(&TimeLayout::new(layout.as_bytes()), text.as_bytes()).is_ok()
}

fn date<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let civil = Instant::read(call, operands.operand(0))?.civil();
    Ok(call
        .arena
        .array(&[civil.year, civil.month, civil.day].map(|number| ValueRef(RefRepr::Int(number)))))
}

fn clock<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let civil = Instant::read(call, operands.operand(0))?.civil();
    Ok(call.arena.array(
        &[civil.hour, civil.minute, civil.second].map(|number| ValueRef(RefRepr::Int(number))),
    ))
}

fn weekday<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let civil = Instant::read(call, operands.operand(0))?.civil();
    Ok(call.arena.text(civil.weekday()))
}

struct ConstantLayout(TimeLayout);

impl Prepared for ConstantLayout {
    fn call<'e>(
        &self,
        _: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        checked_ns(parse::parse(&self.0, operands.text(1)?.as_bytes())?)
    }

    fn intrinsic_operand(&self) -> Option<(usize, IntrinsicResult)> {
        Some((1, IntrinsicResult::Int))
    }

    fn intrinsic_result(&self, value: &[u8]) -> Option<i64> {
        usual::fixed(&self.0, value)
    }
}

fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let layout = operands.first().copied()??.as_text()?;
    Some(Arc::new(ConstantLayout(TimeLayout::new(layout.as_bytes()))))
}

fn parse_ns<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (layout, value) = (operands.text(0)?, operands.text(1)?);
    let ns = TimeLayout::with(call, layout.as_bytes(), |layout| {
        parse::parse(layout, value.as_bytes())
    })?;
    checked_ns(ns)
}

fn parse_rfc3339_ns<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    checked_ns(parse::parse_rfc3339(operands.text(0)?.as_bytes())?)
}

fn parse_duration_ns<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    duration::parse(operands.text(0)?.as_bytes()).map(|number| ValueRef(RefRepr::Int(number)))
}

struct ConstantTime(i64);

impl Prepared for ConstantTime {
    fn call<'e>(
        &self,
        _: &mut BuiltinContext<'e>,
        _: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        Ok(ValueRef(RefRepr::Int(self.0)))
    }
}

fn prepare_duration(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let text = operands.first().copied()??.as_text()?;
    Some(Arc::new(ConstantTime(
        duration::parse(text.as_bytes()).ok()?,
    )))
}

fn prepare_rfc3339(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let text = operands.first().copied()??.as_text()?;
    match checked_ns(parse::parse_rfc3339(text.as_bytes()).ok()?).ok()? {
        ValueRef(RefRepr::Int(ns)) => Some(Arc::new(ConstantTime(ns))),
        _ => None,
    }
}
