//! Fast path for times and durations in common formats, parsed in one pass. All others are parsed field by field.

use super::instant::{DAY, SECOND, days_in};
use super::layout::{MONTHS, SHORT_NAME, TimeField, TimeLayout};

/// A date and time whose fields are in their ranges.
struct DateTime {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    ns: i64,
    /// UTC offset in seconds.
    offset: i64,
}

impl DateTime {
    /// Returns the nanoseconds since 1970, if they fit 64 bits and all fields are in their ranges.
    #[inline]
    fn to_ns(&self) -> Option<i64> {
        let sound = self.month.wrapping_sub(1) < 12
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.has_day();
        if !sound {
            return None;
        }
        let time = self.hour * 3600 + self.minute * 60 + self.second;
        let seconds = self.days() * DAY + i64::from(time) - self.offset;
        seconds.checked_mul(SECOND)?.checked_add(self.ns)
    }

    /// Returns `true` if the month has the day. All months have 28 days.
    #[inline]
    fn has_day(&self) -> bool {
        self.day.wrapping_sub(1) < 28
            || (28..=days_in(self.year.into(), self.month.into())).contains(&self.day.into())
    }

    /// Returns the days since 1970 for a year of at most four digits. If years start in March, the leap day is at their
    /// end.
    #[inline]
    fn days(&self) -> i64 {
        /// Eras before year 0 that are added, so that no number is negative.
        const ERAS: u32 = 1;
        let early = u32::from(self.month < 3);
        let year = self.year + 400 * ERAS - early;
        let month = self.month + 12 * early - 3;
        let of_year = (153 * month + 2) / 5 + self.day - 1;
        let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year;
        i64::from(days) - i64::from(719_468 + 146_097 * ERAS)
    }
}

/// Returns the number that two digits denote.
#[inline]
fn two(high: u8, low: u8) -> u32 {
    10 * u32::from(high.wrapping_sub(b'0')) + u32::from(low.wrapping_sub(b'0'))
}

/// Returns `true` if all bytes are digits. Branch-free.
#[inline]
fn are_digits(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .fold(true, |sound, byte| sound & byte.is_ascii_digit())
}

