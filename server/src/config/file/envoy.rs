//! Settings of external authorization for Envoy in a configuration, with the keys of OPA's plugin and some of our own.

use schemars::JsonSchema;

use super::document::Unsupported;
use crate::config::{EnvoyOptions, TlsOptions, TlsVersion};

/// Settings of the plugins. Other names are rejected.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct PluginsSection {
    /// External authorization for Envoy over gRPC and HTTP.
    #[serde(alias = "envoy.ext_authz.grpc")]
    #[schemars(extend("default" = null))]
    pub envoy_ext_authz_grpc: Option<EnvoySection>,
}

/// External authorization for Envoy.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "an object"
)]
pub struct EnvoySection {
    /// Listening address of the gRPC service: `host:port`, `grpc://host:port` or `unix://path`.
    #[schemars(extend("default" = ADDRESS), example = &"unix:///run/solon/authz.sock")]
    pub addr: Option<String>,
    /// Listening address of the HTTP service, for `http_service` of Envoy and `auth_request` of nginx.
    #[schemars(example = &"localhost:9192")]
    pub http_addr: Option<String>,
    /// Path of the document that decides.
    #[schemars(extend("default" = PATH), example = &"ingress/authz/result")]
    pub path: Option<String>,
    pub query: Unsupported,
    /// Allows requests that a decision denies, and logs each of them as a warning. Errors are still denied.
    #[schemars(example = true)]
    pub dry_run: bool,
    pub enable_reflection: Unsupported,
    /// File with a serialized `FileDescriptorSet`: the types of the bodies of gRPC requests.
    #[schemars(example = &"/etc/solon/services.pb")]
    pub proto_descriptor: Option<String>,
    /// Maximum size in bytes of a received message.
    #[schemars(extend("default" = RECEIVED), example = 8_388_608)]
    pub grpc_max_recv_msg_size: Option<i64>,
    /// Maximum size in bytes of a sent message.
    #[schemars(extend("default" = SENT), example = 8_388_608)]
    pub grpc_max_send_msg_size: Option<i64>,
    /// Leaves `parsed_body` and `truncated_body` out of the input.
    #[schemars(example = true)]
    pub skip_request_body_parse: bool,
    /// Adds `grpc_request_duration_seconds` and `error_counter` to the metrics.
    #[schemars(example = true)]
    pub enable_performance_metrics: bool,
    /// Upper bounds in seconds, in ascending order, of the buckets of `grpc_request_duration_seconds`.
    #[schemars(extend("default" = BUCKETS), example = [0.001, 0.01, 0.1])]
    pub grpc_request_duration_seconds_buckets: Option<Vec<f64>>,
    /// HTTP status of the response to a request without a decision, from 400 to 599.
    #[schemars(extend("default" = 403), example = 503)]
    pub error_status: Option<u16>,
    /// Certificate chain of both services, as PEM.
    #[schemars(example = &"/etc/solon/tls.crt")]
    pub tls_cert_file: Option<String>,
    /// Private key of both services, as PEM.
    #[schemars(example = &"/etc/solon/tls.key")]
    pub tls_private_key_file: Option<String>,
    /// Certificate authorities, as PEM. With it, clients must have a certificate.
    #[schemars(example = &"/etc/solon/ca.crt")]
    pub tls_ca_cert_file: Option<String>,
}

const ADDRESS: &str = "localhost:9191";
const PATH: &str = "envoy/authz/allow";
const RECEIVED: usize = 4 << 20;
const SENT: usize = 0x7fff_ffff;
const BUCKETS: [f64; 11] = [
    1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 3e-3, 5e-3, 0.1, 1.0,
];

impl EnvoySection {
    /// Returns the options.
    ///
    /// # Errors
    /// A value is out of range. The message begins with its key.
    pub fn options(&self) -> Result<EnvoyOptions, String> {
        let wrong = |key: &str, text: &str| format!("plugins.envoy_ext_authz_grpc.{key}: {text}");
        let size = |key: &str, configured: Option<i64>, default: usize| match configured
            .map(usize::try_from)
        {
            None => Ok(default),
            Some(Ok(size)) if size > 0 => Ok(size),
            Some(_) => Err(wrong(key, "must be a positive number")),
        };
        let bounds = self.grpc_request_duration_seconds_buckets.clone();
        let bounds = bounds.unwrap_or_else(|| BUCKETS.to_vec());
        if !bounds.is_sorted_by(|lower, upper| lower < upper) {
            let key = "grpc-request-duration-seconds-buckets";
            return Err(wrong(key, "must be in ascending order"));
        }
        let error_status = self.error_status.unwrap_or(403);
        if !(400..600).contains(&error_status) {
            return Err(wrong("error-status", "must be from 400 to 599"));
        }
        let text = |configured: &Option<String>| configured.clone().filter(|text| !text.is_empty());
        let tls = match (text(&self.tls_cert_file), text(&self.tls_private_key_file)) {
            (Some(certificate), Some(key)) => {
                let authorities = text(&self.tls_ca_cert_file);
                Some(TlsOptions {
                    cert_file: certificate.into(),
                    private_key_file: key.into(),
                    client_certificates: authorities.is_some(),
                    ca_cert_file: authorities.map(Into::into),
                    min_version: TlsVersion::V12,
                    cipher_suites: Vec::new(),
                    refresh: TLS_REFRESH,
                })
            }
            (None, None) if text(&self.tls_ca_cert_file).is_none() => None,
            _ => {
                let text = "must be set together with tls-private-key-file";
                return Err(wrong("tls-cert-file", text));
            }
        };
        Ok(EnvoyOptions {
            address: text(&self.addr).unwrap_or_else(|| ADDRESS.to_owned()),
            http_address: text(&self.http_addr),
            path: text(&self.path).unwrap_or_else(|| PATH.to_owned()),
            is_dry_run: self.dry_run,
            descriptor: text(&self.proto_descriptor).map(Into::into),
            receive_limit: size(
                "grpc-max-recv-msg-size",
                self.grpc_max_recv_msg_size,
                RECEIVED,
            )?,
            send_limit: size("grpc-max-send-msg-size", self.grpc_max_send_msg_size, SENT)?,
            skips_body: self.skip_request_body_parse,
            buckets: self.enable_performance_metrics.then_some(bounds),
            error_status,
            tls,
        })
    }
}

/// Interval of polling certificates.
const TLS_REFRESH: std::time::Duration = std::time::Duration::from_mins(1);
