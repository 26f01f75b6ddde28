//! Options of a server, and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use solon_common::metrics::REQUEST_BUCKETS;

use super::{
    Bounds, DecisionLogOptions, EnvoyOptions, MetricsExportOptions, Spelling, TracingOptions,
};

/// Options of a server. [`Self::check`] reports options that contradict each other.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Addresses to listen on: `host:port`, `:port` or `unix://path`.
    pub addresses: Vec<String>,
    /// Addresses that serve only health and metrics.
    pub diagnostic_addresses: Vec<String>,
    /// File mode of Unix sockets, `0o755` by default.
    pub socket_mode: u32,
    /// `true` if HTTP/2 without TLS is supported.
    pub h2c: bool,
    /// TLS of all addresses. `None` serves without TLS.
    pub tls: Option<TlsOptions>,
    /// Hosts that requests may name to a server without authentication, in addition to `localhost`, loopback addresses and the
    /// listening addresses. They are names or IP addresses, with a port if no other port is allowed.
    pub allowed_hosts: Vec<String>,
    /// Client authentication method. By default, clients are not authenticated.
    pub authentication: Authentication,
    /// Authorization method of requests to the API.
    pub authorization: Authorization,
    /// `true` if every write is rejected.
    pub read_only: bool,
    /// `true` if there is a page at `/ui` where users can browse policies and documents and evaluate decisions.
    pub ui: bool,
    /// `true` if an admission review without a decision is denied by a response, not answered by an error.
    pub admission_failures_are_denied: bool,
    /// Level at which requests and responses are logged.
    pub request_log: tracing::Level,
    /// Status of the instance, if it is reported in addition to `/health`.
    pub status: Option<StatusOptions>,
    /// Decision logs. `None` disables them.
    pub decision_logs: Option<DecisionLogOptions>,
    /// Tracing of requests, if it is enabled. The process has one receiver of spans: the first server that starts chooses it.
    pub tracing: Option<TracingOptions>,
    /// Export of metrics over OTLP. `None` disables it.
    pub metrics_export: Option<MetricsExportOptions>,
    /// External authorization for Envoy, if it is enabled.
    pub envoy: Option<EnvoyOptions>,
    /// Maximum time that the server waits for its plugins before it listens; `None` does not wait.
    pub ready_within: Option<Duration>,
    /// Spelling of names in responses.
    pub spelling: Spelling,
    /// Limits. The default is that of `solon run`.
    pub bounds: Bounds,
    /// Compression of responses for clients that accept gzip.
    pub packing: Packing,
    /// Path of the document that `POST /` responds with.
    pub default_decision: String,
    /// Path of the document that authorizes requests.
    pub default_authorization_decision: String,
    /// Upper bounds of the buckets of request durations, in seconds.
    pub duration_buckets: Vec<f64>,
    /// Time for which the server continues to serve after a stop signal.
    pub shutdown_wait: Duration,
    /// Time limit of open requests after that.
    pub shutdown_grace: Duration,
}

/// Reporting of the status at `GET /v1/status`, and optionally in metrics and in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusOptions {
    /// `true` if `/metrics` contains plugins and the version (`status.prometheus`).
    pub is_counted: bool,
    /// `true` if each change of the status is logged (`status.console`).
    pub is_logged: bool,
}

/// Client authentication method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authentication {
    /// No authentication: requests have no identity.
    #[default]
    Off,
    /// A bearer token, which is passed to the authorization policy.
    Token,
    /// A verified certificate.
    Tls,
}

/// Authorization method: whether a policy decides about each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Every request is allowed.
    #[default]
    Off,
    /// The authorization policy decides.
    Basic,
}

/// Compression of responses for clients that accept gzip.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Maximum size in bytes of a response that is not compressed (`server.encoding.gzip.min_length`).
    pub longer_than: usize,
    /// 0, 1 or 9 (`server.encoding.gzip.compression_level`).
    pub level: u32,
}

impl Default for Packing {
    fn default() -> Self {
        Self {
            longer_than: 1024,
            level: 9,
        }
    }
}

/// Minimum TLS version that clients must support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// 1.0; the server uses 1.2 instead.
    V10,
    /// 1.1; the server uses 1.2 instead.
    V11,
    /// 1.2, the default.
    #[default]
    V12,
    /// 1.3, without earlier versions.
    V13,
}

/// TLS options. Changed files are loaded again after at most `refresh`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsOptions {
    /// Certificate chain of the server, as PEM.
    pub cert_file: PathBuf,
    /// Private key of the server, as PEM.
    pub private_key_file: PathBuf,
    /// Certificate authorities of client certificates, as PEM. Required if clients must have a certificate.
    pub ca_cert_file: Option<PathBuf>,
    /// Minimum TLS version. Earlier versions are rejected in the handshake.
    pub min_version: TlsVersion,
    /// Cipher suites of TLS 1.2, by Go's names; all if the list is empty.
    pub cipher_suites: Vec<String>,
    /// `true` if clients must have a certificate, signed by an authority of `ca_cert_file`.
    pub client_certificates: bool,
    /// Interval of polling the files.
    pub refresh: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            addresses: vec!["localhost:8181".to_owned()],
            diagnostic_addresses: Vec::new(),
            socket_mode: 0o755,
            h2c: false,
            tls: None,
            allowed_hosts: Vec::new(),
            authentication: Authentication::default(),
            authorization: Authorization::default(),
            read_only: false,
            ui: false,
            admission_failures_are_denied: true,
            request_log: tracing::Level::INFO,
            status: None,
            decision_logs: None,
            tracing: None,
            metrics_export: None,
            envoy: None,
            ready_within: None,
            spelling: Spelling::default(),
            bounds: Bounds::default(),
            packing: Packing::default(),
            default_decision: "/system/main".to_owned(),
            default_authorization_decision: "/system/authz/allow".to_owned(),
            duration_buckets: REQUEST_BUCKETS.to_vec(),
            shutdown_wait: Duration::ZERO,
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

/// Error for options that require client certificates without a certificate authority.
pub const NO_AUTHORITIES: &str = "--authentication=tls needs --tls-ca-cert-file: the file names the authorities that sign certificates of clients";

impl ServerOptions {
    /// Checks that the options for authentication, authorization and TLS are consistent.
    ///
    /// # Errors
    /// Returns a message with the missing flag.
    pub fn check(&self) -> Result<(), &'static str> {
        match (self.authentication, &self.tls) {
            (Authentication::Token, _)
                if self.authorization == Authorization::Off && self.spelling != Spelling::Opa =>
            {
                Err(
                    "--authentication=token needs --authorization=basic: without an authorization policy every request is \
                     admitted, with and without a token",
                )
            }
            (Authentication::Tls, None) => {
                Err("--authentication=tls needs --tls-cert-file and --tls-private-key-file")
            }
            (Authentication::Tls, Some(tls)) if !tls.client_certificates => {
                Err("authentication by TLS needs `TlsOptions::client_certificates`")
            }
            (_, Some(tls)) if tls.client_certificates && tls.ca_cert_file.is_none() => {
                Err(NO_AUTHORITIES)
            }
            _ => Ok(()),
        }
    }
}
