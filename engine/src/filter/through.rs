//! What policies make of a column before they compare it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use solon_syntax::ast::{Term, TermKind};

use super::condition::{Column, Comparison, Operand, Predicate};
use super::decimal::Decimal;
use super::operand::{Names, column};
use super::target::FilterTarget;
use crate::builtins::{simple_lower, simple_upper};
use crate::limits;
use crate::program::constant;
use crate::value::Value;

/// A function of a column's value. It has no value of what is no text, or for [`Through::Linear`] no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Through {
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
    factor: i64,
    offset: i64,
}

/// What a comparison with a multiple of a number says of the number itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solved {
    /// How it compares.
    Compare(Comparison, i128),
    /// All of them pass, or none.
    All(bool),
}

impl Through {
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
pub fn made(terms: &[Term], names: Names<'_>) -> Option<(Column, Vec<Through>)> {
    let (head, operands) = terms.split_first()?;
    let step = match (&*head.to_string(), operands) {
        ("lower", [_]) => Through::Lower,
        ("upper", [_]) => Through::Upper,
        ("count", [_]) => Through::Count,
        ("trim_space", [_]) => Through::Trim(Ends::Both, blanks()),
        ("trim", [_, set]) => Through::Trim(Ends::Both, set.as_string()?.to_string()),
        ("trim_left", [_, set]) => Through::Trim(Ends::Left, set.as_string()?.to_string()),
        ("trim_right", [_, set]) => Through::Trim(Ends::Right, set.as_string()?.to_string()),
        ("plus" | "minus" | "mul", [left, right]) => return linear(head, left, right, names),
        _ => return None,
    };
    let (column, mut steps) = operand(operands.first()?, names)?;
    if !steps.iter().all(|step| matches!(step, Through::Trim(..))) {
        return None;
    }
    steps.push(step);
    Some((column, steps))
}

fn operand(term: &Term, names: Names<'_>) -> Option<(Column, Vec<Through>)> {
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
) -> Option<(Column, Vec<Through>)> {
    let (number, term, first) = match (integer(left), integer(right)) {
        (None, Some(number)) => (number, left, false),
        (Some(number), None) => (number, right, true),
        _ => return None,
    };
    let (column, steps) = operand(term, names)?;
    let Linear { factor, offset } = match steps.as_slice() {
        [] => Linear {
            factor: 1,
            offset: 0,
        },
        [Through::Linear(inner)] => *inner,
        _ => return None,
    };
    let (factor, offset) = match (&*head.to_string(), first) {
        ("plus", _) => (factor, offset.checked_add(number)?),
        ("minus", false) => (factor, offset.checked_sub(number)?),
        ("minus", true) => (factor.checked_neg()?, number.checked_sub(offset)?),
        _ => (factor.checked_mul(number)?, offset.checked_mul(number)?),
    };
    let made = Through::Linear(Linear { factor, offset });
    (factor != 0).then(|| (column, vec![made]))
}

/// The integer that a constant is.
fn integer(term: &Term) -> Option<i64> {
    let value = constant(term)?;
    value.borrow().as_number()?;
    whole(&value)
}

fn whole(value: &Value) -> Option<i64> {
    let value = value.borrow();
    value.as_number()?;
    let decimal = Decimal::read(&value.to_string())?;
    // long numbers are written in full only where they fit
    if !decimal.is_integer() || decimal.width() > 19 {
        return None;
    }
    decimal.plain().parse().ok()
}

/// The characters that `trim_space` cuts off.
fn blanks() -> String {
    ('\0'..='\u{3000}')
        .filter(|one| one.is_whitespace())
        .collect()
}

impl Linear {
    /// What a comparison of it with a number says of the number that it is a multiple of; `None` for other numbers than
    /// integers.
    pub fn solved(self, comparison: Comparison, value: &Value) -> Option<Solved> {
        let rest = i128::from(whole(value)?) - i128::from(self.offset);
        let (comparison, rest) = if self.factor < 0 {
            (comparison.mirrored(), -rest)
        } else {
            (comparison, rest)
        };
        let factor = i128::from(self.factor).abs();
        let (low, is_whole) = (rest.div_euclid(factor), rest.rem_euclid(factor) == 0);
        let high = if is_whole { low } else { low + 1 };
        Some(match comparison {
            Comparison::Eq | Comparison::Ne if !is_whole => {
                Solved::All(comparison == Comparison::Ne)
            }
            Comparison::Eq | Comparison::Ne | Comparison::Lte | Comparison::Gt => {
                Solved::Compare(comparison, low)
            }
            Comparison::Lt | Comparison::Gte => Solved::Compare(comparison, high),
        })
    }
}

/// A predicate of what is made of a column, without the constants that nothing made so is.
///
/// # Errors
/// Why it cannot be said.
pub fn fitted(steps: &[Through], predicate: Predicate) -> Result<Predicate, String> {
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
            if let Through::Linear(linear) = last {
                let solved = linear.solved(comparison, &value);
                solved.ok_or_else(|| format!("{word}: integers of at most 64 bits only"))?;
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
            if matches!(last, Through::Linear(_))
                && !values.iter().all(|value| whole(value).is_some())
            {
                return Err(format!("{word}: integers of at most 64 bits only"));
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
        Predicate::Compare(_, Operand::Column(_)) | Predicate::Part(..) | Predicate::Present => {
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
pub fn letters(steps: &[Through], predicate: &Predicate) -> Vec<(char, char)> {
    let origins = match steps.last() {
        Some(Through::Lower) => &*LOWER,
        Some(Through::Upper) => &*UPPER,
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
    fn what_is_made_is_not_made_again() {
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

    #[test]
    fn multiples_are_solved() {
        for factor in [-3, -2, -1, 1, 2, 3, 7] {
            for offset in [-5, 0, 4] {
                let linear = Linear { factor, offset };
                for value in -30..30 {
                    for comparison in [
                        Comparison::Eq,
                        Comparison::Ne,
                        Comparison::Lt,
                        Comparison::Lte,
                        Comparison::Gt,
                        Comparison::Gte,
                    ] {
                        let solved = linear.solved(comparison, &Value::from(value)).unwrap();
                        for number in -40..40_i64 {
                            let truth = comparison.holds((factor * number + offset).cmp(&value));
                            let said = match solved {
                                Solved::All(all) => all,
                                Solved::Compare(comparison, bound) => {
                                    comparison.holds(i128::from(number).cmp(&bound))
                                }
                            };
                            assert_eq!(said, truth, "{factor} {number} {offset} {value}");
                        }
                    }
                }
            }
        }
    }
}
