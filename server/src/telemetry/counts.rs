//! What is counted, as `/metrics` tells it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// Counts of one process.
#[derive(Debug)]
pub struct Counts {
    bounds: Vec<f64>,
    requests: Mutex<HashMap<Kind, Durations>>,
    answered: AtomicU64,
    misjudged: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    code: u16,
    handler: &'static str,
    method: &'static str,
}

#[derive(Debug)]
struct Durations {
    /// How many took less than each bound and more than the one before; behind them how many took more.
    counts: Vec<u64>,
    nanoseconds: u128,
}

impl Counts {
    /// Nothing yet; `bounds` are those of durations, in seconds and in order.
    pub fn new(bounds: &[f64]) -> Self {
        Self {
            bounds: bounds.to_vec(),
            requests: Mutex::default(),
            answered: AtomicU64::new(0),
            misjudged: AtomicU64::new(0),
        }
    }

    /// Counts an answered request.
    pub fn answered(&self, handler: &'static str, method: &'static str, code: u16, took: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        let at = self.bounds.partition_point(|bound| *bound < seconds);
        let kind = Kind {
            code,
            handler,
            method,
        };
        let mut requests = self.requests.lock();
        let durations = requests.entry(kind).or_insert_with(|| Durations {
            counts: vec![0; self.bounds.len() + 1],
            nanoseconds: 0,
        });
        if let Some(count) = durations.counts.get_mut(at) {
            *count += 1;
        }
        durations.nanoseconds += took.as_nanos();
    }

    /// Counts a decision that was begun on a thread that could not wait for it.
    pub fn misjudged(&self) {
        self.misjudged.fetch_add(1, Ordering::Relaxed);
    }

    /// All counts in Prometheus' text form, and further `gauges` with their descriptions.
    pub fn text(&self, gauges: &[(&str, &str, u64)]) -> String {
        let mut out = String::new();
        // writing to a string does not fail
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = writeln!(out, "{text}");
        };
        let requests = self.requests.lock();
        let mut kinds: Vec<_> = requests.iter().collect();
        kinds.sort_by_key(|(kind, _)| **kind);
        let name = "http_request_duration_seconds";
        line(format_args!(
            "# HELP {name} A histogram of duration for requests."
        ));
        line(format_args!("# TYPE {name} histogram"));
        for (kind, durations) in kinds {
            let Kind {
                code,
                handler,
                method,
            } = kind;
            let labels = format!("code=\"{code}\",handler=\"{handler}\",method=\"{method}\"");
            let mut total = 0;
            for (at, count) in durations.counts.iter().enumerate() {
                total += count;
                match self.bounds.get(at) {
                    Some(bound) => {
                        let bound = go_float(*bound);
                        line(format_args!(
                            "{name}_bucket{{{labels},le=\"{bound}\"}} {total}"
                        ));
                    }
                    None => line(format_args!(
                        "{name}_bucket{{{labels},le=\"+Inf\"}} {total}"
                    )),
                }
            }
            let seconds =
                Duration::from_nanos(u64::try_from(durations.nanoseconds).unwrap_or(u64::MAX));
            line(format_args!(
                "{name}_sum{{{labels}}} {}",
                seconds.as_secs_f64()
            ));
            line(format_args!("{name}_count{{{labels}}} {total}"));
        }
        let own = [
            (
                "solon_requests_total",
                "Requests that were answered.",
                self.answered.load(Ordering::Relaxed),
            ),
            (
                "solon_misjudged_total",
                "Decisions that took longer than they were thought to, and were made anew in the pool.",
                self.misjudged.load(Ordering::Relaxed),
            ),
        ];
        for (name, help, value) in own.iter().chain(gauges) {
            let kind = if name.ends_with("_total") {
                "counter"
            } else {
                "gauge"
            };
            line(format_args!("# HELP {name} {help}"));
            line(format_args!("# TYPE {name} {kind}"));
            line(format_args!("{name} {value}"));
        }
        out
    }
}

/// A number as Go writes it in labels: with an exponent of two digits where it is small.
fn go_float(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        let text = format!("{value:e}");
        match text.split_once("e-") {
            Some((digits, power)) => format!("{digits}e-{power:0>2}"),
            None => text,
        }
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Counts;

    #[test]
    fn durations_are_counted_in_buckets() {
        let counts = Counts::new(&[1e-6, 0.01, 1.0]);
        counts.answered("health", "get", 200, Duration::from_millis(5));
        counts.answered("health", "get", 200, Duration::from_secs(5));
        let text = counts.text(&[("solon_x", "X.", 7)]);
        for want in [
            "http_request_duration_seconds_bucket{code=\"200\",handler=\"health\",method=\"get\",le=\"1e-06\"} 0\n",
            "le=\"0.01\"} 1\n",
            "le=\"1\"} 1\n",
            "le=\"+Inf\"} 2\n",
            "http_request_duration_seconds_sum{code=\"200\",handler=\"health\",method=\"get\"} 5.005\n",
            "solon_requests_total 2\n",
            "# TYPE solon_x gauge\nsolon_x 7\n",
        ] {
            assert!(text.contains(want), "{want}: {text}");
        }
    }
}
