//! Partial evaluation: search with unknown values.
//!
//! An expression that depends on an unknown is saved instead of evaluated; the saved expressions of a solution are its
//! residual. A variable whose value depends on a saved expression is unknown from then on. Rules that depend on an
//! unknown are searched in place of the reference (inlined), or become support rules that residuals refer to.

mod captured;
mod choices;
mod closures;
mod deferred;
mod dependence;
mod else_chains;
mod every;
mod functions;
mod negation;
mod number_keys;
mod reference;
mod residual;
mod rules;
mod save;
mod state;
mod support;
mod terms;
mod with;

pub use choices::{Choice, Way, has_variables};
pub use dependence::Dependence;
pub use number_keys::NUMBER_TEXT;
pub(in crate::topdown) use number_keys::PossibleKey;
pub(in crate::topdown) use save::SavedKind;
pub(in crate::topdown) use state::PartialState;
pub use state::{Inlining, Residuals, Simplifier};
pub use terms::Terms;
