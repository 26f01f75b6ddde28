//! Functions that policies apply to a column before a comparison.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use solon_syntax::ast::{Term, TermKind};

use super::condition::{ColumnName, ComparisonOperator, FilterOperand, Predicate};
use super::decimal::{Decimal, FLOOR_DIGITS};
use super::operand::{MappedNames, column};
use super::target::FilterTarget;
use crate::builtins::{simple_lower, simple_upper};
use crate::limits;
use crate::program::constant;
use crate::value::Value;

/// A function of a column's value. It is undefined for values that are not strings, or for [`ColumnFunction::Linear`],
/// not numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFunction {
    /// Converts to lower case.
    Lower,
    /// Converts to upper case.
    Upper,
    /// Removes the characters of a set from the ends.
    Trim(Ends, String),
    /// Length in code points.
    Count,
    Linear(Linear),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    Both,
    Left,
    Right,
}

/// The function `factor * x + offset`. Invariant: `factor` is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    factor: i128,
    offset: i128,
}

/// Maximum factor and offset. Invariant: `FACTORS * 2^64 + OFFSETS` is less than [`BEYOND`], so every result for an
/// integer of 64 bits lies between `-BEYOND` and `BEYOND`. Otherwise comparisons with longer numbers would be decided
/// incorrectly.
const FACTORS: u128 = 1 << 62;
const OFFSETS: u128 = 1 << 100;

/// Represents every number with more digits than [`Decimal::floor`] supports.
const BEYOND: i128 = 10_i128.pow(FLOOR_DIGITS);

/// Comparison of a number that is equivalent to a comparison of a linear function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solved {
    Compare(ComparisonOperator, i128),
    /// `true` if every number passes, `false` if none does.
    All(bool),
}

impl ColumnFunction {
    /// Returns the name used in rejections.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Trim(Ends::Both, _) => "trim",
            Self::Trim(Ends::Left, _) => "trim_left",
            Self::Trim(Ends::Right, _) => "trim_right",
            Self::Count => "count",
            Self::Linear(_) => "arithmetic",
        }
    }

    /// Returns `true` if a target supports the function with the same results.
    pub fn is_said_by(&self, target: FilterTarget) -> bool {
        match (self, target) {
            (_, target) if !target.is_sql() => false,
            (Self::Linear(_), _) => true,
            (_, FilterTarget::Sqlserver) => false,
            // MySQL trims a string, not a set of characters
            (Self::Trim(_, set), FilterTarget::Mysql) => set.chars().count() == 1,
            (Self::Trim(_, set), _) => !set.contains('\0'),
            // SQLite's `length` stops at a NUL character
            (Self::Count, FilterTarget::Sqlite) => false,
            _ => true,
        }
    }

    /// Returns `true` if the result is a number, not a string.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Count | Self::Linear(_))
    }

    /// Returns the mapping of characters of a case conversion.
    fn case(&self) -> Option<fn(char) -> char> {
        match self {
            Self::Lower => Some(simple_lower),
            Self::Upper => Some(simple_upper),
            _ => None,
        }
    }
}

/// Reads a call as functions of a column; `None` for other calls.
pub fn read_functions(
    terms: &[Term],
    names: MappedNames<'_>,
) -> Option<(ColumnName, Vec<ColumnFunction>)> {
    let (head, operands) = terms.split_first()?;
    let step = match (&*head.to_string(), operands) {
        ("lower", [_]) => ColumnFunction::Lower,
        ("upper", [_]) => ColumnFunction::Upper,
        ("count", [_]) => ColumnFunction::Count,
        ("trim_space", [_]) => ColumnFunction::Trim(Ends::Both, blanks()),
        ("trim", [_, set]) => ColumnFunction::Trim(Ends::Both, set.as_string()?.to_string()),
        ("trim_left", [_, set]) => ColumnFunction::Trim(Ends::Left, set.as_string()?.to_string()),
        ("trim_right", [_, set]) => ColumnFunction::Trim(Ends::Right, set.as_string()?.to_string()),
        ("plus" | "minus" | "mul", [left, right]) => return linear(head, left, right, names),
        _ => return None,
    };
    let (column, mut steps) = operand(operands.first()?, names)?;
    if !steps
        .iter()
        .all(|step| matches!(step, ColumnFunction::Trim(..)))
    {
        return None;
    }
    steps.push(step);
    Some((column, steps))
}

