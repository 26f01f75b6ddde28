//! The tracing evaluator: searches canonical bodies by unification, as OPA's `topdown` does.
//!
//! It evaluates one expression after another and, for each way to satisfy it, continues with the rest of the body;
//! bindings are undone on backtracking. The rest of a body is a continuation, so the order of everything observable
//! (prints, errors, events) is OPA's. Values, built-in functions, conflicts and the merging of documents are shared
//! with the evaluator of plans.
//!
//! A term is a value, a term of the program with the environment of its variables, or a term built during the search.
//! This is what lets a search continue with unknown values.

mod bindings;
mod builtin_errors;
mod call_stack;
mod calls;
mod closures;
mod conflict;
mod documents;
mod event_cache;
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
