//! Sections of tracing and of the export of metrics over OTLP.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize as _;
use serde_json::Value;

use crate::config::{
    BatchOptions, CollectorOptions, CollectorTls, MetricsExportOptions, OtlpProtocol,
    TracingOptions,
};

/// Tracing of requests over OTLP.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct TracingSection {
    /// `grpc` or `http`: the protocol of the receiver. Without it nothing is traced.
    #[schemars(example = &"grpc")]
    pub r#type: Option<String>,
    /// Host and port of the receiver; `localhost:4317` for `grpc` and `localhost:4318` for `http`, unless set.
    #[schemars(example = &"collector:4317")]
    pub address: Option<String>,
    /// Name of this server in traces; `solon` unless set, and `opa` with `--compat opa`.
    #[schemars(example = &"authz")]
    pub service_name: Option<String>,
    /// Percentage of traces that are recorded, from 0 to 100, unless the caller has decided.
    #[schemars(extend("default" = 100.0), example = 10.0)]
    pub sample_percentage: Option<f64>,
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
    /// Patterns of request paths that are not traced, as in `glob.match` with the delimiter `/`.
    #[schemars(example = ["/health*"])]
    pub exclude_paths: Vec<String>,
    pub batch_span_processor_options: BatchSection,
}

/// Attributes of this server in traces and metrics.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct ResourceSection {
    /// Attribute `service.version`.
    #[schemars(example = &"1.4")]
    pub service_version: Option<String>,
    /// Attribute `service.instance.id`.
    #[schemars(example = &"eu-1")]
    pub service_instance_id: Option<String>,
    /// Attribute `service.namespace`.
    #[schemars(example = &"shop")]
    pub service_namespace: Option<String>,
    /// Attribute `deployment.environment`.
    #[schemars(example = &"production")]
    pub deployment_environment: Option<String>,
}

/// Batches of spans.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct BatchSection {
    /// Only `false` is supported: a full queue drops spans and does not delay requests.
    #[schemars(example = false)]
    pub blocking: bool,
    /// Maximum time in milliseconds until a batch is sent.
    #[schemars(extend("default" = BATCH_DELAY), example = 1000)]
    pub batch_timeout_ms: Option<i64>,
    /// Time limit in milliseconds for sending a batch.
    #[schemars(extend("default" = EXPORT_TIMEOUT), example = 5000)]
    pub export_timeout_ms: Option<i64>,
    /// Maximum number of spans of a batch.
    #[schemars(extend("default" = BATCH_SPANS), example = 128)]
    pub max_export_batch_size: Option<i64>,
    /// Maximum number of spans that wait in memory.
    #[schemars(extend("default" = QUEUE_SPANS), example = 10_000)]
    pub max_queue_size: Option<i64>,
}

/// Export of metrics over OTLP.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct MetricsExportSection {
    /// `otlp/grpc` or `otlp/http`: the protocol of the receiver. Without it metrics are not exported.
    #[schemars(example = &"otlp/grpc")]
    pub r#type: Option<String>,
    /// Host and port of the receiver; `localhost:4317` for `otlp/grpc` and `localhost:4318` for `otlp/http`, unless set.
    #[schemars(example = &"collector:4317")]
    pub address: Option<String>,
    /// Name of this server in metrics; `solon` unless set, and `opa` with `--compat opa`.
    #[schemars(example = &"authz")]
    pub service_name: Option<String>,
    /// Interval of exports in milliseconds.
    #[schemars(extend("default" = EXPORT_INTERVAL), example = 10_000)]
    pub export_interval_ms: Option<i64>,
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
}

const BATCH_DELAY: i64 = 5000;
const EXPORT_TIMEOUT: i64 = 30_000;
const BATCH_SPANS: i64 = 512;
const QUEUE_SPANS: i64 = 2048;
const EXPORT_INTERVAL: i64 = 60_000;
/// Maximum number of spans or log records that may wait in memory.
const MAX_QUEUE: i64 = 1_000_000;

