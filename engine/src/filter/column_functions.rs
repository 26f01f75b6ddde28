//! What policies make of a column before they compare it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use solon_syntax::ast::{Term, TermKind};

use super::condition::{Column, Comparison, Operand, Predicate};
use super::decimal::{Decimal, FLOOR_DIGITS};
use super::operand::{Names, column};
use super::target::FilterTarget;
use crate::builtins::{simple_lower, simple_upper};
use crate::limits;
use crate::program::constant;
use crate::value::Value;

/// A function of a column's value. It has no value of what is no text, or for [`Through::Linear`] no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFunction {
    /// The text in small letters.
    Lower,
    /// The text in capital letters.
    Upper,
    /// The text without the characters of a set at its ends.
    Trim(Ends, String),
    /// How many characters the text has.
    Count,
    /// A multiple, and something more.
    Linear(Linear),
}

/// The ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Both.
    Both,
    /// The beginning.
    Left,
    /// The end.
    Right,
}

/// `factor` times a number and `offset` more. The factor is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    factor: i128,
    offset: i128,
}

/// Largest factor and largest offset. Invariant: `FACTORS * 2^64 + OFFSETS` is less than [`BEYOND`], so every result for an
/// integer of 64 bits lies between `-BEYOND` and `BEYOND`. Otherwise comparisons with longer numbers would be decided wrong.
const FACTORS: u128 = 1 << 62;
const OFFSETS: u128 = 1 << 100;

/// Stands for every number with more digits than [`Decimal::floor`] takes.
const BEYOND: i128 = 10_i128.pow(FLOOR_DIGITS);

/// What a comparison with a multiple of a number says of the number itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solved {
    /// How it compares.
    Compare(Comparison, i128),
    /// All of them pass, or none.
    All(bool),
}

impl ColumnFunction {
    /// What refusals call it.
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

    /// Whether a target can say it.
    pub fn is_said_by(&self, target: FilterTarget) -> bool {
        match (self, target) {
            (_, target) if !target.is_sql() => false,
            (Self::Linear(_), _) => true,
            (_, FilterTarget::Sqlserver) => false,
            // what it cuts off is a text, not a set of characters
            (Self::Trim(_, set), FilterTarget::Mysql) => set.chars().count() == 1,
            (Self::Trim(_, set), _) => !set.contains('\0'),
            // where a text has a NUL character, it ends for SQLite's length
            (Self::Count, FilterTarget::Sqlite) => false,
            _ => true,
        }
    }

    /// Whether it makes a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Count | Self::Linear(_))
    }

    /// The case that it changes characters to.
    fn case(&self) -> Option<fn(char) -> char> {
        match self {
            Self::Lower => Some(simple_lower),
            Self::Upper => Some(simple_upper),
            _ => None,
        }
    }
}

/// Reads a call as what is made of a column; `None` for anything else.
pub fn made(terms: &[Term], names: Names<'_>) -> Option<(Column, Vec<ColumnFunction>)> {
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

fn operand(term: &Term, names: Names<'_>) -> Option<(Column, Vec<ColumnFunction>)> {
    match &term.kind {
        TermKind::Ref(terms) => Some((column(terms, names)?, Vec::new())),
        TermKind::Call(terms) => made(terms, names),
        _ => None,
    }
}

fn linear(
    head: &Term,
    left: &Term,
    right: &Term,
    names: Names<'_>,
) -> Option<(Column, Vec<ColumnFunction>)> {
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
    let made = ColumnFunction::Linear(Linear { factor, offset });
    let is_bounded = factor.unsigned_abs() <= FACTORS && offset.unsigned_abs() <= OFFSETS;
    (factor != 0 && is_bounded).then(|| (column, vec![made]))
}

/// The integer that a constant is.
fn integer(term: &Term) -> Option<i128> {
    let value = constant(term)?;
    let (whole, is_whole) = decimal(&value)?.floor()?;
    is_whole.then_some(whole)
}

/// The digits of a number; `None` for other values.
fn decimal(value: &Value) -> Option<Decimal> {
    let value = value.borrow();
    value.as_number()?;
    Decimal::read(&value.to_string())
}

/// The characters that `trim_space` cuts off.
fn blanks() -> String {
    ('\0'..='\u{3000}')
        .filter(|one| one.is_whitespace())
        .collect()
}

impl Linear {
    /// The number itself.
    pub const IDENTITY: Self = Self {
        factor: 1,
        offset: 0,
    };

    /// Solves a comparison with a number for the integer that this is a multiple of, which lies in `range`. Returns `None` if
    /// `value` is not a number. Every bound that it returns lies in `range`: comparisons with others are decided.
    pub fn solved(
        self,
        comparison: Comparison,
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
            // the floor of the opposite
            (true, false) => (comparison.mirrored(), -rest - 1),
        };
        let factor = self.factor.abs();
        let low = rest.div_euclid(factor);
        let is_whole = is_whole && rest.rem_euclid(factor) == 0;
        let high = if is_whole { low } else { low + 1 };
        let (comparison, bound) = match comparison {
            Comparison::Eq | Comparison::Ne if !is_whole => {
                return Some(Solved::All(comparison == Comparison::Ne));
            }
            Comparison::Eq | Comparison::Ne | Comparison::Lte | Comparison::Gt => (comparison, low),
            Comparison::Lt | Comparison::Gte => (comparison, high),
        };
        // all integers of the range compare alike with what is outside
        Some(if bound > *range.end() {
            Solved::All(comparison.holds(Ordering::Less))
        } else if bound < *range.start() {
            Solved::All(comparison.holds(Ordering::Greater))
        } else {
            Solved::Compare(comparison, bound)
        })
    }
}

