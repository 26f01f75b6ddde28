//! The text form of the tree, as messages and traces show it: calls in prefix form under the built-in's name
//! (only a two-operand `eq` prints as `a = b`), sets and objects sorted, wildcards as `_`.

mod expr;
mod module;
mod quote;
mod term;

pub use expr::{DisplayBody, display_body};
pub use quote::{is_printable, quote, write_quoted};
pub use term::{DisplayRef, display_ref, is_plain_key};
