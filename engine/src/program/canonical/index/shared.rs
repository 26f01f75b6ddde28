//! What the rules of one index have in common.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{ConditionOperand, Conditions, Constraint, Test};

/// What the published index knows of all its rules: the places at which it looks, in their order.
///
/// It looks at one place after the other. Where a rule may be found by one of several beginnings or ends of a text, or by
/// one of several values of which some are arrays, it asks for nothing behind.
pub struct Shared {
    /// Places that a rule compares with a value, by their turn.
    turns: BTreeMap<ConditionOperand, usize>,
}

/// What the rules say of a place.
struct Level {
    spread: OperandSpread,
    /// How often they ask for it.
    count: usize,
    /// Whether one compares it.
    is_compared: bool,
    /// Its number among the places.
    first: usize,
}

/// What a rule may find at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OperandSpread {
    /// One value.
    One,
    /// One of several values.
    Several,
    /// One of several beginnings or ends of a text.
    Ends,
}

impl Shared {
    /// That of the conditions of some rules.
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
                // what all alternatives ask for was asked for once, before they part
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

    /// Whether the index may ask a rule for less than its conditions.
    pub fn may_loosen(conditions: &Conditions) -> bool {
        conditions.alternatives.len() > 1
            || conditions
                .alternatives
                .iter()
                .any(|alternative| alternative.len() > 1 && alternative.iter().any(ends_path))
    }

    /// Takes away what the index does not ask for. Besides what lies behind, that is a place that no rule compares, where
    /// not all alternatives of a rule ask for it.
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

/// Whether all alternatives ask for a place.
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
        // one end that stands in front of the others is not seen beside them
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

/// Whether nothing is asked for behind.
fn ends_path(constraint: &Constraint) -> bool {
    let is_array = |test: &Test| matches!(test, Test::Items(_) | Test::Segments(..));
    let several = values(constraint) > 1;
    several
        && constraint
            .tests
            .iter()
            .any(|test| test.is_end() || is_array(test))
}