fn operand(term: &Term, names: MappedNames<'_>) -> Option<(ColumnName, Vec<ColumnFunction>)> {
    match &term.kind {
        TermKind::Ref(terms) => Some((column(terms, names)?, Vec::new())),
        TermKind::Call(terms) => read_functions(terms, names),
        _ => None,
    }
}

fn linear(
    head: &Term,
    left: &Term,
    right: &Term,
    names: MappedNames<'_>,
) -> Option<(ColumnName, Vec<ColumnFunction>)> {
    let (number, term, first) = match (integer(left), integer(right)) {
        (None, Some(number)) => (number, left, false),
        (Some(number), None) => (number, right, true),
        _ => return None,
    };
    let (column, steps) = operand(term, names)?;
    let Linear { factor, offset } = match steps.as_slice() {
        [] => Linear::IDENTITY,
        [ColumnFunction::Linear(inner)] => *inner,
        _ => return None,
    };
    let (factor, offset) = match (&*head.to_string(), first) {
        ("plus", _) => (factor, offset.checked_add(number)?),
        ("minus", false) => (factor, offset.checked_sub(number)?),
        ("minus", true) => (factor.checked_neg()?, number.checked_sub(offset)?),
        _ => (factor.checked_mul(number)?, offset.checked_mul(number)?),
    };
    let function = ColumnFunction::Linear(Linear { factor, offset });
    let is_bounded = factor.unsigned_abs() <= FACTORS && offset.unsigned_abs() <= OFFSETS;
    (factor != 0 && is_bounded).then(|| (column, vec![function]))
}

/// Returns the value of an integer constant, or `None` for other terms and numbers beyond 128 bits.
fn integer(term: &Term) -> Option<i128> {
    let value = constant(term)?;
    let (integer, is_whole) = decimal(&value)?.floor()?;
    is_whole.then_some(integer)
}

/// Returns the digits of a number; `None` for other values.
fn decimal(value: &Value) -> Option<Decimal> {
    let value = value.borrow();
    value.as_number()?;
    Decimal::read(&value.rego_text().to_string())
}

/// Returns the characters that `trim_space` removes.
fn blanks() -> String {
    ('\0'..='\u{3000}')
        .filter(|character| character.is_whitespace())
        .collect()
}

impl Linear {
    /// The identity function: the column itself.
    pub const IDENTITY: Self = Self {
        factor: 1,
        offset: 0,
    };

    /// Solves a comparison of this linear function with a number for its argument, an integer in `range`. Returns
    /// `None` if `value` is not a number. Invariant: every bound that it returns is within `range`; comparisons with
    /// other bounds are decided.
    pub fn solved(
        self,
        comparison: ComparisonOperator,
        value: &Value,
        range: &RangeInclusive<i128>,
    ) -> Option<Solved> {
        let decimal = decimal(value)?;
        let beyond = if decimal.is_negative() {
            -BEYOND
        } else {
            BEYOND
        };
        let (floor, is_whole) = decimal.floor().unwrap_or((beyond, true));
        let rest = floor - self.offset;
        let (comparison, rest) = match (self.factor < 0, is_whole) {
            (false, _) => (comparison, rest),
            (true, true) => (comparison.mirrored(), -rest),
            // the floor of the negated number
            (true, false) => (comparison.mirrored(), -rest - 1),
        };
        let factor = self.factor.abs();
        let low = rest.div_euclid(factor);
        let is_whole = is_whole && rest.rem_euclid(factor) == 0;
        let high = if is_whole { low } else { low + 1 };
        let (comparison, limit) = match comparison {
            ComparisonOperator::Eq | ComparisonOperator::Ne if !is_whole => {
                return Some(Solved::All(comparison == ComparisonOperator::Ne));
            }
            ComparisonOperator::Eq
            | ComparisonOperator::Ne
            | ComparisonOperator::Lte
            | ComparisonOperator::Gt => (comparison, low),
            ComparisonOperator::Lt | ComparisonOperator::Gte => (comparison, high),
        };
        // all integers of the range compare alike with a number outside
        Some(if limit > *range.end() {
            Solved::All(comparison.accepts(Ordering::Less))
        } else if limit < *range.start() {
            Solved::All(comparison.accepts(Ordering::Greater))
        } else {
            Solved::Compare(comparison, limit)
        })
    }
}

