//! Options of tracing and of the export of metrics over OTLP.

use std::path::PathBuf;
use std::time::Duration;

/// Tracing of requests (`distributed_tracing`).
#[derive(Clone, Debug, PartialEq)]
pub struct TracingOptions {
    /// Receiver of spans.
    pub collector: CollectorOptions,
    /// Share of traces that are recorded, from 0 to 1, unless the caller has decided.
    pub sample_ratio: f64,
    /// Patterns of request paths that are not traced.
    pub exclude_paths: Vec<String>,
    /// Limits of the spans that wait for the receiver.
    pub batch: BatchOptions,
}

/// Batches of spans or log records that wait in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// Maximum time until a batch is sent.
    pub delay: Duration,
    /// Time limit for sending a batch.
    pub export_timeout: Duration,
    /// Maximum number of items of a batch.
    pub items: usize,
    /// Maximum number of waiting items. Further items are dropped.
    pub queue: usize,
}

/// Export of metrics (`metrics_export`), in addition to `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricsExportOptions {
    /// Receiver of metrics, over OTLP.
    pub collector: CollectorOptions,
    /// Interval of exports.
    pub interval: Duration,
}

/// Export of decision logs (`decision_logs.otlp`), one record for each event.
#[derive(Clone, Debug, PartialEq)]
pub struct LogExportOptions {
    /// Receiver of log records.
    pub collector: CollectorOptions,
    /// Limits of the log records that wait for the receiver.
    pub batch: BatchOptions,
}

/// A receiver of OTLP: its address, transport and TLS.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectorOptions {
    /// Transport of OTLP, which must be that of `address`.
    pub protocol: OtlpProtocol,
    /// Host and port.
    pub address: String,
    /// TLS; `None` sends in plain text.
    pub tls: Option<CollectorTls>,
    /// Name of this server; `None` is `opa` with `--compat opa`, otherwise `solon`.
    pub service_name: Option<String>,
    /// Other attributes of the resource, by their OpenTelemetry names.
    pub resource: Vec<(&'static str, String)>,
}

/// Transport of OTLP. Both carry the same messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// gRPC, over HTTP/2.
    Grpc,
    /// HTTP with bodies in Protocol Buffers.
    Http,
}

/// TLS of a receiver. The default trusts the authorities of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectorTls {
    /// `true` if any certificate is accepted.
    pub is_insecure: bool,
    /// Certificates of authorities; `None` uses those of the system.
    pub authorities: Option<PathBuf>,
    /// Certificate and private key of this server.
    pub identity: Option<(PathBuf, PathBuf)>,
}
