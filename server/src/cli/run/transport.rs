//! Flags for listeners, TLS, authentication and authorization.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::OsStringValueParser;

use crate::cli::amounts::signed_duration;
use crate::config::{Authentication, Authorization, TlsOptions, TlsVersion};
use crate::net::{Address, NamedHost};

/// Default interval of polling certificate files.
const REFRESH: Duration = Duration::from_secs(5);

#[derive(Clone, clap::Args)]
pub struct TransportArgs {
    /// Address to listen on: `host:port`, `:port` for every interface, or `unix://PATH`; can be repeated.
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "localhost:8181",
        value_delimiter = ','
    )]
    pub addr: Vec<String>,
    /// Address that serves only health and metrics; can be repeated.
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub diagnostic_addr: Vec<String>,
    /// Host name accepted without authentication, in addition to `localhost`, loopback addresses and the server's addresses; can
    /// be repeated.
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host)]
    pub allowed_host: Vec<String>,
    /// Permissions of sockets in the file system, in octal.
    #[arg(long, value_name = "MODE", default_value = "755", value_parser = octal)]
    pub unix_socket_perm: u32,
    /// Accept HTTP/2 without TLS, too.
    #[arg(long)]
    pub h2c: bool,
    /// Client authentication method.
    #[arg(long, value_enum, default_value_t, value_name = "SCHEME")]
    pub authentication: AuthenticationFlag,
    /// Authorization method; the default policy is `data.system.authz.allow`.
    #[arg(long, value_enum, default_value_t, value_name = "SCHEME")]
    pub authorization: AuthorizationFlag,
    /// Reject requests that change policies or documents.
    #[arg(long)]
    pub read_only: bool,
    /// Serve a web page at `/ui` for viewing policies and documents and making decisions (also `server.ui`).
    #[arg(long)]
    pub ui: bool,
    /// The server's certificate, as PEM.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new())]
    tls_cert_file: Option<OsString>,
    /// Its private key, as PEM.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new())]
    tls_private_key_file: Option<OsString>,
    /// Authorities of client certificates, as PEM; required by `--authentication=tls`.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new())]
    tls_ca_cert_file: Option<OsString>,
    /// Interval of reloading certificate files, such as `30s`; SIGHUP reloads immediately.
    #[arg(long, value_name = "DURATION", value_parser = signed_duration)]
    tls_cert_refresh_period: Option<Duration>,
    /// Allowed cipher suites of TLS 1.2, by their IANA names; all secure ones by default.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tls_cipher_suites: Vec<String>,
    /// Minimum version of TLS; at least 1.2.
    #[arg(long, value_enum, default_value_t, value_name = "VERSION")]
    min_tls_version: TlsFlag,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum AuthenticationFlag {
    /// No authentication.
    #[default]
    Off,
    /// `Authorization: Bearer TOKEN`, checked by the authorization policy.
    Token,
    /// Client certificate signed by a configured authority.
    Tls,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum AuthorizationFlag {
    /// Every request is allowed.
    #[default]
    Off,
    /// A policy decides.
    Basic,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum TlsFlag {
    #[value(name = "1.0")]
    V10,
    #[value(name = "1.1")]
    V11,
    #[default]
    #[value(name = "1.2")]
    V12,
    #[value(name = "1.3")]
    V13,
}

/// Returns the file that a flag names. An empty name is equal to an absent flag.
fn file(name: Option<&OsString>) -> Option<PathBuf> {
    name.filter(|name| !name.is_empty()).map(PathBuf::from)
}

fn host(text: &str) -> Result<String, String> {
    NamedHost::parse(text).map(|_| text.to_owned())
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| format!("`{text}` is no octal number"))
}

impl TransportArgs {
    /// Returns an error if an address has neither a port nor a path.
    pub fn check_addresses(&self) -> Result<(), String> {
        let mut addresses = self.addr.iter().chain(&self.diagnostic_addr);
        addresses.try_for_each(|text| {
            Address::check(text).map_err(|expected| format!("address {text:?}: {expected}"))
        })
    }

    pub fn authentication(&self) -> Authentication {
        match self.authentication {
            AuthenticationFlag::Off => Authentication::Off,
            AuthenticationFlag::Token => Authentication::Token,
            AuthenticationFlag::Tls => Authentication::Tls,
        }
    }

    /// Returns the authorization method.
    pub fn authorization(&self) -> Authorization {
        match self.authorization {
            AuthorizationFlag::Off => Authorization::Off,
            AuthorizationFlag::Basic => Authorization::Basic,
        }
    }

    /// Returns the TLS options, if TLS is enabled.
    ///
    /// # Errors
    /// Fails for a flag that needs another, absent flag.
    pub fn tls(&self) -> Result<Option<TlsOptions>, String> {
        let files = (
            file(self.tls_cert_file.as_ref()),
            file(self.tls_private_key_file.as_ref()),
        );
        let (cert_file, private_key_file) = match files {
            (Some(cert_file), Some(private_key_file)) => (cert_file, private_key_file),
            (None, None) => return Ok(None),
            _ => {
                let text = "--tls-cert-file and --tls-private-key-file must be specified together";
                return Err(text.to_owned());
            }
        };
        Ok(Some(TlsOptions {
            cert_file,
            private_key_file,
            ca_cert_file: file(self.tls_ca_cert_file.as_ref()),
            min_version: match self.min_tls_version {
                TlsFlag::V10 => TlsVersion::V10,
                TlsFlag::V11 => TlsVersion::V11,
                TlsFlag::V12 => TlsVersion::V12,
                TlsFlag::V13 => TlsVersion::V13,
            },
            cipher_suites: self.tls_cipher_suites.clone(),
            client_certificates: self.authentication() == Authentication::Tls,
            refresh: self
                .tls_cert_refresh_period
                .filter(|period| !period.is_zero())
                .unwrap_or(REFRESH),
        }))
    }
}