/// Removes the constants that the functions never return from a predicate.
///
/// # Errors
///
/// A message about what cannot be expressed.
pub fn restrict_to_range(
    steps: &[ColumnFunction],
    predicate: Predicate,
) -> Result<Predicate, String> {
    let Some(last) = steps.last() else {
        return Ok(predicate);
    };
    let name = last.word();
    let other_kind = || format!("{name}: compared with a value of another kind");
    let is_kind = |value: &Value| {
        let value = value.borrow();
        if last.is_number() {
            value.as_number().is_some()
        } else {
            value.utf8().is_some()
        }
    };
    let possible = |text: &str| {
        last.case()
            .is_none_or(|case| text.chars().all(|character| case(character) == character))
    };
    let result = match predicate {
        Predicate::Compare(comparison, FilterOperand::Value(value)) => {
            if !is_kind(&value) {
                return Err(other_kind());
            }
            let equation = matches!(comparison, ComparisonOperator::Eq | ComparisonOperator::Ne);
            if last.case().is_some() && !equation {
                return Err(format!("{name}: texts are only tested for equality"));
            }
            let is_possible = value.borrow().utf8().is_none_or(possible);
            match comparison {
                ComparisonOperator::Eq if !is_possible => Predicate::In(Vec::new()),
                _ if !is_possible => {
                    return Err(format!(
                        "{name}: no text is ever {}",
                        value.borrow().rego_text()
                    ));
                }
                _ => Predicate::Compare(comparison, FilterOperand::Value(value)),
            }
        }
        Predicate::In(values) => {
            if !values.iter().all(is_kind) {
                return Err(other_kind());
            }
            let values = values.into_iter();
            let values = values.filter(|value| value.borrow().utf8().is_none_or(possible));
            Predicate::In(values.collect())
        }
        Predicate::Affix(affix, part) => {
            if last.is_number() {
                return Err(other_kind());
            }
            if possible(&part) {
                Predicate::Affix(affix, part)
            } else {
                Predicate::In(Vec::new())
            }
        }
        Predicate::Compare(_, FilterOperand::Column(_))
        | Predicate::Part(..)
        | Predicate::Present
        | Predicate::NumberText(_) => {
            return Err(format!("{name}: compared with what is not known"));
        }
    };
    if letters(steps, &result).len() > limits::CASED_LETTERS {
        return Err(format!(
            "{name}: more than {} letters to replace",
            limits::CASED_LETTERS
        ));
    }
    Ok(result)
}

/// Returns the characters that a case conversion changes into a character of the predicate's constants: a text with
/// other characters equals none of the constants. A converted character is never converted again.
pub fn letters(steps: &[ColumnFunction], predicate: &Predicate) -> Vec<(char, char)> {
    let origins = match steps.last() {
        Some(ColumnFunction::Lower) => &*LOWER,
        Some(ColumnFunction::Upper) => &*UPPER,
        _ => return Vec::new(),
    };
    let mut characters: Vec<char> = match predicate {
        Predicate::Compare(_, FilterOperand::Value(value)) => texts(std::slice::from_ref(value)),
        Predicate::In(values) => texts(values),
        Predicate::Affix(_, part) => part.chars().collect(),
        _ => Vec::new(),
    };
    characters.sort_unstable();
    characters.dedup();
    let all = characters.into_iter().flat_map(|to| {
        let from = origins.get(&to).into_iter().flatten();
        from.map(move |from| (*from, to))
    });
    all.collect()
}

