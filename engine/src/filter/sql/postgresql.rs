//! PostgreSQL: literals, patterns and quoted names.

use super::dialect::{Dialect, plain, untyped};
use super::names::{SqlKeywords, quote_name, sorted_keywords};
use crate::filter::column_functions::Ends;
use crate::filter::condition::SubstringPosition;

pub struct Postgresql;

/// Reserved words that must be quoted as table names. After a dot no word is reserved.
static KEYWORDS: SqlKeywords = SqlKeywords::new(|| {
    sorted_keywords(
        "ALL ANALYSE ANALYZE AND ANY ARRAY AS ASC ASYMMETRIC AUTHORIZATION BINARY BOTH CASE CAST CHECK \
         COLLATE COLLATION COLUMN CONCURRENTLY CONSTRAINT CREATE CROSS CURRENT_CATALOG CURRENT_DATE \
         CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEFAULT DEFERRABLE DESC \
         DISTINCT DO ELSE END EXCEPT FALSE FETCH FOR FOREIGN FREEZE FROM FULL GRANT GROUP HAVING ILIKE IN \
         INITIALLY INNER INTERSECT INTO IS ISNULL JOIN LATERAL LEADING LEFT LIKE LIMIT LOCALTIME \
         LOCALTIMESTAMP NATURAL NOT NOTNULL NULL OFFSET ON ONLY OR ORDER OUTER OVERLAPS PLACING PRIMARY \
         REFERENCES RETURNING RIGHT SELECT SESSION_USER SIMILAR SOME SYMMETRIC SYSTEM_USER TABLE \
         TABLESAMPLE THEN TO TRAILING TRUE UNION UNIQUE USER USING VARIADIC VERBOSE WHEN WHERE WINDOW WITH",
    )
});

/// Maximum digits of a number; the type `numeric` can hold more.
const DIGITS: u64 = 1_000;

impl Dialect for Postgresql {
    fn text(&self, text: &str) -> Result<String, String> {
        let mut literal = String::with_capacity(text.len() + 3);
        literal.push_str("E'");
        for character in text.chars() {
            match character {
                '\0' => return Err("text with a NUL character: PostgreSQL holds none".to_owned()),
                '\\' | '\'' | '"' => literal.extend(['\\', character]),
                '\n' => literal.push_str("\\n"),
                '\r' => literal.push_str("\\r"),
                '\t' => literal.push_str("\\t"),
                '\u{8}' => literal.push_str("\\b"),
                _ => literal.push(character),
            }
        }
        literal.push('\'');
        Ok(literal)
    }

    fn number(&self, text: &str, _: bool) -> Result<String, String> {
        untyped(text, "SQL (postgresql)", "E", DIGITS)
    }

    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "TRUE" } else { "FALSE" }
    }

    fn name(&self, name: &str, segment: usize) -> String {
        quote_name(name, '"', (segment == 0).then(|| KEYWORDS.as_slice()))
    }

    fn exact_number(&self, text: &str) -> Result<String, String> {
        plain(text, "SQL (postgresql)", |decimal| {
            decimal.width() <= DIGITS
        })
    }

    fn exact_sides(&self, column: &str, other: &str) -> (String, String) {
        (format!("{column} COLLATE \"C\""), other.to_owned())
    }

    fn bytes(&self, column: &str) -> String {
        format!("{column} COLLATE \"C\"")
    }

    fn trim_text(&self, text: &str, ends: Ends, set: &str) -> Option<String> {
        let function = match ends {
            Ends::Both => "btrim",
            Ends::Left => "ltrim",
            Ends::Right => "rtrim",
        };
        Some(format!("{function}({text}, {set})"))
    }

    fn char_count(&self, text: &str) -> Option<String> {
        Some(format!("char_length({text})"))
    }

    fn substring_test(&self, affix: SubstringPosition, text: &str, part: &str) -> Option<String> {
        let text = self.bytes(text);
        Some(match affix {
            SubstringPosition::Start => format!("strpos({text}, {part}) = 1"),
            SubstringPosition::Within => format!("strpos({text}, {part}) > 0"),
            SubstringPosition::End => format!("right({text}, char_length({part})) = {part}"),
        })
    }

    fn placeholder(&self, number: usize) -> String {
        format!("${number}")
    }
}
