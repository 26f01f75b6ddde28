//! From parsed modules to canonical bodies, in the published order of stages.
//!
//! [`PASSES`] is the order for modules, [`QUERY_PASSES`] the one for queries. Each pass rewrites the trees in
//! place and reports what it refuses. Recoverable errors let later passes run, so that one compilation shows
//! as many errors as it can; any other error ends it after its pass.

pub mod compilation;
pub mod rule_tree;

pub use compilation::{Compilation, Compiled, Options, Query};
