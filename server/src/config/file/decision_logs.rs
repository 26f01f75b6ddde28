//! The section `decision_logs` of a configuration, and its checks.

use std::time::Duration;

use schemars::JsonSchema;

use super::document::Unsupported;
use super::log_export::LogExportSection;
use crate::config::{
    BufferLimit, DecisionLogOptions, Fsync, LogDatabaseOptions, LogFileOptions, ReportingOptions,
    ReportingTrigger, SpoolOptions, WhenFull,
};

/// Destination of decision logs.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct DecisionLogsSection {
    /// Logs each decision to standard error.
    #[schemars(example = true)]
    pub console: bool,
    /// Name of the service that events are uploaded to; the first one by name unless the console or another sink is set.
    #[schemars(example = &"logs")]
    pub service: Option<String>,
    /// An earlier spelling of `resource`: uploads go to `/logs/NAME`.
    #[schemars(example = &"eu")]
    pub partition_name: Option<String>,
    /// Path below the URL of the service.
    #[schemars(extend("default" = RESOURCE), example = &"/v2/logs")]
    pub resource: Option<String>,
    /// Path of the document that lists which fields of events are removed or replaced.
    #[schemars(extend("default" = MASK), example = &"/audit/mask")]
    pub mask_decision: Option<String>,
    /// Path of the document that drops an event if it is `true`.
    #[schemars(extend("default" = DROP), example = &"/audit/drop")]
    pub drop_decision: Option<String>,
    /// Accepted and without effect, as in OPA: `nd_builtin_cache` at the top level records these results.
    #[schemars(example = true)]
    pub nd_builtin_cache: bool,
    pub request_context: RequestContextSection,
    pub reporting: ReportingSection,
    /// Writes each event as a line of JSON to standard output.
    #[schemars(example = true)]
    pub stdout: bool,
    pub file: LogFileSection,
    pub sqlite: LogDatabaseSection,
    pub otlp: LogExportSection,
    pub spool: SpoolSection,
    pub plugin: Unsupported,
}

/// A file with an event on each line.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct LogFileSection {
    /// Path of a file that events are appended to, as lines of JSON.
    #[schemars(example = &"/var/log/solon/decisions.jsonl")]
    pub path: Option<String>,
    /// Size in bytes from which on the file is renamed and another one is begun; 0 sets no limit.
    #[schemars(extend("default" = FILE_BYTES), example = 10_485_760)]
    pub max_bytes: Option<u64>,
    /// Number of renamed files that are kept (`PATH.1` is the latest).
    #[schemars(extend("default" = FILES), example = 10)]
    pub max_files: Option<u64>,
}

/// A SQLite file that `solon logs` queries.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct LogDatabaseSection {
    /// Path of a SQLite file with a row for each event, which `solon logs` queries.
    #[schemars(example = &"/var/lib/solon/decisions.db")]
    pub path: Option<String>,
    /// Number of the latest events that are kept; 0 keeps all.
    #[schemars(extend("default" = DATABASE_EVENTS), example = 100_000)]
    pub max_events: Option<u64>,
}

/// Events on disk until they are uploaded.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct SpoolSection {
    /// Folder of a spool: each event is in a file there before its response is sent, and is uploaded from there.
    #[schemars(example = &"/var/lib/solon/decisions")]
    pub directory: Option<String>,
    /// Maximum size of the spool in bytes.
    #[schemars(extend("default" = SPOOL_BYTES), example = 10_737_418_240_u64)]
    pub max_bytes: Option<u64>,
    /// Size in bytes from which on another file is begun.
    #[schemars(extend("default" = SEGMENT_BYTES), example = 67_108_864)]
    pub segment_bytes: Option<u64>,
    /// When events are synchronized with the disk: `always` before the response is sent, `interval` each second, or `never`.
    #[schemars(extend("default" = "interval"), example = &"always")]
    pub fsync: Option<String>,
    /// `drop` drops events if the spool is full, `reject` responds 500 to their requests.
    #[schemars(extend("default" = "drop"), example = &"reject")]
    pub when_full: Option<String>,
}

const FILE_BYTES: u64 = 100 << 20;
const FILES: u64 = 5;
const DATABASE_EVENTS: u64 = 1_000_000;
const SPOOL_BYTES: u64 = 1 << 30;
const SEGMENT_BYTES: u64 = 16 << 20;

impl LogFileSection {
    fn options(&self) -> Option<LogFileOptions> {
        let path = self.path.as_ref().filter(|path| !path.is_empty())?;
        let max = match self.max_bytes.unwrap_or(FILE_BYTES) {
            0 => u64::MAX,
            bytes => bytes,
        };
        Some(LogFileOptions {
            path: path.into(),
            max_bytes: max,
            max_files: usize::try_from(self.max_files.unwrap_or(FILES)).unwrap_or(usize::MAX),
        })
    }
}

