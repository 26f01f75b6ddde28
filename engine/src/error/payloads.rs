//! The contents of errors: why an input or an option is not valid, and which invariant was violated.

use std::fmt;

use crate::value::json::JsonError;

/// The reason why an input, or data, is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    message: String,
    json: Option<JsonError>,
}

impl InputError {
    /// Creates an error with the message of a conversion.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            json: None,
        }
    }

    /// Returns the error of an input that is JSON text. Empty text gets a message of its own.
    pub(crate) fn of_input(error: JsonError, text: &[u8]) -> Self {
        if text.trim_ascii().is_empty() {
            return Self {
                message: "the input is empty: expected JSON text".to_owned(),
                json: Some(error),
            };
        }
        error.into()
    }

    /// Returns the row and the column in JSON text, both from 1. Returns `None` if the input was not text.
    pub fn position(&self) -> Option<(usize, usize)> {
        let json = self.json.as_ref()?;
        Some((json.line(), json.column()))
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

impl From<JsonError> for InputError {
    fn from(error: JsonError) -> Self {
        Self {
            message: error.to_string(),
            json: Some(error),
        }
    }
}

/// The reason why an option or a path is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    message: String,
}

impl OptionError {
    /// Creates an error with a message, which should name the option.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Returns the message, as it was created.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OptionError {}
