//! What tells dialects apart.

use std::ops::RangeInclusive;

use crate::filter::column_functions::Ends;
use crate::filter::condition::{Affix, Comparison};
use crate::filter::decimal::Decimal;
use crate::filter::rejection::Rejection;

/// How a dialect writes what conditions are made of.
pub trait Dialect {
    /// The literal of a text.
    ///
    /// # Errors
    /// A text that the database cannot hold.
    fn text(&self, text: &str) -> Result<String, String>;

    /// The literal of a number; `listed` among others in a list.
    ///
    /// # Errors
    /// A number that no literal is exactly.
    fn number(&self, text: &str, listed: bool) -> Result<String, String>;

    /// Returns the range of integer columns, over all integer types of the database.
    fn integers(&self) -> RangeInclusive<i128> {
        i128::from(i64::MIN)..=i128::from(i64::MAX)
    }

    /// The literal of a truth value.
    fn boolean(&self, truth: bool) -> &'static str;

    /// A part of a column's name; `at` parts stand before it.
    fn name(&self, name: &str, at: usize) -> String;

    /// What stands for a parameter. They count from 1.
    fn placeholder(&self, at: usize) -> String;

    /// The literal of a number that stands for itself.
    ///
    /// # Errors
    /// A number that no literal is exactly.
    fn exact_number(&self, text: &str) -> Result<String, String>;

    /// A column, or a literal, compared with another one by code point, whatever their collations.
    ///
    /// # Errors
    /// A comparison that the database has no way to make.
    fn exact_texts(
        &self,
        left: &str,
        comparison: Comparison,
        right: &str,
    ) -> Result<String, String> {
        let (left, right) = self.exact_sides(left, right);
        Ok(format!("{left} {} {right}", comparison.sign()))
    }

    /// Both sides of a comparison, or of a `LIKE`, by code point, whatever the collation.
    fn exact_sides(&self, column: &str, other: &str) -> (String, String);

    /// A search for a text by code point, where that is not done by a `LIKE`; `part` writes the text that is looked for.
    ///
    /// # Errors
    /// Those of `part`.
    fn search(
        &self,
        affix: Affix,
        column: &str,
        part: &mut dyn FnMut() -> Result<String, Rejection>,
    ) -> Result<Option<String>, Rejection> {
        let _ = (affix, column, part);
        Ok(None)
    }

    /// A text column by code point, of which something is made.
    fn bytes(&self, column: &str) -> String {
        column.to_owned()
    }

    /// A text without the characters of a set at its ends; `None` where the database has no such function.
    fn trimmed(&self, text: &str, ends: Ends, set: &str) -> Option<String> {
        let _ = (text, ends, set);
        None
    }

    /// How many characters a text has; `None` where the database does not tell exactly.
    fn counted(&self, text: &str) -> Option<String> {
        let _ = text;
        None
    }

    /// Whether a text has another one in it, by code point, both of them any expressions that are written several times;
    /// `None` where the database does not tell exactly.
    fn located(&self, affix: Affix, whole: &str, part: &str) -> Option<String> {
        let _ = (affix, whole, part);
        None
    }

    /// How many conditions may stand side by side, where the database reads a chain of them as an expression as deep as
    /// the chain is long.
    fn chain(&self) -> usize {
        usize::MAX
    }

    /// The pattern of texts that have another one in them.
    fn pattern(&self, affix: Affix, part: &str) -> Pattern {
        Pattern {
            text: affixed(affix, &escaped(part, &['\\', '_', '%'])),
            escape: "",
        }
    }
}

/// The right side of `LIKE`.
pub struct Pattern {
    /// The pattern itself.
    pub text: String,
    /// What stands behind it to tell its escape.
    pub escape: &'static str,
}

/// A text in which signs of patterns stand for themselves.
pub fn escaped(part: &str, signs: &[char]) -> String {
    let mut text = String::with_capacity(part.len());
    for one in part.chars() {
        if signs.contains(&one) {
            text.push('\\');
        }
        text.push(one);
    }
    text
}

/// A pattern of texts with a part somewhere.
pub fn affixed(affix: Affix, part: &str) -> String {
    match affix {
        Affix::Start => format!("{part}%"),
        Affix::End => format!("%{part}"),
        Affix::Within => format!("%{part}%"),
    }
}

/// A text between single quotes, in which a quote is written twice.
pub fn doubled(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Refuses a number.
pub fn inexact(text: &str, label: &str) -> String {
    format!("number {text} cannot be written exactly in {label}")
}

/// A number without a power, of no more digits than these, if it is exact.
pub fn plain(
    text: &str,
    label: &str,
    is_exact: impl Fn(&Decimal) -> bool,
) -> Result<String, String> {
    let decimal = Decimal::read(text).filter(is_exact);
    let decimal = decimal.ok_or_else(|| inexact(text, label))?;
    Ok(decimal.plain())
}

/// The largest integer that every type of integers holds.
const SMALLEST_TYPE: u64 = 32767;

/// A number that is read as what it is compared with: in quotes behind a prefix where every type of integers holds it,
/// otherwise plain, if it has no more digits than these.
pub fn untyped(text: &str, label: &str, prefix: &str, digits: u64) -> Result<String, String> {
    let small = text
        .parse::<i64>()
        .is_ok_and(|number| number.unsigned_abs() <= SMALLEST_TYPE);
    if small {
        return Ok(format!("{prefix}'{text}'"));
    }
    plain(text, label, |decimal| decimal.width() <= digits)
}
