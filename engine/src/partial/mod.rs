//! Partial evaluation: what a query comes down to while a part of the documents is unknown.
//!
//! The search itself is [`crate::walk::open`]. Here is what makes its results short and readable: variables that only
//! stand for something else are replaced by it ([`propagate`]), and bodies that types rule out are dropped.

mod propagate;
mod sets;
mod source;
mod text;

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Name};

use crate::compile::{Compiled, Options, types};
use crate::walk::open::Simplifier;

pub use crate::walk::open::{Inlining, Residuals};

/// Simplifies by what a compilation knows.
pub struct Simplification<'c> {
    /// The modules.
    pub compiled: &'c Compiled,
    /// How they were compiled.
    pub options: &'c Options,
}

impl Simplifier for Simplification<'_> {
    fn is_possible(&self, body: &Body) -> bool {
        types::allow(self.options, &self.compiled.types, body)
    }

    fn simplify(&self, body: Body, live: &BTreeSet<Name>) -> Body {
        propagate::simplify(self, body, live)
    }
}
