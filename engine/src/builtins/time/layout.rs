//! Layouts: formats of times, given by the text of 2006-01-02 15:04:05.999 -0700 MST in the format.

use std::convert::Infallible;
use std::sync::LazyLock;

use crate::bug::Within;
use crate::builtins::BuiltinContext;
use crate::builtins::patterns::{CompiledPattern, Family};

const RFC3339: &[u8] = b"2006-01-02T15:04:05Z07:00";

/// Layout of RFC 3339 with a fraction of a second.
const RFC3339_NANO: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

pub const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Length of abbreviated names.
pub const SHORT_NAME: usize = 3;

/// Returns the layout with a well-known name, or else the text itself.
fn resolve_name(layout: &[u8]) -> &[u8] {
    match layout {
        b"ANSIC" => b"Mon Jan _2 15:04:05 2006",
        b"UnixDate" => b"Mon Jan _2 15:04:05 MST 2006",
        b"RubyDate" => b"Mon Jan 02 15:04:05 -0700 2006",
        b"RFC822" => b"02 Jan 06 15:04 MST",
        b"RFC822Z" => b"02 Jan 06 15:04 -0700",
        b"RFC850" => b"Monday, 02-Jan-06 15:04:05 MST",
        b"RFC1123" => b"Mon, 02 Jan 2006 15:04:05 MST",
        b"RFC1123Z" => b"Mon, 02 Jan 2006 15:04:05 -0700",
        b"RFC3339" => RFC3339,
        b"RFC3339Nano" => RFC3339_NANO,
        other => other,
    }
}

pub fn rfc3339() -> &'static TimeLayout {
    static LAYOUT: LazyLock<TimeLayout> = LazyLock::new(|| TimeLayout::new(RFC3339));
    &LAYOUT
}

