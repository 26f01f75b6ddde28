//! The options of a server, and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use solon_common::metrics::REQUEST_BUCKETS;

use super::{Bounds, DecisionLogOptions, Spelling};

/// How a server runs.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Addresses to listen on.
    pub addresses: Vec<String>,
    /// Addresses where health and metrics are served, and nothing else.
    pub diagnostic_addresses: Vec<String>,
    /// Permissions of sockets in the file system.
    pub socket_mode: u32,
    /// Whether HTTP/2 is spoken without encryption.
    pub h2c: bool,
    /// How connections are protected, where they are.
    pub tls: Option<TlsOptions>,
    /// Hosts that requests may name if there is no authentication, besides `localhost`, loopback addresses and those that the
    /// server listens on: names or IP addresses, with a port if no other is allowed.
    pub allowed_hosts: Vec<String>,
    /// How clients tell who they are.
    pub authentication: Authentication,
    /// Who decides what clients may ask.
    pub authorization: Authorization,
    /// Whether every write is refused.
    pub read_only: bool,
    /// Whether there is a page at `/ui` where people look at policies and documents and ask for decisions.
    pub ui: bool,
    /// The level that lines about requests and answers are logged at.
    pub request_log: tracing::Level,
    /// What is told of the instance beside `/health`, if anything is.
    pub status: Option<StatusOptions>,
    /// Where decisions are logged, if anywhere.
    pub decision_logs: Option<DecisionLogOptions>,
    /// How long the server waits for its plugins before it listens; without a time it does not wait.
    pub ready_within: Option<Duration>,
    /// Whose names are written.
    pub spelling: Spelling,
    /// Every bound.
    pub bounds: Bounds,
    /// Which answers are packed, and how.
    pub packing: Packing,
    /// Path of the document that `POST /` answers with.
    pub default_decision: String,
    /// Path of the document that decides what clients may ask.
    pub default_authorization_decision: String,
    /// Upper bounds, in seconds, of what the durations of requests are counted in.
    pub duration_buckets: Vec<f64>,
    /// How long the server goes on serving after it was told to stop.
    pub shutdown_wait: Duration,
    /// How long open requests may take then.
    pub shutdown_grace: Duration,
}

/// How the status of an instance is told: at `GET /v1/status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusOptions {
    /// Whether `/metrics` tells of plugins and of the version, too (`status.prometheus`).
    pub is_counted: bool,
    /// Whether each change of it is logged (`status.console`).
    pub is_logged: bool,
}

/// How clients tell who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authentication {
    /// Not at all.
    #[default]
    Off,
    /// By a bearer token, which is handed to the authorization policy.
    Token,
    /// By a certificate, which is verified.
    Tls,
}

/// Who decides what clients may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// They may ask everything.
    #[default]
    Off,
    /// A policy.
    Basic,
}

/// Which answers are packed for clients that take gzip, and how.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Longest answer, in bytes, that is never packed (`server.encoding.gzip.min_length`).
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

/// Oldest version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// 1.0, in the place of which 1.2 is spoken.
    V10,
    /// 1.1, in the place of which 1.2 is spoken.
    V11,
    /// 1.2.
    #[default]
    V12,
    /// 1.3.
    V13,
}

/// How connections are protected.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// The server's certificate, and those that lead to an authority, as PEM.
    pub cert_file: PathBuf,
    /// Its private key, as PEM.
    pub private_key_file: PathBuf,
    /// Authorities that sign the certificates of clients, as PEM. Required if clients must show one.
    pub ca_cert_file: Option<PathBuf>,
    /// Oldest version that is spoken.
    pub min_version: TlsVersion,
    /// Ciphers of TLS 1.2, by Go's names; all where none is named.
    pub cipher_suites: Vec<String>,
    /// Whether clients must show a certificate.
    pub client_certificates: bool,
    /// How often the files are looked at.
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
            request_log: tracing::Level::INFO,
            status: None,
            decision_logs: None,
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

/// The error of options that require certificates of clients, and name no authority.
pub const NO_AUTHORITIES: &str = "--authentication=tls needs --tls-ca-cert-file: the file names the authorities that sign certificates of clients";

impl ServerOptions {
    /// Checks that authentication, authorization and TLS protect what they seem to.
    ///
    /// # Errors
    /// Names the flag that is missing.
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
