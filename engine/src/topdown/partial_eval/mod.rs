//! Searching where not everything is known.
//!
//! What depends on the unknown is not evaluated but saved: the saved expressions of a solution are what the solution
//! still depends on. A variable whose value hangs on a saved expression is unknown from there on. Rules that depend
//! on the unknown are searched in place of the reference (they are inlined), or become support rules that what is
//! saved refers to.

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
