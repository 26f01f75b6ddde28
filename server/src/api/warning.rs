//! What an answer warns of.

use serde::Serialize;

/// A warning. OPA adds it to answers; the specification knows no such field.
#[derive(Serialize)]
pub struct Warning {
    code: &'static str,
    message: String,
}

impl Warning {
    /// A body without a member that it should have.
    pub fn missing(member: &str) -> Self {
        Self {
            code: "api_usage_warning",
            message: format!("'{member}' key missing from the request"),
        }
    }
}
