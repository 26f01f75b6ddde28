//! The evaluator of plans: computes values, errors and prints.
//!
//! A generator step runs the rest of its block once for each element, so backtracking is the next iteration of a loop.
//! Values borrow from the program, the store's snapshot, the input and the arena; nothing counts references.

mod call;
mod collect;
mod compare;
mod conflict;
mod data;
mod early;
mod fast_path;
mod frame;
mod fused;
mod generate;
mod index;
mod inline_caches;
mod intrinsic;
mod join;
mod light;
mod machine;
mod memo;
mod memo_owner;
mod path;
mod precheck;
mod rules;
mod scope;
mod sink;
mod table;
mod terminator;
#[cfg(test)]
mod tests;
mod texts;

pub use data::EntryPoint;
pub use fast_path::{FastPath, FastResult};
pub use inline_caches::InlineCaches;
pub use machine::{EvalContext, InputSource, Machine};
