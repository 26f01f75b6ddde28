//! The rule index: conditions of each rule, and the decision tree that tests them.

mod build;
mod conditions;
mod opa_index;
mod patterns;
mod symbolic;
mod texts;

use crate::value::{Repr, Value};

pub use build::{Built, Proofs, build};
pub use conditions::{IndexCondition, conditions};

/// Minimum size of an indexed rule set; smaller sets are tried one by one.
pub const WORTHWHILE: usize = 3;

/// Check that an answer of the index implies, so that the plan omits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// An expression, by its index in evaluation order.
    Expr(u32),
    Argument(u32),
}

/// Returns an array length as a value, saturating.
fn length(items: usize) -> Value {
    Value(Repr::Int(i64::try_from(items).unwrap_or(i64::MAX)))
}
