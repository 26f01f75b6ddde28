//! Time of a log line, in RFC 3339 or in a Go layout: an example that shows how 2006-01-02 15:04:05 is formatted.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// Formats the current time, in UTC.
#[derive(Clone, Debug)]
pub struct Clock(Option<Arc<[LayoutPart]>>);

#[derive(Clone, Debug)]
enum LayoutPart {
    Literal(String),
    /// A field as a `strftime` directive.
    Field(&'static str),
    Fraction {
        separator: char,
        digits: usize,
        /// `true` if trailing zeros are omitted.
        is_trimmed: bool,
    },
}

/// Fields of layouts, with the equivalent `strftime` directives. The first matching entry is used.
const FIELDS: [(&str, &str); 23] = [
    ("January", "%B"),
    ("Jan", "%b"),
    ("Monday", "%A"),
    ("Mon", "%a"),
    ("002", "%j"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("1", "%-m"),
    ("2006", "%Y"),
    ("2", "%-d"),
    ("__2", "%_j"),
    ("_2", "%e"),
    ("3", "%-I"),
    ("4", "%-M"),
    ("5", "%-S"),
    ("PM", "%p"),
    ("pm", "%P"),
    ("MST", "UTC"),
];

/// UTC offsets of layouts, and their text for UTC.
const OFFSETS: [(&str, &str); 10] = [
    ("-070000", "+000000"),
    ("-07:00:00", "+00:00:00"),
    ("-0700", "+0000"),
    ("-07:00", "+00:00"),
    ("-07", "+00"),
    ("Z070000", "Z"),
    ("Z07:00:00", "Z"),
    ("Z0700", "Z"),
    ("Z07:00", "Z"),
    ("Z07", "Z"),
];

const NAMED: [(&str, &str); 10] = [
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
    ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
];

impl Clock {
    /// Creates a clock with a Go layout or the name of a well-known one. Without a layout, or with an empty one, times are in RFC
    /// 3339.
    pub fn new(layout: Option<&str>) -> Self {
        let layout = layout.filter(|layout| !layout.is_empty());
        Self(layout.map(|layout| {
            let named_layout = NAMED.iter().find(|(name, _)| *name == layout);
            split_layout(named_layout.map_or(layout, |(_, layout)| layout)).into()
        }))
    }

    /// Returns the current time in the layout of the log.
    pub fn now(&self) -> String {
        self.text(Timestamp::now())
    }

    fn text(&self, time: Timestamp) -> String {
        match &self.0 {
            None => rfc3339(time.as_second()),
            Some(parts) => {
                let time = TimeZone::UTC.to_datetime(time);
                parts.iter().map(|part| part.text(time)).collect()
            }
        }
    }
}

/// Returns seconds since 1970 in RFC 3339 format, in UTC.
fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

impl LayoutPart {
    fn text(&self, time: DateTime) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            // every directive of the table is valid for a date with a time
            Self::Field(directive) => strtime::format(directive, time).unwrap_or_default(),
            Self::Fraction {
                separator,
                digits,
                is_trimmed,
            } => {
                let nanoseconds = format!("{:09}", time.subsec_nanosecond());
                let digits_shown = nanoseconds.get(..*digits).unwrap_or(&nanoseconds);
                let digits_shown = if *is_trimmed {
                    digits_shown.trim_end_matches('0')
                } else {
                    digits_shown
                };
                if digits_shown.is_empty() {
                    String::new()
                } else {
                    format!("{separator}{digits_shown}")
                }
            }
        }
    }
}

/// Splits a layout into fields and literal texts.
fn split_layout(layout: &str) -> Vec<LayoutPart> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = layout;
    while let Some(c) = rest.chars().next() {
        let Some((part, length)) = field(rest) else {
            literal.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        if !literal.is_empty() {
            parts.push(LayoutPart::Literal(std::mem::take(&mut literal)));
        }
        parts.push(part);
        rest = rest.get(length..).unwrap_or_default();
    }
    parts.push(LayoutPart::Literal(literal));
    parts
}

