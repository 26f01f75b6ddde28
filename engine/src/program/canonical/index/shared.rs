//! Common part of the rules of one index.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{ConditionOperand, Conditions, Constraint, Test};

/// Operands of a shared index, in OPA's order.
///
/// OPA's index tests one operand after another. If a rule may match one of several prefixes or suffixes, or one of
/// several values of which some are arrays, the index tests nothing after that operand.
pub struct Shared {
    /// Operands that a rule compares with a value, with their positions.
    turns: BTreeMap<ConditionOperand, usize>,
}

/// Notes of the rules about an operand.
struct Level {
    spread: OperandSpread,
    count: usize,
    is_compared: bool,
    /// Position among the operands.
    first: usize,
}

/// Number of alternatives of a rule for an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OperandSpread {
    One,
    Several,
    /// One of several prefixes or suffixes.
    Ends,
}

impl Shared {
    /// Computes the common part of the conditions of some rules.
    pub fn new<'c>(rules: impl IntoIterator<Item = &'c Conditions>) -> Self {
        let mut places: BTreeMap<&ConditionOperand, Level> = BTreeMap::new();
        for rule in rules {
            let mut own: BTreeMap<&ConditionOperand, Vec<&Constraint>> = BTreeMap::new();
            let mut order = Vec::new();
            for constraint in rule.alternatives.iter().flatten() {
                let asked = own.entry(&constraint.place).or_default();
                if asked.is_empty() {
                    order.push(&constraint.place);
                }
                asked.push(constraint);
            }
            for place in order {
                let asked = own.remove(place).unwrap_or_default();
                let counts = asked.iter().map(|one| one.count);
                // a test common to all alternatives counts once
                let once = counts.clone().min().filter(|_| always(place, rule));
                let again = once.map_or(0, |once| once * asked.len().saturating_sub(1));
                let count = counts.sum::<usize>().saturating_sub(again);
                let spreads = asked.iter().map(|one| spread(one));
                let spread = spreads.min().filter(|_| once.is_some());
                let level = level(&mut places, place);
                level.count += count;
                level.spread = level.spread.max(spread.unwrap_or(OperandSpread::One));
                level.is_compared |= asked.iter().any(|one| !one.tests.is_empty());
            }
            for membership in &rule.memberships {
                level(&mut places, &membership.key).count += 1;
            }
        }
        let mut levels: Vec<(&ConditionOperand, Level)> = places
            .into_iter()
            .filter(|(_, level)| level.is_compared)
            .collect();
        levels.sort_by_key(|(_, level)| (level.spread, Reverse(level.count), level.first));
        let turns = levels.into_iter().zip(0..);
        Self {
            turns: turns
                .map(|((place, _), turn)| (place.clone(), turn))
                .collect(),
        }
    }

    /// Returns `true` if the index may test a rule for less than its conditions.
    pub fn may_loosen(conditions: &Conditions) -> bool {
        conditions.alternatives.len() > 1
            || conditions
                .alternatives
                .iter()
                .any(|alternative| alternative.len() > 1 && alternative.iter().any(ends_path))
    }

    /// Removes conditions that the index does not test: those after the last tested operand, and operands that no rule
    /// compares, unless all alternatives of a rule test them.
    pub fn loosen(&self, conditions: &mut Conditions) {
        let asked: Vec<ConditionOperand> = conditions
            .alternatives
            .iter()
            .flatten()
            .map(|constraint| &constraint.place)
            .filter(|place| always(place, conditions))
            .cloned()
            .collect();
        for alternative in &mut conditions.alternatives {
            let ends = alternative
                .iter()
                .filter(|constraint| ends_path(constraint));
            let last = ends.filter_map(|end| self.turns.get(&end.place)).min();
            alternative.retain(|constraint| match self.turns.get(&constraint.place) {
                Some(turn) => last.is_none_or(|last| turn <= last),
                None => asked.contains(&constraint.place),
            });
        }
    }
}

fn level<'l, 'c>(
    places: &'l mut BTreeMap<&'c ConditionOperand, Level>,
    place: &'c ConditionOperand,
) -> &'l mut Level {
    let first = places.len();
    places.entry(place).or_insert(Level {
        spread: OperandSpread::One,
        count: 0,
        is_compared: false,
        first,
    })
}

/// Returns `true` if all alternatives test an operand.
fn always(place: &ConditionOperand, conditions: &Conditions) -> bool {
    conditions.alternatives.iter().all(|alternative| {
        let mut own = alternative.iter();
        own.any(|constraint| constraint.place == *place)
    })
}

/// Number of values of which one is enough.
fn values(constraint: &Constraint) -> usize {
    constraint.tests.iter().map(texts).sum()
}

fn texts(test: &Test) -> usize {
    match test {
        Test::Prefix(texts) | Test::Suffix(texts) => texts.len(),
        _ => 1,
    }
}

fn spread(constraint: &Constraint) -> OperandSpread {
    match (values(constraint), constraint.tests.as_slice()) {
        (0 | 1, _) => OperandSpread::One,
        // a single prefix or suffix before other tests is ignored
        (_, [first, others @ ..])
            if first.is_end() && texts(first) == 1 && !others.iter().any(Test::is_end) =>
        {
            match others {
                [_] => OperandSpread::One,
                _ => OperandSpread::Several,
            }
        }
        (_, tests) if tests.iter().any(Test::is_end) => OperandSpread::Ends,
        _ => OperandSpread::Several,
    }
}

/// Returns `true` if nothing is tested after this constraint.
fn ends_path(constraint: &Constraint) -> bool {
    let is_array = |test: &Test| matches!(test, Test::Items(_) | Test::Segments(..));
    let several = values(constraint) > 1;
    several
        && constraint
            .tests
            .iter()
            .any(|test| test.is_end() || is_array(test))
}