impl SpoolSection {
    fn options(&self) -> Result<Option<SpoolOptions>, String> {
        let fsync = match self.fsync.as_deref() {
            Some("always") => Fsync::Always,
            None | Some("interval") => Fsync::Interval,
            Some("never") => Fsync::Never,
            Some(other) => {
                return Err(format!(
                    "decision_logs.spool.fsync: expected `always`, `interval` or `never`, got `{other}`"
                ));
            }
        };
        let when_full = match self.when_full.as_deref() {
            None | Some("drop") => WhenFull::Drop,
            Some("reject") => WhenFull::Reject,
            Some(other) => {
                return Err(format!(
                    "decision_logs.spool.when_full: expected `drop` or `reject`, got `{other}`"
                ));
            }
        };
        let directory = self.directory.as_ref().filter(|path| !path.is_empty());
        Ok(directory.map(|directory| SpoolOptions {
            directory: directory.into(),
            max_bytes: self.max_bytes.unwrap_or(SPOOL_BYTES),
            segment_bytes: self.segment_bytes.unwrap_or(SEGMENT_BYTES),
            fsync,
            when_full,
        }))
    }
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct RequestContextSection {
    pub http: RequestContextHttpSection,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct RequestContextHttpSection {
    /// Names of request headers that events contain.
    #[schemars(example = ["x-forwarded-for"])]
    pub headers: Vec<String>,
}

/// When events are uploaded, and which wait for that.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct ReportingSection {
    /// `size` or `event`: what the buffer of events is limited by.
    #[schemars(extend("default" = "size"), example = &"event")]
    pub buffer_type: Option<String>,
    /// Maximum size in bytes of the events that wait, with `buffer_type: size`; 0 sets no limit. The oldest are dropped.
    #[schemars(extend("default" = BUFFER_BYTES), example = 16_777_216)]
    pub buffer_size_limit_bytes: Option<i64>,
    /// Maximum number of events that wait, with `buffer_type: event`. The oldest are dropped.
    #[schemars(extend("default" = EVENTS), example = 100_000)]
    pub buffer_size_limit_events: Option<i64>,
    /// Maximum size in bytes of an upload after compression, from 90 to 4294967296.
    #[schemars(extend("default" = UPLOAD_BYTES), example = 1_048_576)]
    pub upload_size_limit_bytes: Option<i64>,
    /// Minimum delay in seconds between two uploads.
    #[schemars(extend("default" = MIN_DELAY), example = 5)]
    pub min_delay_seconds: Option<i64>,
    /// Maximum delay in seconds between two uploads.
    #[schemars(extend("default" = MAX_DELAY), example = 10)]
    pub max_delay_seconds: Option<i64>,
    /// Maximum number of events a second. Events beyond it are dropped and counted.
    #[schemars(example = 1000.0)]
    pub max_decisions_per_second: Option<f64>,
    /// `periodic`, or `immediate`: also as soon as there are enough events for an upload. `manual` is not supported.
    #[schemars(extend("default" = "periodic"), example = &"immediate")]
    pub trigger: Option<String>,
}

const RESOURCE: &str = "/logs";
const MASK: &str = "/system/log/mask";
const DROP: &str = "/system/log/drop";
const EVENTS: i64 = 10_000;
const BUFFER_BYTES: usize = 128 << 20;
const UPLOAD_BYTES: i64 = 32_768;
const MIN_DELAY: i64 = 300;
const MAX_DELAY: i64 = 600;

/// Limits of `upload_size_limit_bytes`. Numbers out of this range are clamped, as in OPA.
const UPLOAD_LIMITS: (i64, i64) = (90, 4_294_967_296);

impl DecisionLogsSection {
    /// Returns the options, or `None` if nothing is logged. `services` are the names of the configured services, in order. Without
    /// a sink the first one receives the events. `records` is the value of the top-level key `nd_builtin_cache`.
    ///
    /// # Errors
    /// Fails for a value that OPA rejects, in OPA's words.
    pub fn options(
        &self,
        services: &[String],
        records: bool,
    ) -> Result<Option<DecisionLogOptions>, String> {
        let mut service = self.service.clone().filter(|name| !name.is_empty());
        if let Some(name) = &service
            && !services.contains(name)
        {
            return Err(format!("invalid service name {name:?} in decision_logs"));
        }
        let file = self.file.options();
        let path = self.sqlite.path.as_ref().filter(|path| !path.is_empty());
        let sqlite = path.map(|path| LogDatabaseOptions {
            path: path.into(),
            max_events: self.sqlite.max_events.unwrap_or(DATABASE_EVENTS),
        });
        let otlp = self.otlp.options()?;
        let is_local = self.console || self.stdout || file.is_some() || sqlite.is_some();
        let has_sink = is_local || otlp.is_some();
        if service.is_none() && (!has_sink || self.spool.directory.is_some()) {
            service = services.first().cloned();
        }
        let spool = self.spool.options()?;
        if spool.is_some() && service.is_none() {
            return Err("decision_logs.spool needs decision_logs.service".to_owned());
        }
        let reporting = self.reporting.options()?;
        if service.is_none() && !has_sink {
            return Ok(None);
        }
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let resource = match (non_empty(&self.resource), non_empty(&self.partition_name)) {
            (Some(resource), _) => resource,
            (None, Some(name)) => format!("{RESOURCE}/{name}"),
            (None, None) => RESOURCE.to_owned(),
        };
        check_resource(&resource)?;
        let headers = self.request_context.http.headers.iter();
        Ok(Some(DecisionLogOptions {
            console: self.console,
            service,
            resource,
            mask_decision: non_empty(&self.mask_decision).unwrap_or_else(|| MASK.to_owned()),
            drop_decision: non_empty(&self.drop_decision).unwrap_or_else(|| DROP.to_owned()),
            headers: headers.cloned().collect(),
            nd_builtin_cache: records,
            reporting,
            stdout: self.stdout,
            file,
            sqlite,
            otlp,
            spool,
        }))
    }
}

impl ReportingSection {
    fn options(&self) -> Result<ReportingOptions, String> {
        let trigger = match self.trigger.as_deref() {
            None | Some("" | "periodic") => ReportingTrigger::Periodic,
            Some("immediate") => ReportingTrigger::Immediate,
            Some("manual") => {
                return Err(
                    "decision_logs.reporting.trigger: `manual` is not supported, nothing begins an upload"
                        .to_owned(),
                );
            }
            Some(other) => {
                return Err(format!(
                    "invalid decision_log config: invalid trigger mode {other:?} (want \"periodic\", \"manual\" or \"immediate\")"
                ));
            }
        };
        let (min_delay, max_delay) = self.delays()?;
        let (min_size, max_size) = UPLOAD_LIMITS;
        let upload = self.upload_size_limit_bytes.unwrap_or(UPLOAD_BYTES);
        Ok(ReportingOptions {
            buffer: self.buffer()?,
            upload_bytes: usize::try_from(upload.clamp(min_size, max_size)).unwrap_or(usize::MAX),
            min_delay,
            max_delay,
            per_second: self.max_decisions_per_second,
            trigger,
        })
    }

