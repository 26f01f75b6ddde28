//! What `http.send` did in a decision, for those who measure.

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
/// let asked = engine.prepare_query("http.send({\"method\": \"get\", \"url\": \"http://a.test\"})")?;
/// asked.solutions(&Request::new().send_metrics(&metrics))?;
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
    /// The timer by its published name, without what tells its kind; `None` when nothing was called.
    pub fn timer(&self) -> Option<(&'static str, Duration)> {
        (self.calls.get() > 0).then(|| ("rego_builtin_http_send", self.time.get()))
    }

    /// The counters that are not 0, by their published names without what tells their kind.
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

    /// Notes a call that began at `start` and ends now.
    pub(super) fn called(&self, start: Instant) {
        self.calls.set(self.calls.get() + 1);
        self.time.set(self.time.get() + start.elapsed());
    }

    /// Notes that something is sent.
    pub(super) fn sends(&self) {
        self.requests.set(self.requests.get() + 1);
    }

    /// Notes that a kept answer of an earlier evaluation is good enough.
    pub(super) fn hits(&self) {
        self.cache_hits.set(self.cache_hits.get() + 1);
    }
}
