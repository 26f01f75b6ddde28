//! Tracing of the process: sampling, batches, and their export.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider, SpanData,
    SpanExporter,
};
use solon::{Engine, PreparedQuery, Value};
use tokio::runtime::Handle;

use super::collector::Collector;
use crate::config::{CollectorOptions, TracingOptions};

/// Tracing of the process, once a server has started it.
static TRACING: OnceLock<Tracing> = OnceLock::new();

pub struct Tracing {
    provider: SdkTracerProvider,
    pub tracer: SdkTracer,
    excluded: Option<ExcludedPaths>,
}

/// Returns the tracing of the process, or `None` if it is off. The cost is an atomic load.
pub fn tracing() -> Option<&'static Tracing> {
    TRACING.get()
}

/// Returns `true` if the process traces requests.
pub fn is_traced() -> bool {
    tracing().is_some()
}

/// Starts tracing, unless it was started before: a process has one receiver of spans. It must be called within a tokio runtime.
/// `service` is the name of this server if the options have none.
///
/// # Errors
/// Fails if the receiver or a pattern is not valid.
pub fn start(options: &TracingOptions, service: &'static str) -> Result<(), String> {
    let collector = Collector::new(&options.collector)?;
    let excluded = ExcludedPaths::new(&options.exclude_paths)?;
    let resource = resource(&options.collector, service);
    let exporter = SpanSender {
        collector,
        runtime: Handle::current(),
        resource: Arc::new((&resource).into()),
        timeout: options.batch.export_timeout,
    };
    let batch = BatchConfigBuilder::default()
        .with_max_queue_size(options.batch.queue)
        .with_max_export_batch_size(options.batch.items)
        .with_scheduled_delay(options.batch.delay);
    let processor = BatchSpanProcessor::builder(exporter)
        .with_batch_config(batch.build())
        .build();
    let sampler = Sampler::TraceIdRatioBased(options.sample_ratio);
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_sampler(Sampler::ParentBased(Box::new(sampler)))
        .with_span_processor(processor)
        .build();
    let scope = InstrumentationScope::builder("solon").with_version(env!("CARGO_PKG_VERSION"));
    let tracer = provider.tracer_with_scope(scope.build());
    // the first server has started it
    let _ = TRACING.set(Tracing {
        provider,
        tracer,
        excluded,
    });
    Ok(())
}

/// Sends waiting spans, for at most `timeout`.
pub async fn flush(timeout: Duration) {
    let Some(tracing) = tracing() else {
        return;
    };
    let flushed =
        tokio::task::spawn_blocking(move || tracing.provider.shutdown_with_timeout(timeout));
    let flushed = tokio::time::timeout(timeout, flushed).await;
    if let Ok(Ok(Err(error))) = flushed {
        ::tracing::warn!("Distributed tracing: {error}");
    }
}

/// Returns the attributes of this server. Variables of the environment do not add any, as in OPA.
fn resource(options: &CollectorOptions, service: &'static str) -> Resource {
    let name = options.service_name.clone();
    let name = name.unwrap_or_else(|| service.to_owned());
    let attributes = options.resource.iter();
    let attributes = attributes.map(|(key, value)| KeyValue::new(*key, value.clone()));
    Resource::builder_empty()
        .with_attributes(attributes)
        .with_attribute(KeyValue::new("service.name", name))
        .build()
}

impl Tracing {
    /// Returns `true` if requests with this path are not traced. Tests each pattern.
    pub fn excludes(&self, path: &str) -> bool {
        let excluded = self.excluded.as_ref();
        excluded.is_some_and(|excluded| excluded.contains(path))
    }
}

/// Paths that are not traced. The engine matches them, so that patterns are those of policies and of OPA.
struct ExcludedPaths {
    patterns: Value,
    query: PreparedQuery,
}

impl ExcludedPaths {
    fn new(patterns: &[String]) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let query = "some pattern in input.patterns; glob.match(pattern, [\"/\"], input.path)";
        let query = Engine::builder().build().prepare_query(query);
        let query = query.map_err(|error| error.to_string())?;
        for pattern in patterns {
            let matcher = Self {
                patterns: Value::array(vec![Value::string(pattern)]),
                query: query.clone(),
            };
            matcher.matches("/").map_err(|error| {
                format!("invalid distributed_tracing.exclude_paths pattern '{pattern}': {error}")
            })?;
        }
        let patterns = patterns.iter().map(|pattern| Value::string(pattern));
        Ok(Some(Self {
            patterns: Value::array(patterns.collect()),
            query,
        }))
    }

    fn contains(&self, path: &str) -> bool {
        // patterns were checked, and matching them does not fail
        self.matches(path).unwrap_or(false)
    }

    fn matches(&self, path: &str) -> Result<bool, String> {
        let input = Value::object(vec![
            ("patterns".into(), self.patterns.clone()),
            ("path".into(), Value::string(path)),
        ]);
        let request = solon::Request::new().input(&input);
        let request = request.strict_builtin_errors(true);
        let solutions = self.query.solutions(&request);
        let solutions = solutions.map_err(|error| error.to_string())?;
        Ok(!solutions.is_empty())
    }
}

/// Sends batches of spans on the runtime of the server. The thread of the processor waits for them.
#[derive(Debug)]
struct SpanSender {
    collector: Collector,
    runtime: Handle,
    resource: Arc<ResourceAttributesWithSchema>,
    timeout: Duration,
}

impl SpanExporter for SpanSender {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(batch, &self.resource),
        };
        let (collector, timeout) = (self.collector.clone(), self.timeout);
        let export = async move { collector.send_spans(request, timeout).await.map(drop) };
        let result = self.runtime.spawn(export).await;
        let result = result.unwrap_or_else(|error| Err(error.to_string()));
        result.map_err(|error| {
            ::tracing::warn!(spans = count, "Distributed tracing: {error}");
            OTelSdkError::InternalFailure(error)
        })
    }
}
