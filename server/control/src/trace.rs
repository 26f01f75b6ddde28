//! Traces from a request, or the begin of a build, to a published bundle.
//!
//! A [`Tracer`] of the program creates the spans. Each task has a context: the tracer and the current span, in the format of the
//! header `traceparent` of W3C, so that a database can pass it on to another instance.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use crate::model::Failure;

/// Creates spans.
pub trait Tracer: Debug + Send + Sync {
    /// Begins a span within the span `parent`, or a trace without one. Returns `None` if nothing is traced.
    fn begin(
        &self,
        name: &'static str,
        parent: Option<&str>,
        attributes: &[(&'static str, &str)],
    ) -> Option<Box<dyn StageSpan>>;
}

/// A span, which ends when it is dropped.
pub trait StageSpan: Send + Sync {
    /// Returns the span in the format of the header `traceparent`.
    fn trace_parent(&self) -> String;
    /// Marks the span as failed, with the message as its status.
    fn fail(&self, message: &str);
}

/// The tracer and the current span of a task. The default traces nothing.
#[derive(Clone, Default)]
pub struct TraceContext {
    /// Creates spans. `None` traces nothing.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// The current span, in the format of the header `traceparent`.
    pub parent: Option<String>,
}

tokio::task_local! {
    static CONTEXT: TraceContext;
}

impl TraceContext {
    /// Returns the context of the current task. Outside [`Self::scope`], it traces nothing.
    pub fn current() -> Self {
        CONTEXT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Runs a future in this context. Tasks that the future spawns do not inherit it.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        CONTEXT.scope(self, future).await
    }
}

/// Returns the current span in the format of the header `traceparent`. `None` if nothing is traced and no caller passed a
/// span.
pub fn current() -> Option<String> {
    TraceContext::current().parent
}

/// Result of a stage: it decides whether the stage's span is marked as failed.
pub trait StageResult {
    /// Returns the message of a failure, or `None` after success.
    fn failure(&self) -> Option<&str>;
}

impl<T> StageResult for Result<T, Failure> {
    fn failure(&self) -> Option<&str> {
        self.as_ref().err().map(|failure| failure.message.as_str())
    }
}

/// Runs a stage in a span within the current one, or in a trace of its own if there is none. Without a tracer, nothing is traced. A
/// stage that is dropped ends its span.
pub async fn in_span<F>(
    name: &'static str,
    attributes: &[(&'static str, &str)],
    stage: F,
) -> F::Output
where
    F: Future<Output: StageResult>,
{
    let context = TraceContext::current();
    let tracer = context.tracer.as_ref();
    let span = tracer.and_then(|tracer| tracer.begin(name, context.parent.as_deref(), attributes));
    let Some(span) = span else {
        return stage.await;
    };
    let inner = TraceContext {
        parent: Some(span.trace_parent()),
        ..context
    };
    let result = inner.scope(stage).await;
    if let Some(message) = result.failure() {
        span.fail(message);
    }
    result
}
