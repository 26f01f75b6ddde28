//! GraphQL documents: parsing, validation, and conversion to values.

pub mod ast;
mod conformance;
mod decode;
mod directives;
mod document;
mod encode;
mod lexer;
mod parser;
mod problem;
mod query;
mod schema;
mod strings;
mod type_system;
mod validation;
mod validity;

pub use ast::{QueryDocument, SchemaDocument};
pub use decode::Decode;
pub use document::parse_schema;
pub use encode::Encode;
pub use problem::{GraphqlError, Problems};
pub use query::parse_query;
pub use schema::GraphqlSchema;
pub use type_system::TypeSystem;
pub use validation::{is_valid, validate};