    fn delays(&self) -> Result<(Duration, Duration), String> {
        let (min, max) = match (self.min_delay_seconds, self.max_delay_seconds) {
            (None, None) => (MIN_DELAY, MAX_DELAY),
            (Some(min), Some(max)) if min > max => {
                return Err(
                    "max reporting delay must be >= min reporting delay in decision_logs"
                        .to_owned(),
                );
            }
            (Some(min), Some(max)) => (min, max),
            (Some(_), None) => return Err(missing("max_delay_seconds")),
            (None, Some(_)) => return Err(missing("min_delay_seconds")),
        };
        let seconds = |number: i64| Duration::from_secs(u64::try_from(number).unwrap_or(0));
        Ok((seconds(min), seconds(max)))
    }

    fn buffer(&self) -> Result<BufferLimit, String> {
        let invalid = |text: &str| Err(format!("invalid decision_log config, {text}"));
        let (bytes, events) = (self.buffer_size_limit_bytes, self.buffer_size_limit_events);
        match self.buffer_type.as_deref() {
            None | Some("" | "size") => {
                if events.is_some() {
                    return invalid(
                        "'buffer_size_limit_events' isn't supported for the size buffer type",
                    );
                }
                if bytes.is_some() && self.max_decisions_per_second.is_some() {
                    return invalid(
                        "specify either 'buffer_size_limit_bytes' or 'max_decisions_per_second'",
                    );
                }
                match bytes.map(usize::try_from) {
                    None => Ok(BufferLimit::Bytes(Some(BUFFER_BYTES))),
                    Some(Ok(0)) => Ok(BufferLimit::Bytes(None)),
                    Some(Ok(bytes)) => Ok(BufferLimit::Bytes(Some(bytes))),
                    Some(Err(_)) => invalid("'buffer_size_limit_bytes' must be higher than 0"),
                }
            }
            Some("event") => {
                if bytes.is_some() {
                    return invalid(
                        "'buffer_size_limit_bytes' isn't supported for the event buffer type",
                    );
                }
                match usize::try_from(events.unwrap_or(EVENTS)) {
                    Ok(events) if events > 0 => Ok(BufferLimit::Events(events)),
                    _ => invalid("'buffer_size_limit_entries' must be higher than 0"),
                }
            }
            Some(other) => Err(format!(
                "invalid buffer type {other:?}, expected \"event\" or \"size\""
            )),
        }
    }
}

/// Checks that a resource is a URL, or the path of one, as Go parses them.
fn check_resource(resource: &str) -> Result<(), String> {
    let invalid = |problem: &str| {
        Err(format!(
            "invalid resource path {resource:?}: parse {resource:?}: {problem}"
        ))
    };
    if resource.chars().any(|c| c.is_ascii_control()) {
        return invalid("net/url: invalid control character in URL");
    }
    if resource.starts_with(':') {
        return invalid("missing protocol scheme");
    }
    let path = resource.split(['?', '#']).next().unwrap_or_default();
    for (index, _) in path.match_indices('%') {
        let escape: String = path
            .get(index..)
            .unwrap_or_default()
            .chars()
            .take(3)
            .collect();
        let digits = escape.trim_start_matches('%');
        if digits.len() != 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return invalid(&format!("invalid URL escape {escape:?}"));
        }
    }
    Ok(())
}

fn missing(key: &str) -> String {
    format!("reporting configuration missing '{key}' in decision_logs")
}
