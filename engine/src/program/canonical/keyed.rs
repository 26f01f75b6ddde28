//! Comprehensions that are searched once for all values of the variables around them.

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Name, Term};

/// Search plan of a comprehension that is searched once: without bindings, with its solutions indexed by the variables
/// that it shares with outer bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComprehensionSearch {
    /// Shared variables, ordered by name.
    pub shared: Box<[Name]>,
    /// Variables of its head that it binds.
    pub made: Box<[Name]>,
}

/// Comprehensions that are searched once, by address. The bodies must not move.
#[derive(Clone, Debug, Default)]
pub struct Keyed(HashMap<usize, Arc<ComprehensionSearch>>);

impl Keyed {
    /// Adds a comprehension, identified by its address. The term must stay in place.
    pub fn insert(&mut self, comprehension: &Term, key: ComprehensionSearch) {
        self.0
            .insert(std::ptr::from_ref(comprehension).addr(), Arc::new(key));
    }

    /// Adds the comprehensions of further bodies.
    pub fn add(&mut self, others: &Self) {
        let others = others.0.iter().map(|(at, key)| (*at, key.clone()));
        self.0.extend(others);
    }

    /// Returns the search plan of a comprehension, if it is searched once.
    pub fn get(&self, comprehension: &Term) -> Option<&ComprehensionSearch> {
        let key = self.0.get(&std::ptr::from_ref(comprehension).addr())?;
        Some(key)
    }
}
