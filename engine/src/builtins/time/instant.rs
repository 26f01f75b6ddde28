//! Points in time, and their calendar dates and clock times.

use super::zone::TimeZoneRef;
use crate::bug::bug;
use crate::builtins::{BuiltinContext, BuiltinError, BuiltinErrorDetail, Operands};
use crate::value::{Number, RefRepr, TextView, ValueRef};

pub const SECOND: i64 = 1_000_000_000;

pub const DAY: i64 = 86_400;

/// A point in time in a time zone.
pub struct Instant<'e> {
    pub ns: i64,
    /// Name of the time zone. `None` for UTC.
    name: Option<ValueRef<'e>>,
    /// UTC offset in seconds.
    pub offset: i64,
    /// Third element of the operand, if any.
    pub layout: Option<TextView<'e>>,
}

/// Calendar date and clock time. Fields of a date may exceed their ranges until they are converted.
#[derive(Clone, Copy)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub ns: i64,
}

impl<'e> Instant<'e> {
    /// Parses nanoseconds, or an array of nanoseconds, a time zone and a layout.
    pub fn read(
        call: &mut BuiltinContext<'e>,
        operand: ValueRef<'e>,
    ) -> Result<Self, BuiltinError> {
        let Some(parts) = operand.as_array().filter(|parts| parts.len() > 1) else {
            let number = operand.as_number().ok_or_else(|| {
                BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
                    position: 1,
                    want: &["either number (ns) or [number (ns), string (tz)]"],
                    got: operand.kind().as_str().into(),
                }))
            });
            let number = match operand.as_array().and_then(|parts| parts.get(0)) {
                Some(first) => [first].number(0)?,
                None => number?,
            };
            return Ok(Self {
                ns: exact(number)?,
                name: None,
                offset: 0,
                layout: None,
            });
        };
        let part = |position| parts.get(position).unwrap_or_default();
        let ns = [part(0)].number(0)?;
        let name = part(1);
        TimeZoneRef::find(call, name)?;
        let layout = match parts.get(2) {
            Some(layout) => Some([layout].text(0)?),
            None => None,
        };
        let ns = exact(ns)?;
        Ok(Self {
            ns,
            offset: TimeZoneRef::last(call).offset(ns.div_euclid(SECOND)),
            name: Some(name),
            layout,
        })
    }

    pub fn zone(&self, call: &mut BuiltinContext<'e>) -> Result<TimeZoneRef, BuiltinError> {
        let Some(name) = self.name else {
            return Ok(TimeZoneRef::Utc);
        };
        TimeZoneRef::find(call, name)?;
        Ok(TimeZoneRef::last(call).clone())
    }

    /// Returns the same point in time in another time zone.
    pub fn within(self, zone: &TimeZoneRef) -> Self {
        Self {
            offset: zone.offset(self.ns.div_euclid(SECOND)),
            ..self
        }
    }

    /// Returns the date and the time of day in the time zone of the instant.
    pub fn civil(&self) -> Civil {
        let seconds = self.ns.div_euclid(SECOND) + self.offset;
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = date(days);
        Civil {
            year,
            month,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            ns: self.ns.rem_euclid(SECOND),
        }
    }
}

fn exact(number: Number<'_>) -> Result<i64, BuiltinError> {
    number
        .rounded_to_i64()
        .ok_or_else(|| BuiltinError::error("timestamp too big"))
}

/// Returns the time as a value, if it fits 64 bits.
pub fn checked_ns<'e>(ns: Option<i128>) -> Result<ValueRef<'e>, BuiltinError> {
    let ns = ns.and_then(|ns| i64::try_from(ns).ok());
    ns.map(|number| ValueRef(RefRepr::Int(number)))
        .ok_or_else(|| BuiltinError::error("time outside of valid range"))
}

impl Civil {
    /// Returns the days since 1970, or `None` for dates outside of the supported range.
    pub fn days(&self) -> Option<i64> {
        const FAR: i64 = 1_000_000_000;
        let months = self.year.checked_mul(12)?.checked_add(self.month - 1)?;
        let is_near = |number: i64| (-FAR..=FAR).contains(&number);
        if !is_near(months) || !is_near(self.day) {
            return None;
        }
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        // if years start in March, the leap day is at their end
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5;
        let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        Some(era * 146_097 + of_era - 719_468 + self.day - 1)
    }

    /// Converts to nanoseconds since 1970, given the UTC offset in seconds. Returns `None` for years out of range.
    pub fn to_ns(self, offset: i64) -> Option<i128> {
        let seconds =
            self.days()? * DAY + self.hour * 3600 + self.minute * 60 + self.second - offset;
        Some(i128::from(seconds) * i128::from(SECOND) + i128::from(self.ns))
    }

    /// Converts to nanoseconds since 1970 in a time zone. For times that the clock skips or repeats, uses the offset
    /// before or after the change, as Go does.
    pub fn to_ns_in(self, zone: &TimeZoneRef) -> Option<i128> {
        if let TimeZoneRef::Utc = zone {
            return self.to_ns(0);
        }
        let second = |ns: i128| i64::try_from(ns.div_euclid(SECOND.into())).ok();
        let guess = zone.offset(second(self.to_ns(0)?)?);
        let offset = zone.offset(second(self.to_ns(guess)?)?);
        self.to_ns(offset)
    }

    /// Returns the days since 1970 of a valid date.
    fn days_since_1970(&self) -> i64 {
        let days = self.days();
        days.unwrap_or_else(|| bug!("a time that is none"))
    }

    /// Returns the English name of the weekday.
    pub fn weekday(&self) -> &'static str {
        let index = (self.days_since_1970() + 4).rem_euclid(7);
        let name = usize::try_from(index)
            .ok()
            .and_then(|index| super::layout::DAYS.get(index));
        name.copied()
            .unwrap_or_else(|| bug!("a day without a name"))
    }

    pub fn year_day(&self) -> i64 {
        let start = Self {
            month: 1,
            day: 1,
            ..*self
        };
        1 + self.days_since_1970() - start.days_since_1970()
    }
}

pub fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns year, month and day for a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    // 32-bit divisions are faster, and nearly all dates are in the first eras
    if let Ok(days) = u32::try_from(days) {
        let (year, month, day) = date_of_era(days % ERA);
        return (i64::from(days / ERA * 400 + year), month.into(), day.into());
    }
    let of_era = days.rem_euclid(ERA.into());
    let (year, month, day) =
        date_of_era(u32::try_from(of_era).unwrap_or_else(|_| bug!("an era has no such day")));
    let era = days.div_euclid(ERA.into());
    (era * 400 + i64::from(year), month.into(), day.into())
}

/// Days of 400 years, the period of the calendar.
const ERA: u32 = 146_097;

/// Returns the year within an era, month and day for a number of days since March 1 of the era's first year.
fn date_of_era(days: u32) -> (u32, u32, u32) {
    let year = (days - days / 1460 + days / 36_524 - days / 146_096) / 365;
    let of_year = days - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + u32::from(month <= 2), month, day)
}