fn texts(values: &[Value]) -> Vec<char> {
    let texts = values.iter().filter_map(|value| value.utf8());
    texts.flat_map(str::chars).collect()
}

/// For each character, the characters that convert to it.
type Origins = BTreeMap<char, Vec<char>>;

static LOWER: LazyLock<Origins> = LazyLock::new(|| origins(simple_lower));
static UPPER: LazyLock<Origins> = LazyLock::new(|| origins(simple_upper));

fn origins(case: fn(char) -> char) -> Origins {
    let mut all = Origins::new();
    for from in '\0'..=char::MAX {
        let to = case(from);
        if to != from {
            all.entry(to).or_default().push(from);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_functions_cancel() {
        for (case, all) in [
            (simple_lower as fn(char) -> char, &*LOWER),
            (simple_upper, &*UPPER),
        ] {
            assert!(all.len() > 1_000);
            // otherwise the order of replacements would matter; the few characters whose conversion converts again
            // never occur in constants
            for (to, from) in all.iter().filter(|(to, _)| case(**to) == **to) {
                assert!(from.iter().all(|from| case(*from) == *to && from != to));
            }
        }
    }

    const COMPARISONS: [ComparisonOperator; 6] = [
        ComparisonOperator::Eq,
        ComparisonOperator::Ne,
        ComparisonOperator::Lt,
        ComparisonOperator::Lte,
        ComparisonOperator::Gt,
        ComparisonOperator::Gte,
    ];

    /// Checks that a solved comparison holds for the same numbers of the range as the comparison itself. The constant is given
    /// in quarters.
    fn agrees(linear: Linear, quarters: i128, range: &RangeInclusive<i128>) {
        let sign = if quarters < 0 { "-" } else { "" };
        let (integer, rest) = (quarters.abs() / 4, quarters.abs() % 4 * 25);
        let text = format!("{sign}{integer}.{rest:02}");
        let value = crate::value::json::read(text.as_bytes()).unwrap();
        for comparison in COMPARISONS {
            let solved = linear.solved(comparison, &value, range).unwrap();
            let bounds = [*range.start(), *range.end()];
            for number in bounds.iter().flat_map(|limit| limit - 40..limit + 40) {
                if !range.contains(&number) {
                    continue;
                }
                let multiple = 4 * (linear.factor * number + linear.offset);
                let truth = comparison.accepts(multiple.cmp(&quarters));
                let actual = match solved {
                    Solved::All(all) => all,
                    Solved::Compare(comparison, limit) => {
                        assert!(range.contains(&limit), "{limit}");
                        comparison.accepts(number.cmp(&limit))
                    }
                };
                assert_eq!(actual, truth, "{linear:?} {number} {comparison:?} {text}");
            }
        }
    }

    #[test]
    fn multiples_are_solved() {
        for factor in [-3, -2, -1, 1, 2, 3, 7] {
            for offset in [-5, 0, 4] {
                let linear = Linear { factor, offset };
                for quarters in -120..120 {
                    agrees(linear, quarters, &(-40..=40));
                }
            }
        }
    }

    #[test]
    fn bounds_stay_in_the_range() {
        let range = i128::from(i64::MIN)..=i128::from(i64::MAX);
        for factor in [-3, -1, 1, 2] {
            for offset in [-1, 0, 7, i128::from(i64::MAX)] {
                let linear = Linear { factor, offset };
                for number in [*range.start(), *range.end()] {
                    let multiple = 4 * (factor * number + offset);
                    for quarters in multiple - 13..multiple + 13 {
                        agrees(linear, quarters, &range);
                    }
                }
            }
        }
        let number = crate::value::json::read(b"-1e400").unwrap();
        let solved = Linear::IDENTITY.solved(ComparisonOperator::Gt, &number, &range);
        assert_eq!(solved, Some(Solved::All(true)));
    }
}