/// Returns the part that a text starts with, unless it is literal, and its length.
fn field(text: &str) -> Option<(LayoutPart, usize)> {
    // the underscore is literal: a year is not padded
    if text.starts_with("_2006") {
        return None;
    }
    if let Some((form, literal)) = OFFSETS.iter().find(|(form, _)| text.starts_with(form)) {
        return Some((LayoutPart::Literal((*literal).to_owned()), form.len()));
    }
    if let Some(fraction) = fraction(text) {
        return Some(fraction);
    }
    let (form, directive) = FIELDS.iter().find(|(form, _)| {
        let rest = text.strip_prefix(form);
        // `Jan` and `Mon` may be the prefix of another word
        let is_word = ["Jan", "Mon"].contains(form)
            && rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        rest.is_some() && !is_word
    })?;
    Some((LayoutPart::Field(directive), form.len()))
}

/// Returns the fraction of a second that a text starts with: `.000`, `,999`, without another digit after it.
fn fraction(text: &str) -> Option<(LayoutPart, usize)> {
    let separator = text.chars().next().filter(|c| ".,".contains(*c))?;
    let rest = text.get(1..)?;
    let digit = rest.chars().next().filter(|c| "09".contains(*c))?;
    let after = rest.trim_start_matches(digit);
    let digits = rest.len() - after.len();
    let part = LayoutPart::Fraction {
        separator,
        digits,
        is_trimmed: digit == '9',
    };
    (!after.starts_with(|c: char| c.is_ascii_digit())).then_some((part, 1 + digits))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use solon::{Engine, Request};

    use super::{Clock, NAMED};

    /// `time.format` of the engine follows Go, so it must format every layout equally.
    #[test]
    fn layouts_are_those_of_time_format() {
        let engine = Engine::new();
        let query = r#"x := time.format([input.ns, "UTC", input.layout])"#;
        let query = engine.prepare_query(query).unwrap();
        let layouts = [
            "2006-01-02 15:04:05.000",
            "2006-01-02 15:04:05,000",
            "2006-01-02T15:04:05.999Z07:00",
            "2006-01-02T15:04:05.000000000Z0700",
            "15:04:05.99999999999",
            "15:04:05.00000000000",
            ".0001 ,9990 .0 .9 . , .x",
            "January Jan Janu Monday Mon Month Jany Money JanMon",
            "1 01 2 02 _2 002 __2 _2006 __2006 06 2006 20 200",
            "15 3 03 4 04 5 05 PM pm Pm",
            "MST -07 -0700 -07:00 -070000 -07:00:00 Z07 Z07:00 Z07:00:00 Z Z7 -7 -",
            "20060102150405",
            "100% %Y %d at 2006",
            "été 2006 – décembre",
            "no field",
        ];
        let layouts = layouts.into_iter().chain(NAMED.map(|(name, _)| name));
        for ns in [
            0_i64,
            1_700_000_000_123_400_000,
            951_782_400_000_000_000,
            1_735_689_599_999_999_999,
            4_107_542_400_000_000_001,
            1_709_211_845_120_000_000,
        ] {
            let time = Timestamp::from_nanosecond(i128::from(ns)).unwrap();
            for layout in layouts.clone() {
                let input = serde_json::json!({"ns": ns, "layout": layout}).to_string();
                let request = Request::new().input_json(input.as_bytes());
                let solutions = query.solutions(&request).unwrap();
                let (_, expected) = solutions.into_iter().next().unwrap().bindings.remove(0);
                let text = Clock::new(Some(layout)).text(time);
                assert_eq!(Some(text.as_str()), expected.as_str(), "{layout}, {ns}");
            }
        }
    }

    #[test]
    fn times_are_in_rfc_3339_without_a_layout() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let time = Timestamp::new(seconds, 999_999_999).unwrap();
            for clock in [Clock::new(None), Clock::new(Some(""))] {
                assert_eq!(clock.text(time), expected);
            }
        }
    }
}
