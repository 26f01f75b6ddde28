//! Spans of the control plane: stages of builds, within the trace of the request that caused them, or in a trace of their own.

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use solon_control::trace::{StageSpan, Tracer};

use super::requests::{InjectedHeaders, PARENT};
use super::spans::tracing;

/// Creates the spans of stages while tracing is on.
#[derive(Debug)]
pub struct StageTracer;

struct Stage(Context);

impl Tracer for StageTracer {
    fn begin(
        &self,
        name: &'static str,
        parent: Option<&str>,
        attributes: &[(&'static str, &str)],
    ) -> Option<Box<dyn StageSpan>> {
        let tracing = tracing()?;
        let parent = parent.map(|parent| (PARENT.to_owned(), parent.to_owned()));
        let parent = InjectedHeaders(parent.into_iter().collect());
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &parent);
        let attributes = attributes.iter();
        let attributes = attributes.map(|(name, value)| KeyValue::new(*name, (*value).to_owned()));
        let builder = tracing.tracer.span_builder(name);
        let builder = builder
            .with_kind(SpanKind::Internal)
            .with_attributes(attributes);
        let span = tracing.tracer.build_with_context(builder, &parent);
        Some(Box::new(Stage(parent.with_span(span))))
    }
}

impl StageSpan for Stage {
    fn trace_parent(&self) -> String {
        InjectedHeaders::from_context(&self.0).trace_parent()
    }

    fn fail(&self, message: &str) {
        self.0.span().set_status(Status::error(message.to_owned()));
    }
}
