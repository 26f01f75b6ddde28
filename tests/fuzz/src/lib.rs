//! Rego made from bytes: every choice consumes some of them, so that a fuzzer which changes a byte changes a choice.
//!
//! `choices` reads bytes, `terms` writes values of a type, `rules` writes modules, `one_call` calls one built-in,
//! `engine` creates engines with limits.

mod choices;
mod engine;
pub mod one_call;
#[path = "../../time/processor.rs"]
mod processor;
mod rules;
mod terms;

pub use choices::Choices;
pub use engine::{INPUT, bounded, with_base};
pub use rules::{call, module};
pub use terms::{any, term};
