//! What this API is, for machines.

/// The description, as OpenAPI 3.1.
pub fn text() -> Vec<u8> {
    include_bytes!("openapi.json").trim_ascii().to_vec()
}
