//! What a configuration says of the server.

use serde_json::Value;

use super::Caching;

use crate::config::{Packing, ServerOptions, StatusOptions};

/// What a configuration says of the server, or what holds where it says nothing.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Path of the document that `POST /` answers with.
    pub default_decision: String,
    /// Path of the document that decides what clients may ask.
    pub default_authorization_decision: String,
    /// Whether there is a page for people.
    pub ui: bool,
    /// Which answers are packed.
    pub packing: Packing,
    /// Largest body, in bytes.
    pub body: Option<usize>,
    /// Largest unpacked body, in bytes.
    pub unpacked: Option<usize>,
    /// Upper bounds of counted durations, in seconds.
    pub duration_buckets: Option<Vec<f64>>,
    /// What outlives an evaluation.
    pub caching: Caching,
    /// What is told of the instance beside `/health`.
    pub status: Option<StatusOptions>,
    /// What policies may use: a file, or a version.
    pub capabilities: Option<String>,
    /// The SQLite file that policies and documents are kept in.
    pub store: Option<String>,
}

impl Settings {
    /// Those of a configuration whose values have the right types.
    ///
    /// # Errors
    /// A value that is out of its bounds, by the place of its key.
    pub fn of(config: &Value) -> Result<Self, String> {
        let defaults = ServerOptions::default();
        let text = |place: &str| config.pointer(place).and_then(Value::as_str);
        let positive = |key: &str| positive(config, key);
        let mut packing = Packing::default();
        if let Some(length) = positive("server.encoding.gzip.min_length")? {
            packing.longer_than = length;
        }
        let level = "/server/encoding/gzip/compression_level";
        match config.pointer(level).filter(|level| !level.is_null()) {
            None => {}
            Some(level) => match level.as_u64() {
                Some(level @ (0 | 1 | 9)) => packing.level = u32::try_from(level).unwrap_or(9),
                _ => {
                    return Err("invalid value for server.encoding.gzip.compression_level field, accepted values are 0, 1 or 9".to_owned());
                }
            },
        }
        let buckets = "/server/metrics/prom/http_request_duration_seconds/buckets";
        let buckets = config.pointer(buckets).and_then(Value::as_array);
        Ok(Self {
            default_decision: text("/default_decision")
                .map_or(defaults.default_decision, str::to_owned),
            default_authorization_decision: text("/default_authorization_decision")
                .map_or(defaults.default_authorization_decision, str::to_owned),
            ui: config.pointer("/server/ui").and_then(Value::as_bool) == Some(true),
            packing,
            body: positive("server.decoding.max_length")?,
            unpacked: positive("server.decoding.gzip.max_length")?,
            duration_buckets: buckets
                .map(|buckets| buckets.iter().filter_map(Value::as_f64).collect()),
            caching: Caching::of(config)?,
            status: status(config),
            capabilities: text("/capabilities").map(str::to_owned),
            store: text("/storage/sqlite/path").map(str::to_owned),
        })
    }
}

/// A status is told where somebody may see it.
fn status(config: &Value) -> Option<StatusOptions> {
    let flag = |place: &str| config.pointer(place).and_then(Value::as_bool) == Some(true);
    let status = StatusOptions {
        is_counted: flag("/status/prometheus"),
        is_logged: flag("/status/console"),
    };
    (status.is_counted || status.is_logged).then_some(status)
}

fn positive(config: &Value, key: &str) -> Result<Option<usize>, String> {
    let place = format!("/{}", key.replace('.', "/"));
    let Some(value) = config.pointer(&place).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let number = value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok());
    match number.filter(|number| *number > 0) {
        Some(number) => Ok(Some(number)),
        None => Err(format!(
            "invalid value for {key} field, should be a positive number"
        )),
    }
}
