//! Options of external authorization for Envoy.

use std::path::PathBuf;

use super::TlsOptions;

pub const ENVOY: &str = "envoy_ext_authz_grpc";

/// External authorization: where checks are received, and which document decides about them.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvoyOptions {
    /// Listening address of the gRPC service: `host:port`, `grpc://host:port` or `unix://path`.
    pub address: String,
    /// Listening address of the HTTP service, if any.
    pub http_address: Option<String>,
    /// Path of the document, with slashes.
    pub path: String,
    /// `true` if denied requests are allowed and logged.
    pub is_dry_run: bool,
    /// Serialized `FileDescriptorSet` with the types of gRPC bodies.
    pub descriptor: Option<PathBuf>,
    /// Maximum size of a received message, in bytes.
    pub receive_limit: usize,
    /// Maximum size of a sent message, in bytes.
    pub send_limit: usize,
    /// `true` if bodies are not parsed into the input.
    pub skips_body: bool,
    /// Upper bounds in seconds of the buckets of durations, if durations and errors are counted.
    pub buckets: Option<Vec<f64>>,
    /// Status of the response to a request without a decision.
    pub error_status: u16,
    /// Certificate, private key and certificate authorities, if the services use TLS.
    pub tls: Option<TlsOptions>,
}
