//! Parses times by a layout of Go, field by field.

use std::fmt::Write;

use super::instant::{Civil, days_in};
use super::layout::{self, DAYS, MONTHS, Pad, SHORT_NAME, TimeField, TimeLayout};
use super::usual::{fixed, usual};
use crate::builtins::BuiltinError;

/// Quotes a text. Bytes that are not ASCII are escaped.
pub fn quote(text: &[u8]) -> String {
    let mut quoted_text = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted_text.extend(['\\', char::from(*byte)]),
            b' '..=0x7f => quoted_text.push(char::from(*byte)),
            // writing to a string cannot fail
            _ => _ = write!(quoted_text, "\\x{byte:02x}"),
        }
    }
    quoted_text.push('"');
    quoted_text
}

/// Why a field is invalid.
enum Mismatch {
    Syntax,
    /// Value out of range, with the name of the field.
    Range(&'static str),
}

#[derive(Default)]
struct ParsedFields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    ns: i64,
    /// `true` after noon, on a 12-hour clock.
    noon: Option<bool>,
    /// UTC offset in seconds. Names of time zones do not affect it.
    offset: i64,
}

/// Parses a time by a layout, as nanoseconds since 1970. Returns `None` if it is out of range.
pub fn parse(layout: &TimeLayout, value: &[u8]) -> Result<Option<i128>, BuiltinError> {
    match fixed(layout, value) {
        Some(ns) => Ok(Some(ns.into())),
        None => parse_fields(layout, value),
    }
}

/// Parses a time field by field. In contrast to the fast path it reports errors.
pub(super) fn parse_fields(
    layout: &TimeLayout,
    value: &[u8],
) -> Result<Option<i128>, BuiltinError> {
    let mut parts = ParsedFields::default();
    let mut rest = value;
    for chunk in layout.chunks() {
        rest = skip(rest, chunk.literal)
            .map_err(|unmatched| mismatch(layout, value, unmatched, chunk.literal))?;
        if let Some((field, field_text)) = chunk.field {
            rest = parts
                .read(field, rest, chunk.next)
                .map_err(|reason| match reason {
                    Mismatch::Syntax => mismatch(layout, value, rest, field_text),
                    Mismatch::Range(field_name) => {
                        reject(value, &format!("{field_name} out of range"))
                    }
                })?;
        }
    }
    if !rest.is_empty() {
        return Err(reject(value, &format!("extra text: {}", quote(rest))));
    }
    parts.time().map_err(|reason| reject(value, reason))
}

/// Parses a time in the format of RFC 3339 to nanoseconds since 1970. Returns `None` if it is out of range.
pub fn parse_rfc3339(value: &[u8]) -> Result<Option<i128>, BuiltinError> {
    // everything else is parsed by the layout, which reports errors
    match usual(value) {
        Some(ns) => Ok(Some(ns.into())),
        None => parse(layout::rfc3339(), value),
    }
}

fn reject(value: &[u8], reason: &str) -> BuiltinError {
    BuiltinError::error(format!("parsing time {}: {reason}", quote(value)))
}

fn mismatch(
    layout: &TimeLayout,
    value: &[u8],
    unmatched: &[u8],
    layout_part: &[u8],
) -> BuiltinError {
    BuiltinError::error(format!(
        "parsing time {} as {}: cannot parse {} as {}",
        quote(value),
        quote(layout.text()),
        quote(unmatched),
        quote(layout_part)
    ))
}

/// Skips literal text, where a blank matches any number of blanks. The error is the position of a mismatch.
fn skip<'v>(mut value: &'v [u8], mut literal: &[u8]) -> Result<&'v [u8], &'v [u8]> {
    while let Some((first, after)) = literal.split_first() {
        match value.split_first() {
            Some((b' ', _)) | None if *first == b' ' => {
                literal = literal.trim_blanks();
                value = value.trim_blanks();
            }
            Some((char_found, rest)) if char_found == first => (value, literal) = (rest, after),
            _ => return Err(value),
        }
    }
    Ok(value)
}

trait Blanks {
    /// Returns the text without leading blanks. Other white space stays.
    fn trim_blanks(&self) -> &Self;
}

impl Blanks for [u8] {
    fn trim_blanks(&self) -> &Self {
        let start = self.iter().position(|b| *b != b' ');
        self.split_at(start.unwrap_or(self.len())).1
    }
}

/// Parses between `min` and `max` digits. Returns the number and the rest, or `Syntax` if there are fewer.
fn digits(value: &[u8], min: usize, max: usize) -> Result<(i64, &[u8]), Mismatch> {
    let count = value.iter().take(max).take_while(|b| b.is_ascii_digit());
    let (digits, rest) = value.split_at(count.count());
    if digits.len() < min {
        return Err(Mismatch::Syntax);
    }
    Ok((number(digits), rest))
}

