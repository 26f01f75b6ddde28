//! Validity times of certificates, as read and as RFC 3339.

use super::Asn1Error;
use crate::builtins::crypto::der::DerReader;

/// A point in time, with the UTC offset in its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970.
    pub seconds: i64,
    civil: [i64; 6],
    /// UTC offset in minutes.
    offset: i64,
}

/// Reads a `UTCTime` or `GeneralizedTime`. Fails if it is malformed or the next element has another tag.
pub fn read(reader: &mut DerReader<'_>) -> Result<Time, Asn1Error> {
    const UTC: u8 = 23;
    const GENERALIZED: u8 = 24;
    match reader.peek() {
        Some(UTC) => reader
            .take(UTC)
            .and_then(|text| parse(text, 2))
            .ok_or("x509: malformed UTCTime".into()),
        Some(GENERALIZED) => reader
            .take(GENERALIZED)
            .and_then(|text| parse(text, 4))
            .ok_or("x509: malformed GeneralizedTime".into()),
        _ => Err("x509: unsupported time format".into()),
    }
}

/// Parses a time whose year has the given number of digits. Returns `None` if it is malformed.
pub fn parse(text: &[u8], year_digits: usize) -> Option<Time> {
    let mut rest = text;
    let mut number = |digits: usize| {
        let (number, after) = rest.split_at_checked(digits)?;
        rest = after;
        number.iter().try_fold(0_i64, |number, byte| {
            byte.is_ascii_digit()
                .then(|| number * 10 + i64::from(byte - b'0'))
        })
    };
    let mut year = number(year_digits)?;
    let (month, day, hour, minute) = (number(2)?, number(2)?, number(2)?, number(2)?);
    // the short format may omit seconds
    let zone_next = text
        .get(year_digits + 8)
        .is_some_and(|byte| b"Z+-".contains(byte));
    let second = if year_digits == 2 && zone_next {
        0
    } else {
        number(2)?
    };
    if year_digits == 2 {
        year += if year >= 50 { 1900 } else { 2000 };
    }
    let offset = match rest {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), digits @ ..] if digits.len() == 4 => {
            rest = digits;
            let mut two = || {
                let (number, after) = rest.split_at_checked(2)?;
                rest = after;
                std::str::from_utf8(number).ok()?.parse::<u8>().ok()
            };
            let (hours, minutes) = (two()?, two()?);
            let east = i64::from(hours) * 60 + i64::from(minutes);
            // a zero offset is encoded as `Z`
            if hours > 24 || minutes > 59 || east == 0 {
                return None;
            }
            if *sign == b'-' { -east } else { east }
        }
        _ => return None,
    };
    let date = jiff::civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let epoch = jiff::civil::date(1970, 1, 1);
    let days = i64::from(date.since(epoch).ok()?.get_days());
    Some(Time {
        seconds: days * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60,
        civil: [year, month, day, hour, minute, second],
        offset,
    })
}

impl Time {
    /// Formats the time as in RFC 3339.
    pub fn rfc3339(&self) -> String {
        let [year, month, day, hour, minute, second] = self.civil;
        let local = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        match self.offset {
            0 => format!("{local}Z"),
            offset => {
                let sign = if offset < 0 { '-' } else { '+' };
                let minutes = offset.abs();
                format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}
