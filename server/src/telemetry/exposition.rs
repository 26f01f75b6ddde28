//! Metrics as text for Prometheus, and as the JSON form of Prometheus' messages.

use std::fmt;
use std::str::Chars;

use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value, json};

/// Name under which cancelled requests are registered.
pub const CANCELLATIONS: &str = "http_request_cancellations";

/// Counters that have no suffix in OPA. `prometheus-client` adds one to each counter.
const WITHOUT_SUFFIX: [&str; 3] = [
    CANCELLATIONS,
    "bundle_loaded_counter",
    "bundle_failed_load_counter",
];

/// Returns all metrics in Prometheus' text format 0.0.4.
pub fn text(registry: &Registry) -> String {
    let mut text = String::new();
    // neither writing to a string nor encoding a metric fails
    let _: fmt::Result = encode(&mut text, registry);
    for name in WITHOUT_SUFFIX {
        text = text.replace(&format!("{name}_total"), name);
    }
    text
}

/// Returns all metrics by name in the JSON form of Prometheus' messages, in which 64-bit integers are strings. It is derived from
/// [`text`], because `prometheus-client` passes values only to its own encoders.
pub fn messages(registry: &Registry) -> Value {
    let mut families = Map::new();
    let mut family = Family::default();
    for line in text(registry).lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            std::mem::take(&mut family).finish(&mut families);
            let (name, help) = rest.split_once(' ').unwrap_or((rest, ""));
            (family.name, family.help) = (name.to_owned(), help.to_owned());
        } else if line.starts_with("# TYPE ") {
            let (_, kind) = line.rsplit_once(' ').unwrap_or_default();
            kind.clone_into(&mut family.kind);
        } else {
            family.sample(line);
        }
    }
    family.finish(&mut families);
    Value::Object(families)
}

/// Metrics with one name.
#[derive(Default)]
struct Family {
    name: String,
    help: String,
    /// `counter`, `gauge` or `histogram`.
    kind: String,
    metrics: Vec<Value>,
    /// Finite buckets and the sum of a histogram, until its count is parsed.
    buckets: Vec<Value>,
    sum: f64,
}

impl Family {
    fn finish(self, families: &mut Map<String, Value>) {
        if !self.metrics.is_empty() {
            let message = json!({
                "name": self.name, "help": self.help, "type": self.kind.to_ascii_uppercase(), "metric": self.metrics,
            });
            families.insert(self.name, message);
        }
    }

    /// Parses the line of a sample: a name, labels in braces, and a number.
    fn sample(&mut self, line: &str) {
        let Some((series, value)) = line.rsplit_once(' ') else {
            return;
        };
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let mut labels = labels_of(labels);
        let number: f64 = value.parse().unwrap_or_default();
        match name.strip_prefix(&*self.name).unwrap_or_default() {
            "_bucket" => {
                let upper_bound = labels.pop().and_then(|(_, text)| text.parse::<f64>().ok());
                if let Some(limit) = upper_bound.filter(|limit| limit.is_finite()) {
                    let bucket = json!({"cumulativeCount": value, "upperBound": limit});
                    self.buckets.push(bucket);
                }
            }
            "_sum" => self.sum = number,
            "_count" => {
                let buckets = std::mem::take(&mut self.buckets);
                let histogram =
                    json!({"sampleCount": value, "sampleSum": self.sum, "bucket": buckets});
                self.add(labels, "histogram", histogram);
            }
            _ if self.kind == "counter" => self.add(labels, "counter", json!({ "value": number })),
            _ => self.add(labels, "gauge", json!({ "value": number })),
        }
    }

    fn add(&mut self, labels: Vec<(String, String)>, kind: &str, value: Value) {
        let mut metric = Map::new();
        if !labels.is_empty() {
            let labels = labels.into_iter();
            let labels = labels.map(|(name, value)| json!({"name": name, "value": value}));
            metric.insert("label".to_owned(), labels.collect());
        }
        metric.insert(kind.to_owned(), value);
        self.metrics.push(Value::Object(metric));
    }
}

/// Parses labels up to the closing brace: `name="value",…}`.
fn labels_of(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut rest = text.chars();
    while let Some((name, after)) = rest.as_str().split_once("=\"") {
        rest = after.chars();
        let value = take_quoted(&mut rest);
        labels.push((name.trim_start_matches(',').to_owned(), value));
    }
    labels
}

/// Parses a value up to its closing quote.
fn take_quoted(text: &mut Chars<'_>) -> String {
    let mut value = String::new();
    while let Some(c) = text.next() {
        match c {
            '"' => break,
            '\\' => match text.next() {
                Some('n') => value.push('\n'),
                escaped => value.extend(escaped),
            },
            _ => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::metrics::counter::ConstCounter;
    use prometheus_client::metrics::gauge::ConstGauge;
    use prometheus_client::registry::Registry;
    use solon_common::metrics::DurationFamily;

    use super::{messages, text};

    fn registry() -> Registry {
        let mut registry = Registry::default();
        let durations = DurationFamily::durations(&[1e-6, 0.01]);
        let labels = vec![("code", "a\"b\\,\nc}".to_owned()), ("x", String::new())];
        for took in [5, 5000] {
            durations.with(&labels, |histogram| {
                histogram.observe(Duration::from_millis(took));
            });
        }
        registry.register("took", "How long", durations.family());
        registry.register("solon_x", "X", ConstGauge::new(7_u64));
        registry.register("solon_y", "Y", ConstCounter::new(1.5));
        registry
    }

    #[test]
    fn as_text() {
        let labels = "code=\"a\\\"b\\\\,\\nc}\",x=\"\"";
        let expected = format!(
            "# HELP took How long.\n# TYPE took histogram\n\
             took_bucket{{{labels},le=\"1e-06\"}} 0\n\
             took_bucket{{{labels},le=\"0.01\"}} 1\n\
             took_bucket{{{labels},le=\"+Inf\"}} 2\n\
             took_sum{{{labels}}} 5.005\n\
             took_count{{{labels}}} 2\n\
             # HELP solon_x X.\n# TYPE solon_x gauge\nsolon_x 7\n\
             # HELP solon_y_total Y.\n# TYPE solon_y_total counter\nsolon_y_total 1.5\n"
        );
        assert_eq!(text(&registry()), expected);
    }

    #[test]
    fn as_messages() {
        assert_eq!(
            messages(&registry()),
            serde_json::json!({
                "took": {"name": "took", "help": "How long.", "type": "HISTOGRAM", "metric": [{
                    "label": [{"name": "code", "value": "a\"b\\,\nc}"}, {"name": "x", "value": ""}],
                    "histogram": {"sampleCount": "2", "sampleSum": 5.005, "bucket": [
                        {"cumulativeCount": "0", "upperBound": 1e-6},
                        {"cumulativeCount": "1", "upperBound": 0.01},
                    ]},
                }]},
                "solon_x": {"name": "solon_x", "help": "X.", "type": "GAUGE",
                    "metric": [{"gauge": {"value": 7.0}}]},
                "solon_y_total": {"name": "solon_y_total", "help": "Y.", "type": "COUNTER",
                    "metric": [{"counter": {"value": 1.5}}]},
            })
        );
    }
}