fn number(digits: &[u8]) -> i64 {
    digits.iter().fold(0_i64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add((digit - b'0').into())
    })
}

/// Parses a number of up to `width` digits, or exactly `width` if it is padded with zeros.
fn padded_number(value: &[u8], pad: Pad, width: usize) -> Result<(i64, &[u8]), Mismatch> {
    let min = if pad == Pad::Zero { width } else { 1 };
    digits(value, min, width)
}

fn check_range(number: i64, last: i64, field_name: &'static str) -> Result<i64, Mismatch> {
    if number <= last {
        Ok(number)
    } else {
        Err(Mismatch::Range(field_name))
    }
}

/// Parses one of the names, ignoring case. Returns its index.
fn name<'v>(value: &'v [u8], names: &[&str], length: usize) -> Result<(i64, &'v [u8]), Mismatch> {
    for (index, name) in (0..).zip(names) {
        let name = name.as_bytes();
        let (name, _) = name.split_at(length.min(name.len()));
        if let Some((start, rest)) = value.split_at_checked(name.len())
            && start.eq_ignore_ascii_case(name)
        {
            return Ok((index, rest));
        }
    }
    Err(Mismatch::Syntax)
}

/// Parses a separator and the digits after it, as nanoseconds. Further digits are ignored.
fn fraction(value: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (_, digits) = value.split_first().filter(|(b, _)| b".,".contains(b))?;
    let (digits, rest) = digits.split_at_checked(count)?;
    let all = digits.iter().all(u8::is_ascii_digit);
    let digits_after_separator = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
    let ns =
        digits_after_separator.fold(0, |ns, digit| ns * 10 + i64::from(digit.wrapping_sub(b'0')));
    all.then_some((ns, rest))
}

fn digits_after_separator(value: &[u8]) -> usize {
    let digits = value.iter().skip(1);
    digits.take_while(|b| b.is_ascii_digit()).count()
}

/// Parses the abbreviated name of a time zone. Hours may follow `GMT`.
fn zone_name(value: &[u8]) -> Option<&[u8]> {
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(value.split_at(4).1);
    }
    if let Some(after) = value.strip_prefix(b"GMT") {
        return Some(signed_hours(after).unwrap_or(after));
    }
    if value.starts_with(b"+") || value.starts_with(b"-") {
        return signed_hours(value);
    }
    let letters = value.iter().take(6).take_while(|b| b.is_ascii_uppercase());
    let (name, rest) = value.split_at(letters.count());
    let is_zone = match name.len() {
        3 => true,
        4 => name.ends_with(b"T") || name == b"WITA",
        5 => name.ends_with(b"T"),
        _ => false,
    };
    is_zone.then_some(rest)
}

fn signed_hours(value: &[u8]) -> Option<&[u8]> {
    let (_, after) = value.split_first().filter(|(b, _)| b"+-".contains(b))?;
    let count = after.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = after.split_at(count);
    (count > 0 && number(digits) <= 23).then_some(rest)
}

