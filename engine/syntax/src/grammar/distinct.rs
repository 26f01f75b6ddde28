//! Equal members of sets and equal keys of objects fall together where they are read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::ast::Term;

/// Up to this many, comparing all pairs is faster than hashing.
const FEW: usize = 8;

/// Keeps the first of equal members.
pub(super) fn members(members: Vec<Term>) -> Vec<Term> {
    let Some(repeated) = repetitions(&members, |member| member) else {
        return members;
    };
    let kept = members.into_iter().zip(repeated);
    kept.filter(|(_, first)| first.is_none())
        .map(|(member, _)| member)
        .collect()
}

/// Keeps the first of equal keys, with the last of their values.
pub(super) fn pairs(pairs: Vec<(Term, Term)>) -> Vec<(Term, Term)> {
    let Some(repeated) = repetitions(&pairs, |(key, _)| key) else {
        return pairs;
    };
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut kept: Vec<(Term, Term)> = Vec::new();
    for (index, ((key, value), first)) in pairs.into_iter().zip(repeated).enumerate() {
        let place = first.and_then(|first| places.get(&first));
        if let Some(pair) = place.and_then(|place| kept.get_mut(*place)) {
            pair.1 = value;
        } else {
            places.insert(index, kept.len());
            kept.push((key, value));
        }
    }
    kept
}

/// For each item, the index of the first one equal to it, if that is not itself; `None` if all are distinct.
fn repetitions<T>(items: &[T], key: impl Fn(&T) -> &Term) -> Option<Vec<Option<usize>>> {
    if items.len() <= FEW && all_differ(items, &key) {
        return None;
    }
    let mut seen: HashMap<&Term, usize> = HashMap::with_capacity(items.len());
    let firsts: Vec<Option<usize>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| match seen.entry(key(item)) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(place) => {
                place.insert(index);
                None
            }
        })
        .collect();
    firsts.iter().any(Option::is_some).then_some(firsts)
}

fn all_differ<T>(items: &[T], key: impl Fn(&T) -> &Term) -> bool {
    let mut rest = items.iter();
    while let Some(item) = rest.next() {
        if rest.clone().any(|other| key(other) == key(item)) {
            return false;
        }
    }
    true
}
