//! A policy engine for the Rego language.

pub mod builtins;
pub mod compile;
pub mod eval;
pub mod host;
pub mod limits;
pub mod program;
pub mod types;
pub mod value;
