//! Warnings in responses, such as for a missing `input`.

use serde::Serialize;

/// A warning in a response. OPA returns it, but its specification does not have this field.
#[derive(Serialize)]
pub struct Warning {
    code: &'static str,
    message: String,
}

impl Warning {
    /// Returns the warning for a body without an expected member.
    pub fn missing(member: &str) -> Self {
        Self {
            code: "api_usage_warning",
            message: format!("'{member}' key missing from the request"),
        }
    }
}
