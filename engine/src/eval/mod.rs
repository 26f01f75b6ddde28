//! The fast machine: runs plans and yields values, errors and prints.
//!
//! A generator step runs the rest of its block once for each element, so backtracking is the next turn of a
//! loop. Values in flight borrow from the program, the store's snapshot, the input and the arena; nothing
//! counts references.

mod call;
mod collect;
mod compare;
mod conflict;
mod data;
mod early;
mod frame;
mod generate;
mod glance;
mod index;
mod inline_caches;
mod join;
mod leaf;
mod light;
mod machine;
mod memo;
mod path;
mod quick;
mod rules;
mod scope;
mod screen;
mod sink;
mod splice;
mod table;
mod texts;

pub use data::EntryPoint;
pub use glance::{Glance, Glimpse};
pub use inline_caches::InlineCaches;
pub use machine::{EvalContext, InputSource, Machine};