/// A predicate of what is made of a column, without the constants that nothing made so is.
///
/// # Errors
/// Why it cannot be said.
pub fn fitted(steps: &[ColumnFunction], predicate: Predicate) -> Result<Predicate, String> {
    let Some(last) = steps.last() else {
        return Ok(predicate);
    };
    let word = last.word();
    let other_kind = || format!("{word}: compared with a value of another kind");
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
            .is_none_or(|case| text.chars().all(|one| case(one) == one))
    };
    let made = match predicate {
        Predicate::Compare(comparison, Operand::Value(value)) => {
            if !is_kind(&value) {
                return Err(other_kind());
            }
            let equation = matches!(comparison, Comparison::Eq | Comparison::Ne);
            if last.case().is_some() && !equation {
                return Err(format!("{word}: texts are only tested for equality"));
            }
            let is_possible = value.borrow().utf8().is_none_or(possible);
            match comparison {
                Comparison::Eq if !is_possible => Predicate::In(Vec::new()),
                _ if !is_possible => {
                    return Err(format!("{word}: no text is ever {}", value.borrow()));
                }
                _ => Predicate::Compare(comparison, Operand::Value(value)),
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
        Predicate::Compare(_, Operand::Column(_))
        | Predicate::Part(..)
        | Predicate::Present
        | Predicate::NumberText(_) => {
            return Err(format!("{word}: compared with what is not known"));
        }
    };
    if letters(steps, &made).len() > limits::CASED_LETTERS {
        return Err(format!(
            "{word}: more than {} letters to replace",
            limits::CASED_LETTERS
        ));
    }
    Ok(made)
}

/// The characters that a change of case makes others of, as far as the constants of a predicate have those others: whatever
/// else a text has, it is none of those constants. What is made is never made of anything else again.
pub fn letters(steps: &[ColumnFunction], predicate: &Predicate) -> Vec<(char, char)> {
    let origins = match steps.last() {
        Some(ColumnFunction::Lower) => &*LOWER,
        Some(ColumnFunction::Upper) => &*UPPER,
        _ => return Vec::new(),
    };
    let mut asked: Vec<char> = match predicate {
        Predicate::Compare(_, Operand::Value(value)) => texts(std::slice::from_ref(value)),
        Predicate::In(values) => texts(values),
        Predicate::Affix(_, part) => part.chars().collect(),
        _ => Vec::new(),
    };
    asked.sort_unstable();
    asked.dedup();
    let all = asked.into_iter().flat_map(|to| {
        let from = origins.get(&to).into_iter().flatten();
        from.map(move |from| (*from, to))
    });
    all.collect()
}

fn texts(values: &[Value]) -> Vec<char> {
    let texts = values.iter().filter_map(|value| value.utf8());
    texts.flat_map(str::chars).collect()
}

/// The characters that each character is made of.
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
            // else the order of replacements would count; few characters are made of what is made again, and are never asked
            // for
            for (to, from) in all.iter().filter(|(to, _)| case(**to) == **to) {
                assert!(from.iter().all(|from| case(*from) == *to && from != to));
            }
        }
    }

    const COMPARISONS: [Comparison; 6] = [
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Lt,
        Comparison::Lte,
        Comparison::Gt,
        Comparison::Gte,
    ];

    /// Checks that a solved comparison holds for the same numbers of the range as the comparison itself. The constant is given
    /// in quarters.
    fn agrees(linear: Linear, quarters: i128, range: &RangeInclusive<i128>) {
        let sign = if quarters < 0 { "-" } else { "" };
        let (whole, rest) = (quarters.abs() / 4, quarters.abs() % 4 * 25);
        let text = format!("{sign}{whole}.{rest:02}");
        let value = crate::value::json::read(text.as_bytes()).unwrap();
        for comparison in COMPARISONS {
            let solved = linear.solved(comparison, &value, range).unwrap();
            let bounds = [*range.start(), *range.end()];
            for number in bounds.iter().flat_map(|bound| bound - 40..bound + 40) {
                if !range.contains(&number) {
                    continue;
                }
                let multiple = 4 * (linear.factor * number + linear.offset);
                let truth = comparison.holds(multiple.cmp(&quarters));
                let said = match solved {
                    Solved::All(all) => all,
                    Solved::Compare(comparison, bound) => {
                        assert!(range.contains(&bound), "{bound}");
                        comparison.holds(number.cmp(&bound))
                    }
                };
                assert_eq!(said, truth, "{linear:?} {number} {comparison:?} {text}");
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
        let far = crate::value::json::read(b"-1e400").unwrap();
        let solved = Linear::IDENTITY.solved(Comparison::Gt, &far, &range);
        assert_eq!(solved, Some(Solved::All(true)));
    }
}
