//! The rule index: the one place whose value tells most rules of a set apart.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::program::{Branch, Guard, GuardKey, Index};
use crate::value::Value;

/// Sets smaller than this are tried one by one.
const WORTHWHILE: usize = 3;

/// Builds the index of a set from the guards of each rule.
pub fn build(guards: &[Vec<Guard>]) -> Index {
    if guards.len() < WORTHWHILE {
        return Index::All;
    }
    let mut distinct: HashMap<&GuardKey, HashSet<&Value>> = HashMap::new();
    for guard in guards.iter().flatten() {
        distinct.entry(&guard.key).or_default().insert(&guard.value);
    }
    let best = distinct
        .into_iter()
        .max_by_key(|(key, values)| (values.len(), std::cmp::Reverse(order(key))));
    let Some((key, _)) = best.filter(|(_, values)| values.len() > 1) else {
        return Index::All;
    };
    let mut rest: Vec<u32> = Vec::new();
    let mut equal: BTreeMap<Value, Vec<u32>> = BTreeMap::new();
    for (at, guards) in (0_u32..).zip(guards) {
        match guards.iter().find(|guard| guard.key == *key) {
            Some(guard) => equal.entry(guard.value.clone()).or_default().push(at),
            None => rest.push(at),
        }
    }
    let equal = equal
        .into_iter()
        .map(|(value, list)| (value, list.into()))
        .collect();
    Index::By(Box::new(Branch {
        key: key.clone(),
        equal,
        rest: rest.into(),
    }))
}

/// A fixed order among places, so that equal programs have equal indexes.
fn order(key: &GuardKey) -> (u32, Vec<Value>) {
    match key {
        GuardKey::Argument(at) => (*at, Vec::new()),
        GuardKey::Input(path) => (u32::MAX, path.clone()),
    }
}
