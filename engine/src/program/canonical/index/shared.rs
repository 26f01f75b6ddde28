//! What the rules of one index have in common.

use std::cmp::Reverse;

use super::{Conditions, Constraint, Place, Test};

/// What the published index knows of all its rules: the places at which it looks, in their order.
///
/// It looks at one place after the other. Where a rule may be found by one of several beginnings or ends of a text, or by
/// one of several values of which some are arrays, it asks for nothing behind.
pub struct Shared {
    /// Places that a rule compares with a value.
    levels: Vec<Level>,
}

struct Level {
    place: Place,
    /// How much it costs to look there, which comes first, and how often rules ask for it.
    rank: (Spread, Reverse<usize>),
}

/// What a rule may find at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spread {
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
        let mut places: Vec<(Level, bool)> = Vec::new();
        for rule in rules {
            let all = || rule.alternatives.iter().flatten();
            let mut seen: Vec<&Place> = Vec::new();
            for constraint in all() {
                let place = &constraint.place;
                if seen.contains(&place) {
                    continue;
                }
                seen.push(place);
                let own = || all().filter(|constraint| constraint.place == *place);
                let counts: Vec<usize> = own().map(|one| values(one).max(1)).collect();
                // what all alternatives ask for was asked for once, before they part
                let once = counts.iter().min().filter(|_| always(place, rule));
                let again = once.map_or(0, |once| once * (counts.len().saturating_sub(1)));
                let count = counts.iter().sum::<usize>().saturating_sub(again);
                let spread = match once {
                    Some(_) => own().map(spread).min().unwrap_or(Spread::One),
                    None => Spread::One,
                };
                let is_compared = own().any(|constraint| !constraint.tests.is_empty());
                note(&mut places, place, spread, count, is_compared);
            }
            for membership in &rule.memberships {
                note(&mut places, &membership.key, Spread::One, 1, false);
            }
        }
        let compared = places.into_iter().filter(|(_, is_compared)| *is_compared);
        let mut levels: Vec<Level> = compared.map(|(level, _)| level).collect();
        levels.sort_by_key(|level| level.rank);
        Self { levels }
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
        let asked: Vec<Place> = conditions
            .alternatives
            .iter()
            .flatten()
            .map(|constraint| &constraint.place)
            .filter(|place| always(place, conditions))
            .cloned()
            .collect();
        for alternative in &mut conditions.alternatives {
            let ends = self.levels.iter().position(|level| {
                let mut own = alternative.iter();
                own.any(|constraint| constraint.place == level.place && ends_path(constraint))
            });
            alternative.retain(|constraint| {
                let place = &constraint.place;
                match self.levels.iter().position(|level| level.place == *place) {
                    Some(at) => ends.is_none_or(|end| at <= end),
                    None => asked.contains(place),
                }
            });
        }
    }
}

fn note(
    places: &mut Vec<(Level, bool)>,
    place: &Place,
    spread: Spread,
    count: usize,
    is_compared: bool,
) {
    match places.iter_mut().find(|(level, _)| level.place == *place) {
        Some((level, compared)) => {
            let (old, Reverse(counted)) = level.rank;
            level.rank = (old.max(spread), Reverse(counted + count));
            *compared |= is_compared;
        }
        None => {
            let level = Level {
                place: place.clone(),
                rank: (spread, Reverse(count)),
            };
            places.push((level, is_compared));
        }
    }
}

/// Whether all alternatives ask for a place.
fn always(place: &Place, conditions: &Conditions) -> bool {
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

fn is_end(test: &Test) -> bool {
    matches!(test, Test::Prefix(_) | Test::Suffix(_))
}

fn spread(constraint: &Constraint) -> Spread {
    match values(constraint) {
        0 | 1 => Spread::One,
        _ if constraint.tests.iter().any(is_end) => Spread::Ends,
        _ => Spread::Several,
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
            .any(|test| is_end(test) || is_array(test))
}
