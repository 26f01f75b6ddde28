//! Times in their usual forms, read in one pass; what differs from them is read field by field.

use super::instant::{Civil, days_in};
use super::layout::{Field, Layout};
use super::parse::{fraction, places};

/// A time in a layout of numbers, each of which stands in its place and is in its range.
pub fn in_numbers(layout: &Layout, value: &[u8]) -> Option<i128> {
    let mut civil = Civil {
        year: 0,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        ns: 0,
    };
    for field in layout.numbers(value)? {
        let (field, digits) = field?;
        let mut number = 0;
        for byte in digits {
            if !byte.is_ascii_digit() {
                return None;
            }
            number = 10 * number + i64::from(byte - b'0');
        }
        let place = match field {
            Field::LongYear => &mut civil.year,
            Field::Month(_) => &mut civil.month,
            Field::Day(_) => &mut civil.day,
            Field::Hour => &mut civil.hour,
            Field::Minute(_) => &mut civil.minute,
            Field::Second(_) => &mut civil.second,
            _ => return None,
        };
        *place = number;
    }
    civil.to_ns(0).filter(|_| is_in_range(&civil))
}

fn is_in_range(civil: &Civil) -> bool {
    (1..=12).contains(&civil.month)
        && (1..=days_in(civil.year, civil.month)).contains(&civil.day)
        && civil.hour <= 23
        && civil.minute <= 59
        && civil.second <= 59
}

/// A time as nearly all are written, with each field in its place and in its range.
pub fn usual(value: &[u8]) -> Option<i128> {
    let (fixed, rest) = value.split_first_chunk::<19>()?;
    let [
        y0,
        y1,
        y2,
        y3,
        b'-',
        m0,
        m1,
        b'-',
        d0,
        d1,
        b'T',
        h0,
        h1,
        b':',
        n0,
        n1,
        b':',
        s0,
        s1,
    ] = *fixed
    else {
        return None;
    };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let two = |high, low| Some(digit(high)? * 10 + digit(low)?);
    let mut civil = Civil {
        year: two(y0, y1)? * 100 + two(y2, y3)?,
        month: two(m0, m1)?,
        day: two(d0, d1)?,
        hour: two(h0, h1)?,
        minute: two(n0, n1)?,
        second: two(s0, s1)?,
        ns: 0,
    };
    let mut zone = rest;
    if let [b'.', ..] = rest {
        let count = places(rest);
        (civil.ns, zone) = fraction(rest, count).filter(|_| count > 0)?;
    }
    let offset = match *zone {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), h0, h1, b':', n0, n1] => {
            let (hours, minutes) = (two(h0, h1)?, two(n0, n1)?);
            let seconds = (hours <= 24 && minutes <= 60).then_some(hours * 3600 + minutes * 60)?;
            if sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    civil.to_ns(offset).filter(|_| is_in_range(&civil))
}
