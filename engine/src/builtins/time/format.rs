//! Times as text.

use jiff::Timestamp;

use super::instant::{Civil, Instant, SECOND};
use super::layout::{self, Field, MONTHS, Pad, SHORT_NAME};
use crate::builtins::call::push;
use crate::builtins::{Call, Fault, Operands};
use crate::value::V;

pub fn format<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let instant = Instant::read(operands.at(0))?;
    let civil = instant.civil();
    let layout = instant.layout.as_deref().unwrap_or_default();
    let mut rest = match layout {
        b"" => layout::RFC3339_NANO,
        layout => layout::named(layout),
    };
    let mut text = call.buffer();
    while !rest.is_empty() {
        let chunk = layout::next(rest);
        push(call, &mut text, chunk.literal)?;
        if let Some((field, _)) = chunk.field {
            push(call, &mut text, shown(field, &civil, &instant).as_bytes())?;
        }
        rest = chunk.rest;
    }
    Ok(call.text(text))
}

fn padded(number: i64, pad: Pad, width: usize) -> String {
    match pad {
        Pad::None => number.to_string(),
        Pad::Space => format!("{number:width$}"),
        Pad::Zero => format!("{number:0width$}"),
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(SHORT_NAME).collect()
}

/// How a field reads.
fn shown(field: Field, civil: &Civil, instant: &Instant) -> String {
    let month = || {
        let at = usize::try_from(civil.month - 1).ok();
        let name = at.and_then(|at| MONTHS.get(at));
        name.copied().unwrap_or_default()
    };
    match field {
        Field::LongYear => padded(civil.year, Pad::Zero, 4),
        Field::ShortYear => padded(civil.year % 100, Pad::Zero, 2),
        Field::LongMonth => month().to_owned(),
        Field::ShortMonth => shortened(month()),
        Field::Month(pad) => padded(civil.month, pad, 2),
        Field::LongWeekday => civil.weekday().to_owned(),
        Field::ShortWeekday => shortened(civil.weekday()),
        Field::Day(pad) => padded(civil.day, pad, 2),
        Field::YearDay(pad) => padded(civil.year_day(), pad, 3),
        Field::Hour => padded(civil.hour, Pad::Zero, 2),
        Field::Hour12(pad) => padded((civil.hour + 11) % 12 + 1, pad, 2),
        Field::Minute(pad) => padded(civil.minute, pad, 2),
        Field::Second(pad) => padded(civil.second, pad, 2),
        Field::Noon { upper } => match (civil.hour >= 12, upper) {
            (true, true) => "PM".to_owned(),
            (true, false) => "pm".to_owned(),
            (false, true) => "AM".to_owned(),
            (false, false) => "am".to_owned(),
        },
        Field::ZoneName => {
            let second = instant.ns.div_euclid(SECOND);
            let time = Timestamp::from_second(second).unwrap_or_default();
            let info = instant.zone.to_offset_info(time);
            info.abbreviation().to_owned()
        }
        Field::Offset { z, colons, parts } => offset(instant.offset(), z, colons, parts),
        Field::Fraction {
            separator,
            digits,
            trimmed,
        } => fraction(civil.ns, separator, digits, trimmed),
    }
}

fn offset(seconds: i64, z: bool, colons: bool, parts: u8) -> String {
    if z && seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds / 60 < 0 { '-' } else { '+' };
    let far = seconds.abs();
    let colon = if colons { ":" } else { "" };
    let mut text = format!("{sign}{:02}", far / 3600);
    for part in [far / 60 % 60, far % 60]
        .iter()
        .take(usize::from(parts) - 1)
    {
        text.push_str(colon);
        text.push_str(&padded(*part, Pad::Zero, 2));
    }
    text
}

fn fraction(ns: i64, separator: u8, digits: usize, trimmed: bool) -> String {
    // there are no places beyond nanoseconds
    let mut places: String = format!("{ns:09}").chars().take(digits).collect();
    if trimmed {
        places.truncate(places.trim_end_matches('0').len());
        if places.is_empty() {
            return places;
        }
    }
    format!("{}{places}", char::from(separator))
}