/// Parses a UTC offset from a sign, hours and minutes, in seconds.
#[inline]
fn offset([sign, digits @ ..]: [u8; 5]) -> Option<i64> {
    let [h0, h1, m0, m1] = digits;
    let (hours, minutes) = (two(h0, h1), two(m0, m1));
    if !are_digits(&digits) || hours > 24 || minutes > 60 {
        return None;
    }
    let seconds = i64::from(hours * 3600 + minutes * 60);
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Parses a time with a fixed-width layout.
pub fn fixed(layout: &TimeLayout, value: &[u8]) -> Option<i64> {
    let mut time = DateTime {
        year: 0,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        ns: 0,
        offset: 0,
    };
    for part in layout.split_fields(value)? {
        let (field, text) = part?;
        let target = match (field, text) {
            (TimeField::LongYear, [y0, y1, y2, y3]) if are_digits(text) => {
                time.year = two(*y0, *y1) * 100 + two(*y2, *y3);
                continue;
            }
            (TimeField::ShortMonth, _) => {
                time.month = short_month(text)?;
                continue;
            }
            (TimeField::Offset { .. }, [sign, h0, h1, m0, m1] | [sign, h0, h1, b':', m0, m1]) => {
                time.offset = offset([*sign, *h0, *h1, *m0, *m1])?;
                continue;
            }
            // names of time zones do not affect the offset
            (TimeField::ZoneName, _) if text.iter().all(u8::is_ascii_uppercase) => continue,
            (TimeField::Month(_), _) => &mut time.month,
            (TimeField::Day(_), _) => &mut time.day,
            (TimeField::Hour, _) => &mut time.hour,
            (TimeField::Minute(_), _) => &mut time.minute,
            (TimeField::Second(_), _) => &mut time.second,
            _ => return None,
        };
        match *text {
            [high, low] if are_digits(text) => *target = two(high, low),
            _ => return None,
        }
    }
    time.to_ns()
}

/// Returns the number of a month, given its three-letter name in its common case.
#[inline]
fn short_month(name: &[u8]) -> Option<u32> {
    let is = |month: &&str| month.as_bytes().first_chunk::<SHORT_NAME>() == name.first_chunk();
    let index = MONTHS.iter().position(is)?;
    u32::try_from(index + 1).ok()
}

/// Parses a time in the most common format of RFC 3339. Returns `None` for other formats, and for fields out of range.
#[inline]
pub fn usual(value: &[u8]) -> Option<i64> {
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
    let digits = [
        y0, y1, y2, y3, m0, m1, d0, d1, h0, h1, n0, n1, s0, s1, b'0', b'0',
    ];
    if !are_digits(&digits) {
        return None;
    }
    let mut time = DateTime {
        year: two(y0, y1) * 100 + two(y2, y3),
        month: two(m0, m1),
        day: two(d0, d1),
        hour: two(h0, h1),
        minute: two(n0, n1),
        second: two(s0, s1),
        ns: 0,
        offset: 0,
    };
    let mut zone = rest;
    if let [b'.', digits @ ..] = rest {
        (time.ns, zone) = fraction(digits)?;
    }
    time.offset = match *zone {
        [b'Z'] => 0,
        [sign, h0, h1, b':', n0, n1] => offset([sign, h0, h1, n0, n1])?,
        _ => return None,
    };
    time.to_ns()
}

/// Parses up to nine digits as nanoseconds. Also returns the rest.
#[inline]
fn fraction(digits: &[u8]) -> Option<(i64, &[u8])> {
    const SCALES: [i64; 10] = [
        0,
        100_000_000,
        10_000_000,
        1_000_000,
        100_000,
        10_000,
        1_000,
        100,
        10,
        1,
    ];
    let (mut number, mut count, mut rest) = (0_i64, 0, digits);
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        if count == 9 {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
        (count, rest) = (count + 1, after);
    }
    let scale = *SCALES.get(count)?;
    (count > 0).then_some((number * scale, rest))
}

/// Parses a duration of integers with units, `1h30m`, in nanoseconds. Returns `None` for other formats and on overflow.
pub fn duration(text: &[u8]) -> Option<i64> {
    let (mut total, mut rest) = (0_u64, text);
    loop {
        let [first @ b'0'..=b'9', after @ ..] = rest else {
            return None;
        };
        let mut number = u64::from(first - b'0');
        rest = after;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            number = number.checked_mul(10)?.checked_add((digit - b'0').into())?;
            rest = after;
        }
        let unit;
        (unit, rest) = match rest {
            [b'h', after @ ..] => (3_600_000_000_000, after),
            [b'm', b's', after @ ..] => (1_000_000, after),
            [b'm', after @ ..] => (60_000_000_000, after),
            [b's', after @ ..] => (1_000_000_000, after),
            [b'u', b's', after @ ..] => (1_000, after),
            [b'n', b's', after @ ..] => (1, after),
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        if rest.is_empty() {
            return i64::try_from(total).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::duration;
    use super::super::layout::{self, TimeLayout};
    use super::super::parse::parse_fields;
    use super::{fixed, usual};

    /// Returns variants of a text with some of its bytes replaced, removed or duplicated.
    fn variants(text: &str) -> Vec<String> {
        let mut all = vec![text.to_owned()];
        for position in 0..text.len() {
            let (start, end) = text.split_at(position);
            let rest = end.get(1..).unwrap_or_default();
            for change in [
                "", "0", "1", "3", "6", "9", "-", "+", ":", " ", "Z", "a", ".5", "00",
            ] {
                all.push(format!("{start}{change}{rest}"));
                all.push(format!("{start}{change}{end}"));
            }
        }
        all
    }

    fn in_range(time: Option<i128>) -> Option<i64> {
        i64::try_from(time?).ok()
    }

    /// The fast path agrees with the full parser.
    #[test]
    fn the_fast_time_parser_agrees_with_the_full_parser() {
        let mut parsed_count = 0;
        for (form, texts) in [
            (
                "2006-01-02 15:04:05",
                &["2024-02-29 23:59:59", "1970-01-01 00:00:00"] as &[_],
            ),
            ("2006-01-02", &["1900-02-28", "2100-12-31", "0000-01-01"]),
            ("2006-01-02 15:04:05 -0700", &["2026-11-30 12:00:00 +0530"]),
            ("2006-01-02T15:04:05-07:00", &["2026-11-30T12:00:00-11:45"]),
            (
                "02 Jan 2006 15:04:05 MST",
                &["09 Feb 2031 01:02:03 UTC", "31 Dec 1999 23:00:00 CET"],
            ),
            ("2006-01-02 15:04:05.7", &["2026-01-02 03:04:05.7"]),
            ("MST 2006-01-02", &["CET 2026-01-02"]),
        ] {
            let layout = TimeLayout::new(form.as_bytes());
            for text in texts.iter().flat_map(|text| variants(text)) {
                if let Some(ns) = fixed(&layout, text.as_bytes()) {
                    let full_result = parse_fields(&layout, text.as_bytes()).ok().flatten();
                    assert_eq!(in_range(full_result), Some(ns), "{text} by {form}");
                    parsed_count += 1;
                }
            }
        }
        assert!(parsed_count > 300, "{parsed_count}");
        let rfc3339 = [
            "2026-03-01T08:09:10Z",
            "2024-02-29T23:59:59.123456789+02:00",
        ];
        for text in rfc3339.iter().flat_map(|text| variants(text)) {
            if let Some(ns) = usual(text.as_bytes()) {
                let full_result = parse_fields(layout::rfc3339(), text.as_bytes())
                    .ok()
                    .flatten();
                assert_eq!(in_range(full_result), Some(ns), "{text}");
            }
        }
    }

    #[test]
    fn the_fast_duration_parser_agrees_with_the_full_parser() {
        let mut parsed_count = 0;
        for text in [
            "1h30m",
            "15ms",
            "3us4ns",
            "2562047h47m16s",
            "9223372036854775807ns",
            "0s",
        ] {
            for text in variants(text) {
                if let Some(ns) = super::duration(text.as_bytes()) {
                    assert_eq!(duration::parse(text.as_bytes()).ok(), Some(ns), "{text}");
                    parsed_count += 1;
                }
            }
        }
        assert!(parsed_count > 50, "{parsed_count}");
    }
}