impl ParsedFields {
    /// Parses a field and returns the rest. `next` is the field after it.
    fn read<'v>(
        &mut self,
        field: TimeField,
        value: &'v [u8],
        next: Option<TimeField>,
    ) -> Result<&'v [u8], Mismatch> {
        let rest;
        match field {
            TimeField::LongYear => (self.year, rest) = digits(value, 4, 4)?,
            TimeField::ShortYear => {
                let (year, after) = digits(value, 2, 2)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                rest = after;
            }
            TimeField::LongMonth | TimeField::ShortMonth => {
                let length = if field == TimeField::LongMonth {
                    usize::MAX
                } else {
                    SHORT_NAME
                };
                let (index, after) = name(value, &MONTHS, length)?;
                self.month = Some(index + 1);
                rest = after;
            }
            TimeField::Month(pad) => {
                let (month, after) = padded_number(value, pad, 2)?;
                if month == 0 {
                    return Err(Mismatch::Range("month"));
                }
                self.month = Some(check_range(month, 12, "month")?);
                rest = after;
            }
            TimeField::LongWeekday => (_, rest) = name(value, &DAYS, usize::MAX)?,
            TimeField::ShortWeekday => (_, rest) = name(value, &DAYS, SHORT_NAME)?,
            TimeField::Day(pad) => {
                let blank = value.strip_prefix(b" ").filter(|_| pad == Pad::Space);
                let (day, after) = padded_number(blank.unwrap_or(value), pad, 2)?;
                self.day = Some(day);
                rest = after;
            }
            TimeField::YearDay(pad) => {
                let blanks = value.iter().take(2).take_while(|b| **b == b' ').count();
                let blanks = if pad == Pad::Space { blanks } else { 0 };
                let (day, after) = padded_number(value.split_at(blanks).1, pad, 3)?;
                self.year_day = Some(day);
                rest = after;
            }
            TimeField::Hour => {
                let (hour, after) = digits(value, 1, 2)?;
                self.hour = check_range(hour, 23, "hour")?;
                rest = after;
            }
            TimeField::Hour12(pad) => {
                let (hour, after) = padded_number(value, pad, 2)?;
                self.hour = check_range(hour, 12, "hour")?;
                rest = after;
            }
            TimeField::Minute(pad) => {
                let (minute, after) = padded_number(value, pad, 2)?;
                self.minute = check_range(minute, 59, "minute")?;
                rest = after;
            }
            TimeField::Second(pad) => {
                let (second, after) = padded_number(value, pad, 2)?;
                self.second = check_range(second, 59, "second")?;
                // a fraction may follow that the layout does not contain
                rest = if matches!(next, Some(TimeField::Fraction { .. })) {
                    after
                } else {
                    self.optional_fraction(after)
                };
            }
            TimeField::Noon { upper } => {
                let (half_of_day, after) = value.split_at_checked(2).ok_or(Mismatch::Syntax)?;
                self.noon = Some(match (half_of_day, upper) {
                    (b"PM", true) | (b"pm", false) => true,
                    (b"AM", true) | (b"am", false) => false,
                    _ => return Err(Mismatch::Syntax),
                });
                rest = after;
            }
            TimeField::ZoneName => {
                if let Some(after) = value.strip_prefix(b"UTC") {
                    self.offset = 0;
                    return Ok(after);
                }
                rest = zone_name(value).ok_or(Mismatch::Syntax)?;
            }
            TimeField::Offset { z, colons, parts } => {
                if let Some(after) = value.strip_prefix(b"Z").filter(|_| z) {
                    self.offset = 0;
                    return Ok(after);
                }
                rest = self.offset(value, colons, parts)?;
            }
            TimeField::Fraction { trimmed: true, .. } => rest = self.optional_fraction(value),
            TimeField::Fraction { digits, .. } => {
                (self.ns, rest) = fraction(value, digits).ok_or(Mismatch::Syntax)?;
            }
        }
        Ok(rest)
    }

    fn optional_fraction<'v>(&mut self, value: &'v [u8]) -> &'v [u8] {
        match fraction(value, digits_after_separator(value))
            .filter(|_| digits_after_separator(value) > 0)
        {
            Some((ns, rest)) => {
                self.ns = ns;
                rest
            }
            None => value,
        }
    }

    fn offset<'v>(
        &mut self,
        value: &'v [u8],
        colons: bool,
        parts: u8,
    ) -> Result<&'v [u8], Mismatch> {
        const RANGES: [(i64, i64, &str); 3] = [
            (3600, 24, "time zone offset hour"),
            (60, 60, "time zone offset minute"),
            (1, 60, "time zone offset second"),
        ];
        let (sign, mut rest) = value.split_first().ok_or(Mismatch::Syntax)?;
        let mut seconds = 0;
        let mut range = Ok(());
        for (part, (unit, last, part_name)) in (0..parts).zip(RANGES) {
            if part > 0 && colons {
                rest = rest.strip_prefix(b":").ok_or(Mismatch::Syntax)?;
            }
            let (number, after) = digits(rest, 2, 2)?;
            if number > last {
                range = Err(Mismatch::Range(part_name));
            }
            seconds += number * unit;
            rest = after;
        }
        self.offset = match sign {
            b'+' => seconds,
            b'-' => -seconds,
            _ => return Err(Mismatch::Syntax),
        };
        range.map(|()| rest)
    }

    /// Combines the fields to nanoseconds since 1970. The error is Go's message, such as `day out of range`.
    fn time(mut self) -> Result<Option<i128>, &'static str> {
        match self.noon {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        if let Some(year_day) = self.year_day {
            self.set_year_day(year_day)?;
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if day < 1 || day > days_in(self.year, month) {
            return Err("day out of range");
        }
        let civil = Civil {
            year: self.year,
            month,
            day,
            hour: self.hour,
            minute: self.minute,
            second: self.second,
            ns: self.ns,
        };
        Ok(civil.to_ns(self.offset))
    }

    /// Sets month and day for a day of the year. Fails if they contradict fields that were parsed.
    fn set_year_day(&mut self, year_day: i64) -> Result<(), &'static str> {
        let (mut month, mut day) = (1, year_day);
        while month <= 12 && day > days_in(self.year, month) {
            day -= days_in(self.year, month);
            month += 1;
        }
        if year_day < 1 || month > 12 {
            return Err("day-of-year out of range");
        }
        if self.month.is_some_and(|parsed_month| parsed_month != month) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|parsed_day| parsed_day != day) {
            return Err("day-of-year does not match day");
        }
        (self.month, self.day) = (Some(month), Some(day));
        Ok(())
    }
}
