//! Partial evaluation: residuals of a query while a part of the documents is unknown.
//!
//! The search itself is [`crate::topdown::partial_eval`]. This module makes its results short and readable: variables that
//! are only another name for a term are replaced by it ([`propagate`]), and bodies that types rule out are dropped.

mod prints;
mod propagate;
mod sets;
mod shadow;
mod source;
mod terms;
mod text;
mod unassigned;
pub mod wildcards;

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Name, Term};

use crate::compile::{Compiled, Options, types};
use crate::topdown::partial_eval::Simplifier;

pub use crate::topdown::partial_eval::{
    Choice, Dependence, Inlining, NUMBER_TEXT, Residuals, Way, has_variables,
};

/// Simplifies residuals with the results of a compilation.
pub struct Simplification<'c> {
    /// The modules that the residuals were computed with.
    pub compiled: &'c Compiled,
    /// The options of the compiler, for residuals that are compiled again.
    pub options: &'c Options,
    /// The package below `data` of support rules.
    pub namespace: &'c str,
    /// `true` if calls of `print` are left out.
    pub silent: bool,
}

impl Simplification<'_> {
    /// Returns `true` if a reference may lead to rules, including support rules.
    fn leads_to_rules(&self, reference: &[Term]) -> bool {
        let tree = &self.compiled.rule_tree;
        let Some((node, depth)) = tree.longest_prefix(reference) else {
            return false;
        };
        let next = reference.get(depth);
        let support = depth == 1
            && next
                .and_then(Term::as_string)
                .is_some_and(|name| **name == *self.namespace);
        support || !tree.node(node).rules.is_empty() || !next.is_some_and(Term::is_scalar)
    }
}

impl Simplifier for Simplification<'_> {
    fn is_possible(&self, body: &Body) -> bool {
        types::allow(self.options, self.compiled, body)
    }

    fn simplify(&self, body: Body, live: &BTreeSet<Name>, given: &BTreeSet<Name>) -> Body {
        let body = if self.silent {
            prints::without_prints(body)
        } else {
            body
        };
        propagate::simplify(self, body, live, given)
    }
}
