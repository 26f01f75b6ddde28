//! The rule index: what each rule needs, and the decision tree that asks for it.

mod build;
mod conditions;
mod opa_index;
#[cfg(feature = "regex")]
mod patterns;
mod symbolic;
mod texts;

use crate::value::Value;

pub use build::{Built, Proofs, build};
pub use conditions::{Condition, conditions};

/// Sets of rules smaller than this are tried one by one.
pub const WORTHWHILE: usize = 3;

/// What an answer of the index proves, so that no plan tests it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// An expression, by its position among those that are evaluated.
    Expr(u32),
    /// An argument in the head.
    Argument(u32),
}

/// A number of items.
fn length(items: usize) -> Value {
    Value::Int(i64::try_from(items).unwrap_or(i64::MAX))
}
