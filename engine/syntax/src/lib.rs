//! Rego parser, syntax tree, formatter and AST JSON.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "tests fail by panicking"
    )
)]

pub mod annotations;
pub mod ast;
mod dialect;
mod format;
mod grammar;
pub mod json;
mod lexer;
pub mod parallel;
pub mod print;
pub mod refactor;
pub mod source;
pub mod stack;
pub mod yaml;

pub use dialect::{Features, Keywords, ParseOptions};
pub use format::{FormatOptions, format, format_module, format_tree};
pub use grammar::{module_text, parse_body, parse_module, parse_ref, parse_statements, parse_term};
