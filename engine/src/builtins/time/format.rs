//! Formats times by a layout of Go: `time.format`.

use super::instant::{Civil, Instant, SECOND};
use super::layout::{self, MONTHS, Pad, SHORT_NAME, TimeField, TimeLayout};
use super::zone::TimeZoneRef;
use crate::bug::bug;
use crate::builtins::Operands;
use crate::builtins::buffer::{Buffer, push};
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::ValueRef;

const NO_DIGIT: &str = "a digit of more than ten values";

pub fn format<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let instant = Instant::read(call, operands.operand(0))?;
    let zone = instant.zone(call)?;
    let buffer = match &instant.layout {
        Some(layout) if !layout.as_bytes().is_empty() => {
            TimeLayout::with(call, layout.as_bytes(), |layout| {
                format_time(call, (&instant, &zone), layout)
            })?
        }
        _ => format_time(call, (&instant, &zone), layout::rfc3339_nano())?,
    };
    Ok(call.text(buffer))
}

/// Formats a time by a layout of Go.
fn format_time<'e>(
    call: &BuiltinContext<'e>,
    (instant, zone): (&Instant<'_>, &TimeZoneRef),
    layout: &TimeLayout,
) -> Result<Buffer<'e>, BuiltinError> {
    let mut writer = FieldWriter {
        call,
        zone,
        buffer: call.buffer(),
        civil: instant.civil(),
    };
    for chunk in layout.chunks() {
        writer.text(chunk.literal)?;
        if let Some((field, _)) = chunk.field {
            writer.field(field, instant)?;
        }
    }
    Ok(writer.buffer)
}

struct FieldWriter<'c, 'e> {
    call: &'c BuiltinContext<'e>,
    zone: &'c TimeZoneRef,
    buffer: Buffer<'e>,
    civil: Civil,
}

impl FieldWriter<'_, '_> {
    fn text(&mut self, text: &[u8]) -> Result<(), BuiltinError> {
        push(self.call, &mut self.buffer, text)
    }

    fn number(&mut self, number: i64, pad: Pad, width: usize) -> Result<(), BuiltinError> {
        let digit =
            |unit: i64| b'0' + u8::try_from(number / unit % 10).unwrap_or_else(|_| bug!(NO_DIGIT));
        match (pad, width, number) {
            // the most frequent case
            (Pad::Zero, 2, 0..100) => return self.text(&[digit(10), digit(1)]),
            (Pad::Zero, 4, 0..10_000) => {
                return self.text(&[digit(1000), digit(100), digit(10), digit(1)]);
            }
            _ => {}
        }
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(number);
        let missing = width.saturating_sub(digits.len());
        match (pad, digits.strip_prefix('-')) {
            (Pad::None, _) => {}
            (Pad::Space, _) => self.fill(b' ', missing)?,
            (Pad::Zero, None) => self.fill(b'0', missing)?,
            // zeros are between the sign and the digits
            (Pad::Zero, Some(digits)) => {
                self.text(b"-")?;
                self.fill(b'0', missing)?;
                return self.text(digits.as_bytes());
            }
        }
        self.text(digits.as_bytes())
    }

    fn fill(&mut self, byte: u8, count: usize) -> Result<(), BuiltinError> {
        for _ in 0..count {
            self.text(&[byte])?;
        }
        Ok(())
    }

    fn name(&mut self, name: &str, length: usize) -> Result<(), BuiltinError> {
        self.text(name.as_bytes().get(..length).unwrap_or(name.as_bytes()))
    }

    fn field(&mut self, field: TimeField, instant: &Instant<'_>) -> Result<(), BuiltinError> {
        let civil = self.civil;
        let month = || {
            let index = usize::try_from(civil.month - 1).ok();
            let name = index.and_then(|index| MONTHS.get(index));
            name.copied()
                .unwrap_or_else(|| bug!("a month without a name"))
        };
        match field {
            TimeField::LongYear => self.number(civil.year, Pad::Zero, 4),
            TimeField::ShortYear => self.number(civil.year % 100, Pad::Zero, 2),
            TimeField::LongMonth => self.name(month(), usize::MAX),
            TimeField::ShortMonth => self.name(month(), SHORT_NAME),
            TimeField::Month(pad) => self.number(civil.month, pad, 2),
            TimeField::LongWeekday => self.name(civil.weekday(), usize::MAX),
            TimeField::ShortWeekday => self.name(civil.weekday(), SHORT_NAME),
            TimeField::Day(pad) => self.number(civil.day, pad, 2),
            TimeField::YearDay(pad) => self.number(civil.year_day(), pad, 3),
            TimeField::Hour => self.number(civil.hour, Pad::Zero, 2),
            TimeField::Hour12(pad) => self.number((civil.hour + 11) % 12 + 1, pad, 2),
            TimeField::Minute(pad) => self.number(civil.minute, pad, 2),
            TimeField::Second(pad) => self.number(civil.second, pad, 2),
            TimeField::Noon { upper } => self.text(match (civil.hour >= 12, upper) {
                (true, true) => b"PM",
                (true, false) => b"pm",
                (false, true) => b"AM",
                (false, false) => b"am",
            }),
            TimeField::ZoneName => {
                let second = instant.ns.div_euclid(SECOND);
                self.text(self.zone.abbreviation(second).as_bytes())
            }
            TimeField::Offset { z, colons, parts } => self.offset(instant.offset, z, colons, parts),
            TimeField::Fraction {
                separator,
                digits,
                trimmed,
            } => self.fraction(separator, digits, trimmed),
        }
    }

    fn offset(
        &mut self,
        seconds: i64,
        z: bool,
        colons: bool,
        parts: u8,
    ) -> Result<(), BuiltinError> {
        if z && seconds == 0 {
            return self.text(b"Z");
        }
        self.text(if seconds / 60 < 0 { b"-" } else { b"+" })?;
        let seconds_from_utc = seconds.abs();
        self.number(seconds_from_utc / 3600, Pad::Zero, 2)?;
        let minutes_and_seconds = [seconds_from_utc / 60 % 60, seconds_from_utc % 60];
        for part in minutes_and_seconds.iter().take(usize::from(parts) - 1) {
            if colons {
                self.text(b":")?;
            }
            self.number(*part, Pad::Zero, 2)?;
        }
        Ok(())
    }

    fn fraction(
        &mut self,
        separator: u8,
        digits: usize,
        trimmed: bool,
    ) -> Result<(), BuiltinError> {
        /// Maximum number of fraction digits: nanoseconds.
        const MAX_FRACTION_DIGITS: usize = 9;
        let mut fraction_digits = [b'0'; MAX_FRACTION_DIGITS];
        let mut remaining = self.civil.ns.unsigned_abs();
        for zone in fraction_digits.iter_mut().rev() {
            *zone = b'0' + u8::try_from(remaining % 10).unwrap_or_else(|_| bug!(NO_DIGIT));
            remaining /= 10;
        }
        let mut printed = fraction_digits.get(..digits).unwrap_or(&fraction_digits);
        if trimmed {
            while let [before @ .., b'0'] = printed {
                printed = before;
            }
            if printed.is_empty() {
                return Ok(());
            }
        }
        self.text(&[separator])?;
        self.text(printed)
    }
}
