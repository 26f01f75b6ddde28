//! Metrics of `http.send` in a decision.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time and counts of a decision's `http.send` calls.
///
/// ```
/// use std::sync::Arc;
///
/// use solon::{Engine, FixedHost, Request, SendMetrics};
///
/// let metrics = SendMetrics::default();
/// let engine = Engine::builder().host(Arc::new(FixedHost::default())).build();
/// let query = engine.prepare_query("http.send({\"method\": \"get\", \"url\": \"http://a.test\"})")?;
/// query.solutions(&Request::new().send_metrics(&metrics))?;
/// assert_eq!(metrics.counters(), [("rego_builtin_http_send_network_requests", 1)]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SendMetrics {
    calls: Cell<u64>,
    time: Cell<Duration>,
    requests: Cell<u64>,
    cache_hits: Cell<u64>,
}

impl SendMetrics {
    /// Returns the timer with OPA's name, without the prefix for its kind. Returns `None` without calls.
    pub fn timer(&self) -> Option<(&'static str, Duration)> {
        (self.calls.get() > 0).then(|| ("rego_builtin_http_send", self.time.get()))
    }

    /// Returns the counters that are not 0, with OPA's names, without the prefix for their kind.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = [
            (
                "rego_builtin_http_send_interquery_cache_hits",
                self.cache_hits.get(),
            ),
            (
                "rego_builtin_http_send_network_requests",
                self.requests.get(),
            ),
        ];
        counters
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Records a call that started at `start` and ends now.
    pub(super) fn record_call(&self, start: Instant) {
        self.calls.set(self.calls.get() + 1);
        self.time.set(self.time.get() + start.elapsed());
    }

    /// Records a request that is sent.
    pub(super) fn sends(&self) {
        self.requests.set(self.requests.get() + 1);
    }

    /// Records a hit in the cache across evaluations.
    pub(super) fn hits(&self) {
        self.cache_hits.set(self.cache_hits.get() + 1);
    }
}
