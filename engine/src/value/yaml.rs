//! YAML as in OPA: the core schema of YAML 1.2 with the extensions of Go's library (`0777`, `1_000`, merge keys),
//! converted to JSON (keys become strings, numbers beyond 64 bits floats).

mod error;
mod key;
mod reader;
mod resolve;
mod scan;
mod write;

pub use error::YamlError;
pub use reader::{read, read_with_checked_numbers};
pub use write::{write, write_while};

#[cfg(test)]
mod tests;
