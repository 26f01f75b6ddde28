//! The section `decision_logs.otlp`.

use schemars::JsonSchema;

use super::otlp::{BatchKeys, ReceiverKeys, ResourceSection, given};
use crate::config::{LogExportOptions, OtlpProtocol};

/// A receiver of OTLP that gets each event as a log record.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct LogExportSection {
    /// `grpc` or `http`: the protocol of the receiver. Without it nothing is sent.
    #[schemars(example = &"grpc")]
    pub r#type: Option<String>,
    /// Host and port of the receiver; `localhost:4317` for `grpc` and `localhost:4318` for `http`, unless set.
    #[schemars(example = &"collector:4317")]
    pub address: Option<String>,
    /// Name of this server in log records; `solon` unless set.
    #[schemars(example = &"authz")]
    pub service_name: Option<String>,
    /// `off`, `tls`, or `mtls` with a client certificate.
    #[schemars(extend("default" = "off"), example = &"tls")]
    pub encryption: Option<String>,
    /// Accepts any certificate of the receiver.
    #[schemars(example = true)]
    pub allow_insecure_tls: bool,
    /// Certificate of this server for `mtls`, in PEM.
    #[schemars(example = &"/etc/solon/client.pem")]
    pub tls_cert_file: Option<String>,
    /// Private key of this server for `mtls`, in PEM.
    #[schemars(example = &"/etc/solon/client.key")]
    pub tls_private_key_file: Option<String>,
    /// Certificates of authorities of the receiver, in PEM; those of the system unless set.
    #[schemars(example = &"/etc/solon/ca.pem")]
    pub tls_ca_cert_file: Option<String>,
    pub resource: ResourceSection,
    /// Maximum time in milliseconds until a batch is sent.
    #[schemars(extend("default" = BATCH_DELAY), example = 5000)]
    pub batch_timeout_ms: Option<i64>,
    /// Time limit in milliseconds for sending a batch, with all attempts. Then its events are dropped and counted.
    #[schemars(extend("default" = EXPORT_TIMEOUT), example = 5000)]
    pub export_timeout_ms: Option<i64>,
    /// Maximum number of events of a batch.
    #[schemars(extend("default" = BATCH_EVENTS), example = 128)]
    pub max_export_batch_size: Option<i64>,
    /// Maximum number of events that wait in memory. Further events are dropped and counted.
    #[schemars(extend("default" = QUEUE_EVENTS), example = 10_000)]
    pub max_queue_size: Option<i64>,
}

const BATCH_DELAY: i64 = 1000;
const EXPORT_TIMEOUT: i64 = 30_000;
const BATCH_EVENTS: i64 = 512;
const QUEUE_EVENTS: i64 = 8192;

impl LogExportSection {
    /// Returns the options, or `None` without a type.
    ///
    /// # Errors
    /// Fails if a value is not valid.
    pub fn options(&self) -> Result<Option<LogExportOptions>, String> {
        let protocol = match self.r#type.as_deref() {
            None | Some("") => None,
            Some("grpc") => Some(OtlpProtocol::Grpc),
            Some("http") => Some(OtlpProtocol::Http),
            Some(other) => {
                return Err(format!(
                    "decision_logs.otlp.type: expected `grpc` or `http`, got `{other}`"
                ));
            }
        };
        let receiver = ReceiverKeys {
            address: given(self.address.as_ref()),
            service_name: given(self.service_name.as_ref()),
            encryption: given(self.encryption.as_ref()),
            is_insecure: self.allow_insecure_tls,
            certificate: given(self.tls_cert_file.as_ref()),
            key: given(self.tls_private_key_file.as_ref()),
            authorities: given(self.tls_ca_cert_file.as_ref()),
            resource: &self.resource,
        };
        let unsupported = |scheme: &str| {
            format!(
                "decision_logs.otlp.encryption: expected `off`, `tls` or `mtls`, got `{scheme}`"
            )
        };
        let collector = receiver.options(protocol, unsupported)?;
        let batch = BatchKeys {
            section: "decision_logs.otlp",
            batch_timeout_ms: self.batch_timeout_ms.unwrap_or(BATCH_DELAY),
            export_timeout_ms: self.export_timeout_ms.unwrap_or(EXPORT_TIMEOUT),
            max_export_batch_size: self.max_export_batch_size.unwrap_or(BATCH_EVENTS),
            max_queue_size: self.max_queue_size.unwrap_or(QUEUE_EVENTS),
        };
        let batch = batch.options()?;
        Ok(collector.map(|collector| LogExportOptions { collector, batch }))
    }
}
