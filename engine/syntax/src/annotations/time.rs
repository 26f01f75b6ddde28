//! YAML timestamps.

use std::fmt::Write;

/// Parses a date, or a date and time, into RFC 3339 form: `2020-1-2`, `2020-1-2 3:4:5.6`, `2020-01-02T03:04:05Z`.
pub(super) fn parse(text: &str) -> Option<String> {
    let mut reader = TimestampReader { rest: text };
    let year = reader.exactly(4)?;
    reader.eat('-')?;
    let month = reader.number(1, 12)?;
    reader.eat('-')?;
    let day = reader.number(1, days_in(year, month))?;
    let mut out = format!("{year:04}-{month:02}-{day:02}T");
    if reader.rest.is_empty() {
        out.push_str("00:00:00Z");
        return Some(out);
    }
    let zoned = reader.eat('T').or_else(|| reader.eat('t')).is_some();
    if !zoned {
        reader.eat(' ')?;
    }
    let hour = reader.number(0, 23)?;
    reader.eat(':')?;
    let minute = reader.number(0, 59)?;
    reader.eat(':')?;
    let second = reader.number(0, 59)?;
    write!(out, "{hour:02}:{minute:02}:{second:02}").ok()?;
    if reader.eat('.').or_else(|| reader.eat(',')).is_some() {
        let digits = reader.digits();
        let nanoseconds = digits.get(..9).unwrap_or(digits).trim_end_matches('0');
        if digits.is_empty() {
            return None;
        }
        if !nanoseconds.is_empty() {
            write!(out, ".{nanoseconds}").ok()?;
        }
    }
    if zoned {
        out.push_str(&reader.zone()?);
    } else {
        out.push('Z');
    }
    reader.rest.is_empty().then_some(out)
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct TimestampReader<'a> {
    rest: &'a str,
}

impl<'a> TimestampReader<'a> {
    fn eat(&mut self, expected: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn digits(&mut self) -> &'a str {
        let tail = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = self.rest.strip_suffix(tail).unwrap_or_default();
        self.rest = tail;
        digits
    }

    fn exactly(&mut self, count: usize) -> Option<u32> {
        let digits = self.digits();
        if digits.len() == count {
            digits.parse().ok()
        } else {
            None
        }
    }

    /// Parses one or two digits and checks their range.
    fn number(&mut self, min: u32, max: u32) -> Option<u32> {
        let digits = self.digits();
        let value = if digits.len() <= 2 {
            digits.parse().ok()?
        } else {
            return None;
        };
        (min..=max).contains(&value).then_some(value)
    }

    /// Parses `Z` or `+hh:mm`.
    fn zone(&mut self) -> Option<String> {
        if self.eat('Z').is_some() {
            return Some("Z".to_owned());
        }
        let sign = self
            .rest
            .chars()
            .next()
            .filter(|c| matches!(c, '+' | '-'))?;
        self.eat(sign)?;
        let hours = self.exactly(2).filter(|hours| *hours <= 24)?;
        self.eat(':')?;
        let minutes = self.exactly(2).filter(|minutes| *minutes < 60)?;
        Some(if (hours, minutes) == (0, 0) {
            "Z".to_owned()
        } else {
            format!("{sign}{hours:02}:{minutes:02}")
        })
    }
}
