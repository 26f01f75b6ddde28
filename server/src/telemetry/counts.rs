//! What is counted, as `/metrics` and `/v1/status` tell it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;

use super::family::{Family, Kind, Sampled, number};

/// Counts of one server.
#[derive(Debug)]
pub struct Counts {
    bounds: Vec<f64>,
    requests: Mutex<HashMap<Request, Durations>>,
    cancelled: Mutex<HashMap<Request, u64>>,
    answered: AtomicU64,
    misjudged: AtomicU64,
}

/// What requests are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// The status of the answer.
    pub code: u16,
    /// The route.
    pub handler: &'static str,
    /// The method.
    pub method: &'static str,
}

#[derive(Debug)]
struct Durations {
    /// How many took less than each bound and more than the one before; behind them how many took more.
    counts: Vec<u64>,
    nanoseconds: u128,
}

impl Request {
    fn labels(self) -> Vec<(&'static str, String)> {
        vec![
            ("code", self.code.to_string()),
            ("handler", self.handler.to_owned()),
            ("method", self.method.to_owned()),
        ]
    }
}

impl Counts {
    /// Nothing yet; `bounds` are those of durations, in seconds and in order.
    pub fn new(bounds: &[f64]) -> Self {
        Self {
            bounds: bounds.to_vec(),
            requests: Mutex::default(),
            cancelled: Mutex::default(),
            answered: AtomicU64::new(0),
            misjudged: AtomicU64::new(0),
        }
    }

    /// Counts an answered request.
    pub fn answered(&self, request: Request, took: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        let at = self.bounds.partition_point(|bound| *bound < seconds);
        let mut requests = self.requests.lock();
        let durations = requests.entry(request).or_insert_with(|| Durations {
            counts: vec![0; self.bounds.len() + 1],
            nanoseconds: 0,
        });
        if let Some(count) = durations.counts.get_mut(at) {
            *count += 1;
        }
        durations.nanoseconds += took.as_nanos();
    }

    /// Counts a request whose client did not wait for the answer.
    pub fn cancelled(&self, request: Request) {
        *self.cancelled.lock().entry(request).or_default() += 1;
    }

    /// Counts a decision that was begun on a thread that could not wait for it.
    pub fn misjudged(&self) {
        self.misjudged.fetch_add(1, Ordering::Relaxed);
    }

    /// All counts.
    pub fn families(&self) -> Vec<Family> {
        let count = |name, help, value: &AtomicU64| {
            Family::single(name, help, number(value.load(Ordering::Relaxed)))
        };
        vec![
            self.cancellations(),
            self.durations(),
            count(
                "solon_requests_total",
                "Requests that were answered.",
                &self.answered,
            ),
            count(
                "solon_misjudged_total",
                "Decisions that took longer than they were thought to, and were made anew in the pool.",
                &self.misjudged,
            ),
        ]
    }

    fn cancellations(&self) -> Family {
        let mut family = Family::new(
            Kind::Counter,
            "http_request_cancellations",
            "Requests whose clients did not wait for the answer.",
        );
        let cancelled = self.cancelled.lock();
        let mut all: Vec<_> = cancelled.iter().collect();
        all.sort();
        for (request, count) in all {
            family.add(request.labels(), Sampled::Number(number(*count)));
        }
        family
    }

    fn durations(&self) -> Family {
        let mut family = Family::new(
            Kind::Histogram,
            "http_request_duration_seconds",
            "A histogram of duration for requests.",
        );
        let requests = self.requests.lock();
        let mut all: Vec<_> = requests.iter().collect();
        all.sort_by_key(|(request, _)| **request);
        for (request, durations) in all {
            let mut total = 0;
            let bounds = self.bounds.iter().zip(&durations.counts);
            let buckets = bounds.map(|(bound, count)| {
                total += count;
                (*bound, total)
            });
            let buckets = buckets.collect();
            let nanoseconds = u64::try_from(durations.nanoseconds).unwrap_or(u64::MAX);
            let value = Sampled::Durations {
                buckets,
                count: durations.counts.iter().sum(),
                sum: Duration::from_nanos(nanoseconds).as_secs_f64(),
            };
            family.add(request.labels(), value);
        }
        family
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::family::text;
    use super::{Counts, Request};

    #[test]
    fn durations_are_counted_in_buckets() {
        let counts = Counts::new(&[1e-6, 0.01, 1.0]);
        let request = Request {
            code: 200,
            handler: "health",
            method: "get",
        };
        counts.answered(request, Duration::from_millis(5));
        counts.answered(request, Duration::from_secs(5));
        counts.cancelled(request);
        let text = text(&counts.families());
        for want in [
            "http_request_duration_seconds_bucket{code=\"200\",handler=\"health\",method=\"get\",le=\"1e-06\"} 0\n",
            "le=\"0.01\"} 1\n",
            "le=\"1\"} 1\n",
            "le=\"+Inf\"} 2\n",
            "http_request_duration_seconds_sum{code=\"200\",handler=\"health\",method=\"get\"} 5.005\n",
            "http_request_cancellations{code=\"200\",handler=\"health\",method=\"get\"} 1\n",
            "solon_requests_total 2\n",
        ] {
            assert!(text.contains(want), "{want}: {text}");
        }
    }
}
