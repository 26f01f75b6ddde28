//! Differences between SQL dialects: literals, patterns, names.

use std::ops::RangeInclusive;

use crate::filter::column_functions::Ends;
use crate::filter::condition::{ComparisonOperator, SubstringPosition};
use crate::filter::decimal::Decimal;
use crate::filter::rejection::Rejection;

/// Syntax of a dialect for the elements of conditions.
pub trait Dialect {
    /// Returns the literal of a string.
    ///
    /// # Errors
    ///
    /// A string that the database cannot store.
    fn text(&self, text: &str) -> Result<String, String>;

    /// Returns the literal of a number; `in_list` if it is an element of a list.
    ///
    /// # Errors
    ///
    /// A number without an exact literal.
    fn number(&self, text: &str, in_list: bool) -> Result<String, String>;

    /// Returns the range of integer columns, over all integer types of the database.
    fn integers(&self) -> RangeInclusive<i128> {
        i128::from(i64::MIN)..=i128::from(i64::MAX)
    }

    /// Returns the literal of a boolean in this dialect.
    fn boolean(&self, truth: bool) -> &'static str;

    /// Returns a segment of a column's name; `segment` segments precede it.
    fn name(&self, name: &str, segment: usize) -> String;

    /// Returns the placeholder of a parameter. `number` starts at 1.
    fn placeholder(&self, number: usize) -> String;

    /// Returns the literal of a number that is independent of a column's type.
    ///
    /// # Errors
    ///
    /// A number without an exact literal.
    fn exact_number(&self, text: &str) -> Result<String, String>;

    /// Compares a column or a literal with another one by code point, independent of collations.
    ///
    /// # Errors
    ///
    /// A comparison that the database does not support.
    fn exact_texts(
        &self,
        left: &str,
        comparison: ComparisonOperator,
        right: &str,
    ) -> Result<String, String> {
        let (left, right) = self.exact_sides(left, right);
        Ok(format!("{left} {} {right}", comparison.sign()))
    }

    /// Returns both sides of a comparison, or of a `LIKE`, by code point, independent of collations.
    fn exact_sides(&self, column: &str, other: &str) -> (String, String);

    /// Returns a substring test by code point, if the dialect does not use `LIKE` for it; `part` writes the substring.
    ///
    /// # Errors
    ///
    /// The errors of `part`.
    fn search(
        &self,
        affix: SubstringPosition,
        column: &str,
        part: &mut dyn FnMut() -> Result<String, Rejection>,
    ) -> Result<Option<String>, Rejection> {
        let _ = (affix, column, part);
        Ok(None)
    }

    /// Returns a text column by code point, as an argument of a function.
    fn bytes(&self, column: &str) -> String {
        column.to_owned()
    }

    /// Removes the characters of a set from the ends of a text; `None` if the database has no such function.
    fn trim_text(&self, text: &str, ends: Ends, set: &str) -> Option<String> {
        let _ = (text, ends, set);
        None
    }

    /// Returns the length of a text in code points; `None` if the database cannot compute it exactly.
    fn char_count(&self, text: &str) -> Option<String> {
        let _ = text;
        None
    }

    /// Returns a substring test of two arbitrary expressions by code point, each of which is written several times;
    /// `None` if the database cannot test it exactly.
    fn substring_test(&self, affix: SubstringPosition, text: &str, part: &str) -> Option<String> {
        let _ = (affix, text, part);
        None
    }

    /// Maximum number of conditions in one chain. Databases parse a chain as an expression as deep as the chain is
    /// long.
    fn chain(&self) -> usize {
        usize::MAX
    }

    /// Returns the pattern of texts that contain a substring, with wildcards in it escaped.
    fn pattern(&self, affix: SubstringPosition, part: &str) -> Pattern {
        Pattern {
            text: affixed(affix, &escape_pattern(part, &['\\', '_', '%'])),
            escape: "",
        }
    }
}

/// The right side of `LIKE`.
pub struct Pattern {
    pub text: String,
    /// `ESCAPE` clause after the pattern.
    pub escape: &'static str,
}

/// Escapes the special characters of patterns in a text.
pub fn escape_pattern(part: &str, signs: &[char]) -> String {
    let mut text = String::with_capacity(part.len());
    for character in part.chars() {
        if signs.contains(&character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

pub fn affixed(affix: SubstringPosition, part: &str) -> String {
    match affix {
        SubstringPosition::Start => format!("{part}%"),
        SubstringPosition::End => format!("%{part}"),
        SubstringPosition::Within => format!("%{part}%"),
    }
}

/// Returns a text between single quotes, with quotes doubled. Backslashes stay.
pub fn double_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the message for a number without an exact literal.
pub fn inexact(text: &str, label: &str) -> String {
    format!("number {text} cannot be written exactly in {label}")
}

/// Returns a number in notation without an exponent.
///
/// # Errors
///
/// A message if `is_exact` is `false` for the number, or if the text is not a number.
pub fn plain(
    text: &str,
    label: &str,
    is_exact: impl Fn(&Decimal) -> bool,
) -> Result<String, String> {
    let decimal = Decimal::read(text).filter(is_exact);
    let decimal = decimal.ok_or_else(|| inexact(text, label))?;
    Ok(decimal.plain())
}

/// Largest integer that every integer type can hold.
const SMALLEST_TYPE: u64 = 32767;

/// Returns a number literal that takes the type of the other operand: quoted with a prefix if every integer type can
/// hold it, otherwise plain, if it has at most `digits` digits.
pub fn untyped(text: &str, label: &str, prefix: &str, digits: u64) -> Result<String, String> {
    let small = text
        .parse::<i64>()
        .is_ok_and(|number| number.unsigned_abs() <= SMALLEST_TYPE);
    if small {
        return Ok(format!("{prefix}'{text}'"));
    }
    plain(text, label, |decimal| decimal.width() <= digits)
}
