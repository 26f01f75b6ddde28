//! Removes duplicate members of sets.

use std::collections::HashSet;

use crate::ast::Term;

/// Number of members up to which comparing all pairs is faster than hashing.
const FEW: usize = 8;

/// Keeps the first of equal members.
pub(super) fn members(members: Vec<Term>) -> Vec<Term> {
    let Some(repeated) = repetitions(&members) else {
        return members;
    };
    let pairs = members.into_iter().zip(repeated);
    pairs
        .filter(|(_, repeated)| !repeated)
        .map(|(member, _)| member)
        .collect()
}

/// Returns for each member whether an equal one precedes it, or `None` if all are distinct.
fn repetitions(members: &[Term]) -> Option<Vec<bool>> {
    if members.len() <= FEW && all_differ(members) {
        return None;
    }
    let mut distinct: HashSet<&Term> = HashSet::with_capacity(members.len());
    let repeated: Vec<bool> = members
        .iter()
        .map(|member| !distinct.insert(member))
        .collect();
    repeated.contains(&true).then_some(repeated)
}

fn all_differ(members: &[Term]) -> bool {
    let mut rest = members.iter();
    while let Some(member) = rest.next() {
        if rest.clone().any(|other| other == member) {
            return false;
        }
    }
    true
}
