//! Messages of `solon exec`.

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::json;

use crate::cli::terminal::complain;
use crate::json::escape_html;

/// How messages are written.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Format {
    /// Lines of names and values.
    Text,
    /// One object a line.
    #[default]
    Json,
    /// Objects on several lines.
    JsonPretty,
}

/// Writes messages to standard error.
#[derive(Clone, Copy)]
pub struct Log(Format);

impl Log {
    pub fn new(format: Format) -> Self {
        Self(format)
    }

    /// Writes the error that ended the command.
    pub fn unexpected(self, error: &str) {
        let time = format!("{:.0}", Timestamp::now());
        let entry = json!({
            "err": error,
            "level": "error",
            "msg": "Unexpected error.",
            "time": time,
        });
        complain(match self.0 {
            Format::Text => {
                format!("time=\"{time}\" level=error msg=\"Unexpected error.\" err={error:?}\n")
            }
            Format::Json => escape(format!("{entry}\n")),
            Format::JsonPretty => escape(format!("{entry:#}\n")),
        });
    }
}

fn escape(json: String) -> String {
    String::from_utf8_lossy(&escape_html(json.into_bytes())).into_owned()
}
