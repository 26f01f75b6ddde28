//! The second machine: searches canonical bodies by unification, as the published evaluator does.
//!
//! It takes one expression after the other and goes on with the rest of the body for each way to satisfy it;
//! what was bound on the way is undone on the way back. What follows an expression is a continuation, so the
//! order of everything that can be seen (prints, errors, events) is that of the published search. Values, built-in
//! functions, conflicts and the merging of documents are those of the first machine.
//!
//! A term is a value, or a term of the program in the environment of its variables, or one made on the way. That is
//! what lets a search go on where something is not known.

mod bindings;
mod builtin_errors;
mod call_stack;
mod calls;
mod closures;
mod conflict;
mod documents;
mod event_terms;
mod events;
mod functions;
mod index;
mod keyed;
mod machine;
mod partial;
pub mod partial_eval;
mod reference;
mod rules;
mod scope;
mod shortcuts;
mod term;
mod tree_walk;
mod unify;

pub use builtin_errors::BuiltinErrors;
pub use machine::{Topdown, TopdownContext, TopdownQuery};
pub use shortcuts::{SearchOptions, Shortcuts};