pub(super) fn given(text: Option<&String>) -> Option<&String> {
    text.filter(|text| !text.is_empty())
}

/// Parses the section `distributed_tracing` of a control plane. Returns `None` if it has no type.
///
/// # Errors
/// Fails if a key is unknown or a value is not valid.
pub fn tracing_options(section: &Value) -> Result<Option<TracingOptions>, String> {
    let section = TracingSection::deserialize(section);
    let section = section.map_err(|error| format!("distributed_tracing: {error}"))?;
    section.options()
}

impl TracingSection {
    /// Returns the options, or `None` without a type.
    ///
    /// # Errors
    /// Fails if a value is not valid, in OPA's words, or not supported.
    pub fn options(&self) -> Result<Option<TracingOptions>, String> {
        let protocol = match self.r#type.as_deref() {
            None | Some("") => None,
            Some("grpc") => Some(OtlpProtocol::Grpc),
            Some("http") => Some(OtlpProtocol::Http),
            Some(other) => {
                return Err(format!(
                    "unknown distributed_tracing.type '{other}', must be \"grpc\", \"http\" or \"\" (unset)"
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
        let unsupported =
            |scheme: &str| format!("unsupported distributed_tracing.encryption_scheme '{scheme}'");
        let collector = receiver.options(protocol, unsupported)?;
        let percentage = self.sample_percentage.unwrap_or(100.0);
        if !(0.0..=100.0).contains(&percentage) {
            return Err(format!(
                "unsupported distributed_tracing.sample_percentage '{percentage}'"
            ));
        }
        let batch = self.batch_span_processor_options.options()?;
        Ok(collector.map(|collector| TracingOptions {
            collector,
            sample_ratio: percentage / 100.0,
            exclude_paths: self.exclude_paths.clone(),
            batch,
        }))
    }
}

impl MetricsExportSection {
    /// Returns the options, or `None` without a type.
    ///
    /// # Errors
    /// Fails if a value is not valid, in OPA's words.
    pub fn options(&self) -> Result<Option<MetricsExportOptions>, String> {
        let kind = self.r#type.as_deref().unwrap_or_default();
        let protocol = match kind.to_ascii_lowercase().as_str() {
            "" => None,
            "otlp/grpc" => Some(OtlpProtocol::Grpc),
            "otlp/http" => Some(OtlpProtocol::Http),
            _ => {
                return Err(format!(
                    "unknown metrics_export.type \"{kind}\", must be \"otlp/grpc\", \"otlp/http\" or \"\" (unset)"
                ));
            }
        };
        let interval = self.export_interval_ms.unwrap_or(EXPORT_INTERVAL);
        let milliseconds = u64::try_from(interval).ok().filter(|number| *number > 0);
        let milliseconds = milliseconds.ok_or_else(|| {
            format!("metrics_export.export_interval_ms must be a positive value, got {interval}")
        })?;
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
        let unsupported =
            |scheme: &str| format!("unsupported metrics_export.encryption \"{scheme}\"");
        let collector = receiver.options(protocol, unsupported)?;
        Ok(collector.map(|collector| MetricsExportOptions {
            collector,
            interval: Duration::from_millis(milliseconds),
        }))
    }
}

impl ResourceSection {
    fn attributes(&self) -> Vec<(&'static str, String)> {
        let attributes = [
            ("service.version", &self.service_version),
            ("service.instance.id", &self.service_instance_id),
            ("service.namespace", &self.service_namespace),
            ("deployment.environment", &self.deployment_environment),
        ];
        let attributes = attributes.into_iter();
        attributes
            .filter_map(|(name, value)| Some((name, given(value.as_ref())?.clone())))
            .collect()
    }
}

impl BatchSection {
    fn options(&self) -> Result<BatchOptions, String> {
        const SECTION: &str = "distributed_tracing.batch_span_processor_options";
        if self.blocking {
            return Err(format!(
                "{SECTION}.blocking is not supported: a full queue drops spans and does not delay requests"
            ));
        }
        let keys = BatchKeys {
            section: SECTION,
            batch_timeout_ms: self.batch_timeout_ms.unwrap_or(BATCH_DELAY),
            export_timeout_ms: self.export_timeout_ms.unwrap_or(EXPORT_TIMEOUT),
            max_export_batch_size: self.max_export_batch_size.unwrap_or(BATCH_SPANS),
            max_queue_size: self.max_queue_size.unwrap_or(QUEUE_SPANS),
        };
        keys.options()
    }
}

/// Keys of batches, which spans and log records have, with their defaults applied.
pub(super) struct BatchKeys {
    /// Section that contains them, for messages.
    pub(super) section: &'static str,
    pub(super) batch_timeout_ms: i64,
    pub(super) export_timeout_ms: i64,
    pub(super) max_export_batch_size: i64,
    pub(super) max_queue_size: i64,
}

impl BatchKeys {
    /// Returns the options.
    ///
    /// # Errors
    /// A number is out of range.
    pub(super) fn options(&self) -> Result<BatchOptions, String> {
        let bounded = |key: &str, number: i64, max: i64| {
            if (1..=max).contains(&number) {
                return Ok(number.unsigned_abs());
            }
            let section = self.section;
            Err(format!(
                "{section}.{key}: expected a number from 1 to {max}, got {number}"
            ))
        };
        let time =
            |key, number| bounded(key, number, i64::from(i32::MAX)).map(Duration::from_millis);
        let count = |key, number| {
            let number = bounded(key, number, MAX_QUEUE)?;
            Ok::<_, String>(usize::try_from(number).unwrap_or(usize::MAX))
        };
        Ok(BatchOptions {
            delay: time("batch_timeout_ms", self.batch_timeout_ms)?,
            export_timeout: time("export_timeout_ms", self.export_timeout_ms)?,
            items: count("max_export_batch_size", self.max_export_batch_size)?,
            queue: count("max_queue_size", self.max_queue_size)?,
        })
    }
}

/// Keys of a receiver, under the same names in all sections.
pub(super) struct ReceiverKeys<'a> {
    pub(super) address: Option<&'a String>,
    pub(super) service_name: Option<&'a String>,
    pub(super) encryption: Option<&'a String>,
    pub(super) is_insecure: bool,
    pub(super) certificate: Option<&'a String>,
    pub(super) key: Option<&'a String>,
    pub(super) authorities: Option<&'a String>,
    pub(super) resource: &'a ResourceSection,
}

impl ReceiverKeys<'_> {
    /// Returns the options, or `None` without a protocol. `unsupported` returns the error for another kind of encryption.
    pub(super) fn options(
        &self,
        protocol: Option<OtlpProtocol>,
        unsupported: impl Fn(&str) -> String,
    ) -> Result<Option<CollectorOptions>, String> {
        let tls = self.tls(unsupported)?;
        Ok(protocol.map(|protocol| {
            let default = match protocol {
                OtlpProtocol::Grpc => "localhost:4317",
                OtlpProtocol::Http => "localhost:4318",
            };
            CollectorOptions {
                protocol,
                address: self.address.map_or(default, String::as_str).to_owned(),
                tls,
                service_name: self.service_name.cloned(),
                resource: self.resource.attributes(),
            }
        }))
    }

    fn tls(&self, unsupported: impl Fn(&str) -> String) -> Result<Option<CollectorTls>, String> {
        let scheme = self.encryption.map_or("off", String::as_str);
        if !["off", "tls", "mtls"].contains(&scheme) {
            return Err(unsupported(scheme));
        }
        let identity = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => {
                return Err(
                    "tls_cert_file and tls_private_key_file must be specified together".to_owned(),
                );
            }
        };
        if scheme == "mtls" && identity.is_none() {
            return Err("tls_cert_file required but not supplied".to_owned());
        }
        Ok((scheme != "off").then(|| CollectorTls {
            is_insecure: self.is_insecure,
            authorities: self.authorities.map(Into::into),
            identity: identity.filter(|_| scheme == "mtls"),
        }))
    }
}
