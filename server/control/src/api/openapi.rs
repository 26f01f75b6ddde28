//! The OpenAPI description of this API.

/// Returns the description as OpenAPI 3.1.
pub fn text() -> Vec<u8> {
    include_bytes!("openapi.json").trim_ascii().to_vec()
}
