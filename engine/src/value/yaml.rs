//! YAML as in OPA: the core schema of YAML 1.2 with the extensions of Go's library (`0777`, `1_000`, merge keys),
//! converted to JSON (keys become strings, numbers beyond 64 bits floats).

mod error;
mod key;
#[cfg(feature = "formats")]
mod reader;
mod resolve;
mod scan;
mod write;

pub use error::YamlError;
#[cfg(feature = "formats")]
pub use reader::{read, read_with_checked_numbers};
pub use write::{write, write_while};

/// Rejects every text: YAML is parsed only with the feature `formats`.
#[cfg(not(feature = "formats"))]
pub fn read(_: &[u8]) -> Result<super::Value, YamlError> {
    Err(YamlError::without_parser())
}

/// Rejects every text: YAML is parsed only with the feature `formats`.
#[cfg(not(feature = "formats"))]
pub fn read_with_checked_numbers(_: &[u8]) -> Result<super::Value, YamlError> {
    Err(YamlError::without_parser())
}

#[cfg(test)]
#[cfg(feature = "formats")]
mod tests;
