//! Comprehensions that are searched once for all values of the variables around them.

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Name, Term};

/// How a comprehension is searched once: with nothing bound, its solutions sorted by the variables that it shares with
/// the bodies around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// The shared variables, in the order of their names.
    pub shared: Box<[Name]>,
    /// The variables of its head that it binds.
    pub made: Box<[Name]>,
}

/// The comprehensions of some bodies that are searched once. They are known by where they are in memory, so the bodies
/// must stay there.
#[derive(Clone, Debug, Default)]
pub struct Keyed(HashMap<usize, Arc<Key>>);

impl Keyed {
    /// Adds a comprehension.
    pub fn insert(&mut self, comprehension: &Term, key: Key) {
        self.0
            .insert(std::ptr::from_ref(comprehension).addr(), Arc::new(key));
    }

    /// Adds the comprehensions of further bodies.
    pub fn add(&mut self, others: &Self) {
        let others = others.0.iter().map(|(at, key)| (*at, key.clone()));
        self.0.extend(others);
    }

    /// How a comprehension is searched once, if it is.
    pub fn get(&self, comprehension: &Term) -> Option<&Key> {
        let key = self.0.get(&std::ptr::from_ref(comprehension).addr())?;
        Some(key)
    }
}
