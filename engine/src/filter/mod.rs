//! Data filters: conditions on rows that stand for what a policy leaves open, as texts of SQL and as trees of UCAST.
//!
//! Partial evaluation leaves bodies, one of which must hold ([`crate::partial`]). [`check`] reads each of their expressions as
//! a test of a column, or refuses it; [`clash`] refuses rules that may give one row two values; [`sql`] and [`ucast`] write
//! what is left for a target. What such a filter promises stands in `docs/filters.md`.

mod annotated;
mod bare;
mod becoming;
mod check;
mod clash;
mod condition;
mod decimal;
mod hints;
mod mapping;
mod masks;
mod operand;
mod refusal;
mod sql;
mod target;
mod through;
mod ucast;
mod written;

pub use annotated::Blocks;
pub use becoming::{Becoming, Seen};
pub use check::{Fragment, check};
pub use clash::clashes;
pub use condition::Condition;
pub use hints::{Hints, may_hint, names_asked, unknown_names};
pub use mapping::{MappingError, Mappings};
pub use masks::{masks, together};
pub use operand::Names;
pub use refusal::Refusal;
pub use sql::{Manner, Statement, sql};
pub use target::FilterTarget;
pub use ucast::ucast;
pub use written::settled;
