//! Rules that may give one row several values. Such a row is an error of the policy, so no filter may keep it.

use super::check::read;
use super::condition::{Comparison, Operand, Predicate, Test};
use super::refusal::Refusal;
use crate::impossible::Within as _;
use crate::partial::{Choice, Way};
use crate::program::constant;

/// Refuses choices between values that are not known to exclude one another.
pub fn clashes(choices: &[Choice], shorts: &[String]) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = Vec::new();
    for choice in choices {
        for (at, way) in choice.ways.iter().enumerate() {
            let others = choice.ways.within(at + 1..);
            let Some(other) = others.iter().find(|other| may_clash(way, other, shorts)) else {
                continue;
            };
            let message = format!(
                "rules may conflict for a row: values {} and {}",
                way.value, other.value
            );
            let refusal = Refusal::new(message, other.rule);
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }
    refusals
}

fn may_clash(one: &Way, other: &Way, shorts: &[String]) -> bool {
    if one.value == other.value {
        return false;
    }
    let mut keys = one.keys.iter().zip(&other.keys);
    let apart = keys
        .any(|(one, other)| constant(one).is_some() && constant(other).is_some() && one != other);
    if apart {
        return false;
    }
    let tests = |way: &Way| -> Vec<Test> {
        let exprs = way.body.iter();
        exprs
            .filter_map(|expr| read(expr, &way.body, shorts).ok())
            .collect()
    };
    let (ones, others) = (tests(one), tests(other));
    let pairs = |test: &Test| others.iter().any(|other| excludes(test, other));
    !ones.iter().any(pairs)
}

/// Whether no row passes both tests.
fn excludes(one: &Test, other: &Test) -> bool {
    if one.column != other.column {
        return false;
    }
    if one.predicate == other.predicate && one.negated != other.negated {
        return true;
    }
    if let (Some(few), _) | (_, Some(few)) = (values(one), values(other)) {
        let both = |value| one.passes(value) != Some(false) && other.passes(value) != Some(false);
        return !few.into_iter().any(both);
    }
    match (bound(one), bound(other)) {
        (Some((first, low)), Some((second, high))) if low == high => {
            !(first.holds(std::cmp::Ordering::Less) && second.holds(std::cmp::Ordering::Less)
                || first.holds(std::cmp::Ordering::Equal)
                    && second.holds(std::cmp::Ordering::Equal)
                || first.holds(std::cmp::Ordering::Greater)
                    && second.holds(std::cmp::Ordering::Greater))
        }
        (Some((first, Operand::Value(low))), Some((second, Operand::Value(high)))) => {
            let below = |comparison| matches!(comparison, Comparison::Lt | Comparison::Lte);
            let above = |comparison| matches!(comparison, Comparison::Gt | Comparison::Gte);
            below(first) && above(second) && low < high
                || above(first) && below(second) && high < low
        }
        _ => false,
    }
}

/// The only values that pass, where those are few.
fn values(test: &Test) -> Option<Vec<crate::value::V<'_>>> {
    match (&test.predicate, test.negated) {
        (Predicate::Compare(Comparison::Eq, Operand::Value(value)), false)
        | (Predicate::Compare(Comparison::Ne, Operand::Value(value)), true) => {
            Some(vec![value.borrow()])
        }
        (Predicate::In(values), false) => Some(values.iter().map(|value| value.borrow()).collect()),
        _ => None,
    }
}

/// The comparison that a test comes down to.
fn bound(test: &Test) -> Option<(Comparison, &Operand)> {
    let Predicate::Compare(comparison, operand) = &test.predicate else {
        return None;
    };
    let comparison = if test.negated {
        comparison.opposite()
    } else {
        *comparison
    };
    Some((comparison, operand))
}
