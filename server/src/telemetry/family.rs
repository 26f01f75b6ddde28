//! Families of samples, and how they are written: in Prometheus' text form, and in the JSON form of its messages.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What a family counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It rises and falls.
    Gauge,
    /// A distribution.
    Histogram,
}

/// Samples of one name.
#[derive(Clone, Debug)]
pub struct Family {
    name: String,
    help: String,
    kind: Kind,
    samples: Vec<Sample>,
}

#[derive(Clone, Debug)]
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: Sampled,
}

/// What was counted under some labels.
#[derive(Clone, Debug)]
pub enum Sampled {
    /// A count, or a value.
    Number(f64),
    /// How durations are distributed.
    Durations {
        /// Upper bounds in seconds, and how many took no longer.
        buckets: Vec<(f64, u64)>,
        /// How many there were.
        count: u64,
        /// Seconds that they took together.
        sum: f64,
    },
}

impl Family {
    /// A family without samples.
    pub fn new(kind: Kind, name: &str, help: &str) -> Self {
        Self {
            name: name.to_owned(),
            help: help.to_owned(),
            kind,
            samples: Vec::new(),
        }
    }

    /// A family of one sample; its name tells whether it only grows.
    pub fn single(name: &str, help: &str, value: f64) -> Self {
        let kind = if name.ends_with("_total") {
            Kind::Counter
        } else {
            Kind::Gauge
        };
        let mut family = Self::new(kind, name, help);
        family.add(Vec::new(), Sampled::Number(value));
        family
    }

    /// Adds a sample.
    pub fn add(&mut self, labels: Vec<(&'static str, String)>, value: Sampled) {
        self.samples.push(Sample { labels, value });
    }

    /// Whether nothing was counted yet.
    fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}

/// A count as a sample.
#[expect(
    clippy::cast_precision_loss,
    reason = "samples are floats on the wire, whatever they count"
)]
pub fn number(count: u64) -> f64 {
    count as f64
}

/// All families in Prometheus' text form.
pub fn text(families: &[Family]) -> String {
    let mut out = String::new();
    // writing to a string does not fail
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = writeln!(out, "{text}");
    };
    for family in families.iter().filter(|family| !family.is_empty()) {
        let name = &family.name;
        line(format_args!("# HELP {name} {}", family.help));
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        line(format_args!("# TYPE {name} {kind}"));
        for Sample { labels, value } in &family.samples {
            match value {
                Sampled::Number(value) => {
                    line(format_args!("{name}{} {value}", braced(labels, None)));
                }
                Sampled::Durations {
                    buckets,
                    count,
                    sum,
                } => {
                    for (bound, total) in buckets {
                        let labels = braced(labels, Some(&go_float(*bound)));
                        line(format_args!("{name}_bucket{labels} {total}"));
                    }
                    let all = braced(labels, Some("+Inf"));
                    line(format_args!("{name}_bucket{all} {count}"));
                    let labels = braced(labels, None);
                    line(format_args!("{name}_sum{labels} {sum}"));
                    line(format_args!("{name}_count{labels} {count}"));
                }
            }
        }
    }
    out
}

/// Labels in braces, and the bound of a bucket behind them.
fn braced(labels: &[(&'static str, String)], bound: Option<&str>) -> String {
    let pairs = labels.iter().map(|(name, value)| (*name, value.as_str()));
    let pairs: Vec<String> = pairs
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", pairs.join(","))
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// All families by name, as the JSON form of Prometheus' messages has them: whole numbers of 64 bits are texts there.
pub fn json(families: &[Family]) -> Value {
    let families = families.iter().filter(|family| !family.is_empty());
    let families = families.map(|family| {
        let kind = match family.kind {
            Kind::Counter => "COUNTER",
            Kind::Gauge => "GAUGE",
            Kind::Histogram => "HISTOGRAM",
        };
        let metric: Vec<Value> = family.samples.iter().map(|one| one.json(family)).collect();
        let message = json!({
            "name": family.name, "help": family.help, "type": kind, "metric": metric,
        });
        (family.name.clone(), message)
    });
    Value::Object(families.collect())
}

impl Sample {
    fn json(&self, family: &Family) -> Value {
        let labels: Vec<Value> = self
            .labels
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let mut out = if labels.is_empty() {
            json!({})
        } else {
            json!({ "label": labels })
        };
        let (name, value) = match &self.value {
            Sampled::Number(value) if family.kind == Kind::Counter => {
                ("counter", json!({ "value": value }))
            }
            Sampled::Number(value) => ("gauge", json!({ "value": value })),
            Sampled::Durations {
                buckets,
                count,
                sum,
            } => {
                let buckets: Vec<Value> = buckets
                    .iter()
                    .map(|(bound, total)| {
                        json!({"cumulativeCount": total.to_string(), "upperBound": bound})
                    })
                    .collect();
                let count = count.to_string();
                let histogram = json!({"sampleCount": count, "sampleSum": sum, "bucket": buckets});
                ("histogram", histogram)
            }
        };
        if let Value::Object(fields) = &mut out {
            fields.insert(name.to_owned(), value);
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
    use super::{Family, Kind, Sampled, json, text};

    fn families() -> [Family; 3] {
        let mut durations = Family::new(Kind::Histogram, "took", "How long.");
        durations.add(
            vec![("code", "a\"b".to_owned())],
            Sampled::Durations {
                buckets: vec![(1e-6, 0), (0.01, 1)],
                count: 2,
                sum: 5.005,
            },
        );
        let empty = Family::new(Kind::Gauge, "nothing", "Of nothing.");
        [durations, empty, Family::single("solon_x", "X.", 7.0)]
    }

    #[test]
    fn as_text() {
        assert_eq!(
            text(&families()),
            "# HELP took How long.\n# TYPE took histogram\n\
             took_bucket{code=\"a\\\"b\",le=\"1e-06\"} 0\n\
             took_bucket{code=\"a\\\"b\",le=\"0.01\"} 1\n\
             took_bucket{code=\"a\\\"b\",le=\"+Inf\"} 2\n\
             took_sum{code=\"a\\\"b\"} 5.005\n\
             took_count{code=\"a\\\"b\"} 2\n\
             # HELP solon_x X.\n# TYPE solon_x gauge\nsolon_x 7\n"
        );
    }

    #[test]
    fn as_messages() {
        assert_eq!(
            json(&families()),
            serde_json::json!({
                "took": {"name": "took", "help": "How long.", "type": "HISTOGRAM", "metric": [{
                    "label": [{"name": "code", "value": "a\"b"}],
                    "histogram": {"sampleCount": "2", "sampleSum": 5.005, "bucket": [
                        {"cumulativeCount": "0", "upperBound": 1e-6},
                        {"cumulativeCount": "1", "upperBound": 0.01},
                    ]},
                }]},
                "solon_x": {"name": "solon_x", "help": "X.", "type": "GAUGE",
                    "metric": [{"gauge": {"value": 7.0}}]},
            })
        );
    }
}
