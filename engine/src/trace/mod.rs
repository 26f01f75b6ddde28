//! What a search tells its observer, and how people read it.

mod event;
mod filter;
mod json;
mod pretty;

pub use event::{Event, Local, Node, Observer, Op};
pub use filter::{Detail, filter};
pub use json::json;
pub use pretty::{Names, Pretty, pretty};
