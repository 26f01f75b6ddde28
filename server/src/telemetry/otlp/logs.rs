//! Decision log events as messages of OTLP.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::attributes::{attribute, resource, scope, text};
use crate::config::CollectorOptions;

const EVENT: &str = "solon.decision";

/// Members of an event that are attributes of its log record.
#[derive(Default, Deserialize)]
struct RecordFields {
    #[serde(default)]
    decision_id: String,
    batch_decision_id: Option<String>,
    path: Option<String>,
    timestamp: Option<String>,
    trace_id: Option<String>,
    span_id: Option<String>,
    error: Option<IgnoredAny>,
}

/// Returns a request with a log record for each event. `service` is the name of this server if the options have none.
///
/// The body of a record is the event as JSON text, so that it is the same in each sink. Failed decisions have the severity `ERROR`.
pub fn logs_request<'e>(
    events: impl Iterator<Item = &'e [u8]>,
    options: &CollectorOptions,
    service: &str,
) -> ExportLogsServiceRequest {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX);
    ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            resource: Some(resource(options, service)),
            scope_logs: vec![ScopeLogs {
                scope: Some(scope()),
                log_records: events.map(|event| record(event, now)).collect(),
                ..ScopeLogs::default()
            }],
            ..ResourceLogs::default()
        }],
    }
}

fn record(event: &[u8], now: u64) -> LogRecord {
    let body = String::from_utf8_lossy(event);
    // events are objects with these members
    let fields: RecordFields = serde_json::from_str(&body).unwrap_or_default();
    let mut attributes = vec![attribute("decision_id", &fields.decision_id)];
    let optional = [
        ("batch_decision_id", &fields.batch_decision_id),
        ("path", &fields.path),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            attributes.push(attribute(name, value));
        }
    }
    let time = fields.timestamp.and_then(|time| time.parse().ok());
    let time = time.map(Timestamp::as_nanosecond);
    let severity = match fields.error {
        Some(_) => SeverityNumber::Error,
        None => SeverityNumber::Info,
    };
    LogRecord {
        time_unix_nano: time.map_or(now, |time| u64::try_from(time).unwrap_or(0)),
        observed_time_unix_nano: now,
        severity_number: severity.into(),
        severity_text: match severity {
            SeverityNumber::Error => "ERROR".to_owned(),
            _ => "INFO".to_owned(),
        },
        body: Some(text(&body)),
        attributes,
        trace_id: id(fields.trace_id.as_deref()),
        span_id: id(fields.span_id.as_deref()),
        event_name: EVENT.to_owned(),
        ..LogRecord::default()
    }
}

/// Returns the bytes of an id in hexadecimal digits.
fn id(digits: Option<&str>) -> Vec<u8> {
    let digits = digits.unwrap_or_default().as_bytes();
    let bytes = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    bytes.collect::<Option<_>>().unwrap_or_default()
}