/// Returns the layout of RFC 3339 with a fraction of a second.
pub fn rfc3339_nano() -> &'static TimeLayout {
    static LAYOUT: LazyLock<TimeLayout> = LazyLock::new(|| TimeLayout::new(RFC3339_NANO));
    &LAYOUT
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pad {
    None,
    Space,
    Zero,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TimeField {
    LongYear,
    ShortYear,
    LongMonth,
    ShortMonth,
    Month(Pad),
    LongWeekday,
    ShortWeekday,
    Day(Pad),
    YearDay(Pad),
    Hour,
    Hour12(Pad),
    Minute(Pad),
    Second(Pad),
    /// `PM` or `pm`.
    Noon {
        upper: bool,
    },
    ZoneName,
    /// With `z` set, a zero offset is written as `Z`.
    Offset {
        z: bool,
        colons: bool,
        parts: u8,
    },
    /// Fraction of a second. Trailing zeros may be omitted.
    Fraction {
        separator: u8,
        digits: usize,
        trimmed: bool,
    },
}

/// Literal text, the field after it with its text, and the field after that.
#[derive(Clone, Copy)]
pub struct Chunk<'l> {
    pub literal: &'l [u8],
    pub field: Option<(TimeField, &'l [u8])>,
    pub next: Option<TimeField>,
}

pub struct TimeLayout {
    text: Box<[u8]>,
    fields: Box<[FieldPosition]>,
    /// `true` if it is a date, with or without a time, whose fields all have a fixed width.
    fixed: bool,
}

struct FieldPosition {
    field: TimeField,
    start: usize,
    end: usize,
}

impl CompiledPattern for TimeLayout {
    fn bytes(&self) -> usize {
        self.text.len() + self.fields.len() * size_of::<FieldPosition>()
    }
}

impl TimeLayout {
    /// Parses a layout, or the well-known one with this name.
    pub fn new(layout: &[u8]) -> Self {
        let text = resolve_name(layout);
        let mut fields = Vec::new();
        let mut position = 0;
        while let Some((first, tail)) = text.get(position..).and_then(<[u8]>::split_first) {
            match field(*first, tail) {
                Some((field, length)) => {
                    let (start, end) = (position, position + length);
                    fields.push(FieldPosition { field, start, end });
                    position = end;
                }
                None => position += 1,
            }
        }
        Self {
            fixed: is_fixed(&fields, text),
            text: text.into(),
            fields: fields.into(),
        }
    }

    /// Calls `run` with the cached layout for a text that is not constant.
    pub fn with<R>(call: &BuiltinContext<'_>, layout: &[u8], run: impl FnOnce(&Self) -> R) -> R {
        let result = call.patterns.with(
            Family::TimeLayout,
            layout,
            || Ok::<_, Infallible>(Self::new(layout)),
            run,
        );
        match result {
            Ok(result) => result,
        }
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Splits a text into the fields of a fixed-width layout. Returns `None` if the layout has variable fields, or if
    /// the text does not match it byte by byte.
    pub fn split_fields<'t>(
        &'t self,
        text: &'t [u8],
    ) -> Option<impl Iterator<Item = Option<(TimeField, &'t [u8])>> + 't> {
        if !self.fixed || text.len() != self.text.len() {
            return None;
        }
        let mut after = 0;
        // literals have a byte or two, so calling a comparison function would cost more than the loop
        let as_written = move |from: usize, to: usize| {
            let (Some(part), Some(layout_text)) = (text.get(from..to), self.text.get(from..to))
            else {
                return false;
            };
            part.iter()
                .zip(layout_text)
                .all(|(byte, layout_byte)| byte == layout_byte)
        };
        let end = self.fields.last().map_or(0, |field| field.end);
        as_written(end, text.len()).then(|| {
            self.fields.iter().map(move |field| {
                let literal = as_written(after, field.start);
                after = field.end;
                let digits = text.get(field.start..field.end)?;
                literal.then_some((field.field, digits))
            })
        })
    }

    /// Iterates over the fields, and the text after the last one.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let part = |from: usize, to: usize| self.text.within(from..to);
        let mut after = 0;
        (0..=self.fields.len()).map(move |index| {
            let field = self.fields.get(index);
            let start = field.map_or(self.text.len(), |field| field.start);
            let literal = part(after, start);
            after = field.map_or(start, |field| field.end);
            Chunk {
                literal,
                field: field.map(|field| (field.field, part(field.start, field.end))),
                next: self.fields.get(index + 1).map(|field| field.field),
            }
        })
    }
}

/// Returns the field at the start of a text, given its first byte and the rest, and the length of the field.
fn field(first: u8, tail: &[u8]) -> Option<(TimeField, usize)> {
    const FIELDS: &[(&[u8], TimeField)] = &[
        (b"January", TimeField::LongMonth),
        (b"Monday", TimeField::LongWeekday),
        (b"MST", TimeField::ZoneName),
        (b"002", TimeField::YearDay(Pad::Zero)),
        (b"01", TimeField::Month(Pad::Zero)),
        (b"02", TimeField::Day(Pad::Zero)),
        (b"03", TimeField::Hour12(Pad::Zero)),
        (b"04", TimeField::Minute(Pad::Zero)),
        (b"05", TimeField::Second(Pad::Zero)),
        (b"06", TimeField::ShortYear),
        (b"15", TimeField::Hour),
        (b"1", TimeField::Month(Pad::None)),
        (b"2006", TimeField::LongYear),
        (b"2", TimeField::Day(Pad::None)),
        (b"__2", TimeField::YearDay(Pad::Space)),
        (b"_2", TimeField::Day(Pad::Space)),
        (b"3", TimeField::Hour12(Pad::None)),
        (b"4", TimeField::Minute(Pad::None)),
        (b"5", TimeField::Second(Pad::None)),
        (b"PM", TimeField::Noon { upper: true }),
        (b"pm", TimeField::Noon { upper: false }),
    ];
    const OFFSETS: &[(&[u8], bool, u8)] = &[
        (b"070000", false, 3),
        (b"07:00:00", true, 3),
        (b"0700", false, 2),
        (b"07:00", true, 2),
        (b"07", false, 1),
    ];
    let follows = |pattern: &[u8]| {
        let (start, rest) = pattern.split_first()?;
        (*start == first && tail.starts_with(rest)).then_some(())
    };
    match first {
        // the underscore before a year is literal
        b'_' if tail.starts_with(b"2006") => return None,
        b'J' | b'M' => {
            let short = match (first, tail.get(..SHORT_NAME - 1)?) {
                (b'J', b"an") => Some(TimeField::ShortMonth),
                (b'M', b"on") => Some(TimeField::ShortWeekday),
                _ => None,
            };
            let is_word = tail.get(SHORT_NAME - 1).is_some_and(u8::is_ascii_lowercase);
            if let Some(field) = short.filter(|_| !is_word) {
                return Some((field, SHORT_NAME));
            }
        }
        b'-' | b'Z' => {
            let (form, colons, parts) = OFFSETS.iter().find(|(form, ..)| tail.starts_with(form))?;
            let z = first == b'Z';
            let (colons, parts) = (*colons, *parts);
            return Some((TimeField::Offset { z, colons, parts }, 1 + form.len()));
        }
        b'.' | b',' => {
            let digit = *tail.first().filter(|digit| b"09".contains(digit))?;
            let digits = tail.iter().take_while(|b| **b == digit).count();
            let number_goes_on = tail.get(digits).is_some_and(u8::is_ascii_digit);
            let field = TimeField::Fraction {
                separator: first,
                digits,
                trimmed: digit == b'9',
            };
            return (!number_goes_on).then_some((field, 1 + digits));
        }
        _ => {}
    }
    let (form, field) = FIELDS.iter().find(|(form, _)| follows(form).is_some())?;
    Some((*field, form.len()))
}

/// Returns `true` if the fields are year, month and day, and other fixed-width fields, each at most once. The name of a
/// zone has a fixed width at the end of the text.
fn is_fixed(fields: &[FieldPosition], text: &[u8]) -> bool {
    let kind = |field: &FieldPosition| match field.field {
        TimeField::LongYear => Some(0),
        TimeField::Month(Pad::Zero) | TimeField::ShortMonth => Some(1),
        TimeField::Day(Pad::Zero) => Some(2),
        TimeField::Hour => Some(3),
        TimeField::Minute(Pad::Zero) => Some(4),
        // a fraction is allowed before such text
        TimeField::Second(_) if matches!(text.get(field.end), Some(b'.' | b',')) => None,
        TimeField::Second(Pad::Zero) => Some(5),
        TimeField::Offset {
            z: false, parts: 2, ..
        } => Some(6),
        TimeField::ZoneName if field.end == text.len() => Some(6),
        _ => None,
    };
    let mut kinds = 0_u32;
    for field in fields {
        match kind(field) {
            Some(kind) if kinds & 1 << kind == 0 => kinds |= 1 << kind,
            _ => return false,
        }
    }
    kinds & 0b111 == 0b111
}
