//! SQLite: literals, patterns and quoted names.

use super::dialect::{Dialect, double_quotes, inexact, plain};
use super::names::{SqlKeywords, quote_name, sorted_keywords};
use crate::filter::column_functions::Ends;
use crate::filter::condition::SubstringPosition;
use crate::filter::decimal::Decimal;
use crate::filter::rejection::Rejection;
use crate::limits;

pub struct Sqlite;

/// Number of decimal digits that every float represents exactly.
const DIGITS: usize = 15;

/// Maximum digits in notation without an exponent, so that the number does not become an infinite float.
const WIDTH: u64 = 300;

/// Reserved words that must be quoted as table and column names.
static KEYWORDS: SqlKeywords = SqlKeywords::new(|| {
    sorted_keywords(
        "ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE CROSS \
         CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DISTINCT DROP ELSE ESCAPE \
         EXCEPT EXISTS FALSE FOREIGN FROM FULL GROUP HAVING IN INDEX INNER INSERT INTERSECT INTO IS ISNULL \
         JOIN LEFT LIMIT NATURAL NOT NOTHING NOTNULL NULL ON OR ORDER OUTER PRIMARY REFERENCES RETURNING \
         RIGHT SELECT SET TABLE THEN TO TRANSACTION TRUE UNION UNIQUE UPDATE USING VALUES WHEN WHERE",
    )
});

impl Dialect for Sqlite {
    fn text(&self, text: &str) -> Result<String, String> {
        Ok(double_quotes(text).replace('\0', "'||char(0)||'"))
    }

    /// Long integers with a decimal point or an exponent would be floats.
    fn number(&self, text: &str, _: bool) -> Result<String, String> {
        let is_told = |decimal: &Decimal| is_exact(decimal) && !becomes_integer(decimal);
        match Decimal::read(text).filter(is_told) {
            Some(long) if long.significant() > DIGITS => Ok(format!("'{}'", long.plain())),
            Some(_) => Ok(format!("'{text}'")),
            None => Err(inexact(text, "SQL (sqlite)")),
        }
    }

    /// `TRUE` would be a column of that name, if there is one.
    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "1" } else { "0" }
    }

    fn name(&self, name: &str, _: usize) -> String {
        quote_name(name, '"', Some(KEYWORDS.as_slice()))
    }

    fn exact_number(&self, text: &str) -> Result<String, String> {
        plain(text, "SQL (sqlite)", |decimal| {
            is_exact(decimal) && (is_integer(decimal) || decimal.significant() <= DIGITS)
        })
    }

    fn exact_sides(&self, column: &str, other: &str) -> (String, String) {
        (format!("{column} COLLATE BINARY"), other.to_owned())
    }

    /// `LIKE` folds case. These functions compare bytes, independent of the collation.
    fn search(
        &self,
        affix: SubstringPosition,
        column: &str,
        part: &mut dyn FnMut() -> Result<String, Rejection>,
    ) -> Result<Option<String>, Rejection> {
        Ok(Some(match affix {
            SubstringPosition::Start => format!("instr({column}, {}) = 1", part()?),
            SubstringPosition::Within => format!("instr({column}, {}) > 0", part()?),
            SubstringPosition::End => {
                let (length, text) = (part()?, part()?);
                let end = format!("-length(CAST({length} AS BLOB))");
                // `substr` of an empty blob is NULL
                let suffix = format!("ifnull(substr(CAST({column} AS BLOB), {end}), x'')");
                format!("{suffix} = CAST({text} AS BLOB)")
            }
        }))
    }

    fn trim_text(&self, text: &str, ends: Ends, set: &str) -> Option<String> {
        let function = match ends {
            Ends::Both => "trim",
            Ends::Left => "ltrim",
            Ends::Right => "rtrim",
        };
        Some(format!("{function}({text}, {set})"))
    }

    fn substring_test(&self, affix: SubstringPosition, text: &str, part: &str) -> Option<String> {
        Some(match affix {
            SubstringPosition::Start => format!("instr({text}, {part}) = 1"),
            SubstringPosition::Within => format!("instr({text}, {part}) > 0"),
            SubstringPosition::End => {
                let (bytes, part) = (blob(text), blob(part));
                // `substr` of an empty blob is NULL
                let end = format!("length({bytes}) - length({part}) + 1");
                let end = format!("ifnull(substr({bytes}, {end}), x'') = {part}");
                format!("({end} AND {text} IS NOT NULL)")
            }
        })
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn chain(&self) -> usize {
        limits::SQLITE_CHAIN
    }
}

/// Returns `true` if a number is compared exactly: a number that is not an integer becomes a float.
fn is_exact(decimal: &Decimal) -> bool {
    (decimal.is_integer() || decimal.significant() <= DIGITS) && decimal.width() <= WIDTH
}

/// Returns `true` if SQLite stores the number as an integer.
fn is_integer(decimal: &Decimal) -> bool {
    matches!(decimal.floor(), Some((whole, true)) if i64::try_from(whole).is_ok())
}

/// Returns `true` if the number is an integer beyond 64 bits that SQLite reads as a float which equals an integer of 64
/// bits. This happens only for negative numbers: `-2^63` is an integer of 64 bits, `2^63` is not.
#[expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "SQLite converts and compares the number in the same way"
)]
fn becomes_integer(decimal: &Decimal) -> bool {
    let smallest = i128::from(i64::MIN);
    matches!(decimal.floor(), Some((whole, true)) if whole < smallest && whole as f64 == smallest as f64)
}

/// Returns the blob literal of a text, so that SQLite compares bytes.
fn blob(text: &str) -> String {
    format!("CAST({text} AS BLOB)")
}
