//! Data filters: residual policies as conditions on rows, in SQL and UCAST.
//!
//! Partial evaluation leaves bodies of which one must hold ([`crate::partial`]). [`check`] reads each of their
//! expressions as a test of a column or rejects it; [`conflicts()`] rejects rules that may give one row two values;
//! [`sql()`] and [`ucast()`] write the condition for a target. `docs/filters.md` specifies the guarantees of a filter.

mod annotated;
mod bare;
mod check;
mod column_functions;
mod condition;
mod conflicts;
mod decimal;
mod hints;
mod literals;
mod mapping;
mod masks;
mod operand;
mod rejection;
mod rule_tracker;
mod sql;
mod target;
mod ucast;

pub use annotated::Blocks;
pub use check::{FilterLanguage, check};
pub use condition::FilterCondition;
pub use conflicts::conflicts;
pub use hints::{Hints, input_names, may_hint, unknown_names};
pub use literals::resolve_literals;
pub use mapping::{MappingError, Mappings};
pub use masks::{masks, merge_masks};
pub use operand::MappedNames;
pub use rejection::Rejection;
pub use rule_tracker::{RuleTracker, TrackedRule};
pub use sql::{Manner, Statement, sql};
pub use target::FilterTarget;
pub use ucast::ucast;
