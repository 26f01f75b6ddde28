//! Rego text to syntax tree and back.

pub mod ast;
mod dialect;
mod grammar;
pub mod json;
mod lexer;
pub mod print;
pub mod source;

pub use dialect::{Features, Keywords, ParseOptions};
pub use grammar::{parse_body, parse_module, parse_ref, parse_term};
