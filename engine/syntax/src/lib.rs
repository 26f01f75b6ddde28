//! Rego text to syntax tree and back.

pub mod ast;
pub mod print;
pub mod source;
