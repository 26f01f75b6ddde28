//! GraphQL documents: read, checked, and given as values.

pub mod ast;
mod document;
mod encode;
mod lexer;
mod parser;
mod problem;
mod query;

pub use document::parse_schema;
pub use encode::Encode;
pub use problem::Problem;
pub use query::parse_query;
