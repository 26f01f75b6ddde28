//! Duplicate keys in object literals. OPA's tree keeps them; the last value of equal keys wins.

use std::collections::{HashMap, HashSet};

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut};
use solon_syntax::ast::{Body, Term, TermKind};

use super::facts::Facts;
use super::modules::Modules;

/// Removes duplicate keys from modules.
pub fn drop_from_modules(modules: &mut Modules) {
    for rule in modules.rules_with_mut(Facts::COLLECTION) {
        rule.walk_mut(&mut Shadowed);
    }
}

/// Removes duplicate keys from a query.
pub fn drop_from_query(query: &mut Body) {
    query.walk_mut(&mut Shadowed);
}

struct Shadowed;

impl VisitorMut for Shadowed {
    fn term(&mut self, term: &mut Term) -> Descent {
        if let TermKind::Object(pairs) = &mut term.kind
            && has_equal_keys(pairs)
        {
            *pairs = last_of_equal(std::mem::take(pairs).into_vec()).into();
        }
        Descent::Into
    }
}

fn has_equal_keys(pairs: &[(Term, Term)]) -> bool {
    let mut keys = HashSet::with_capacity(pairs.len());
    !pairs.iter().all(|(key, _)| keys.insert(key))
}

/// Keeps the first of equal keys, with the last of their values.
fn last_of_equal(pairs: Vec<(Term, Term)>) -> Vec<(Term, Term)> {
    let mut positions: HashMap<Term, usize> = HashMap::new();
    let mut last_pairs: Vec<(Term, Term)> = Vec::new();
    for (key, value) in pairs {
        let position = *positions.entry(key.clone()).or_insert(last_pairs.len());
        match last_pairs.get_mut(position) {
            Some(pair) => pair.1 = value,
            None => last_pairs.push((key, value)),
        }
    }
    last_pairs
}
