//! Timers, counters and histograms of one run, and what those of several come to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use solon::SendMetrics;
use solon::trace::{Instruments, Statistics};

use crate::cli::table::Table;

/// What was measured, by its published name.
#[derive(Default)]
pub struct Metrics(RefCell<BTreeMap<String, Measured>>);

/// One thing that was measured.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Measured {
    /// Nanoseconds, or how often.
    Number(u64),
    /// The distribution of nanoseconds.
    Histogram(Statistics),
}

impl Metrics {
    /// Notes how long something took; of several stages of one name all together.
    pub fn add(&self, name: &str, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut all = self.0.borrow_mut();
        let timer = all
            .entry(format!("timer_{name}_ns"))
            .or_insert(Measured::Number(0));
        if let Measured::Number(sum) = timer {
            *sum = sum.saturating_add(took);
        }
    }

    /// Notes how long something took that began at `start` and ends now.
    pub fn since(&self, name: &str, start: Instant) {
        self.add(name, start.elapsed());
    }

    /// Notes what was measured of a search.
    pub fn instruments(&self, instruments: &Instruments) {
        for (name, total, statistics) in instruments.times() {
            self.add(name, total);
            let name = format!("histogram_{name}");
            let histogram = Measured::Histogram(statistics);
            self.0.borrow_mut().insert(name, histogram);
        }
        for (name, count) in instruments.counts() {
            let name = format!("counter_{name}");
            self.0.borrow_mut().insert(name, Measured::Number(count));
        }
    }

    /// Notes what `http.send` did.
    pub fn sent(&self, sent: &SendMetrics) {
        if let Some((name, took)) = sent.timer() {
            self.add(name, took);
        }
        for (name, count) in sent.counters() {
            let name = format!("counter_{name}");
            self.0.borrow_mut().insert(name, Measured::Number(count));
        }
    }

    /// Everything by name.
    pub fn json(&self) -> impl Serialize {
        self.0.borrow().clone()
    }

    /// Two columns, a row for each number of a histogram.
    pub fn table(&self) -> Table {
        let mut table = Table::new(vec!["Metric".to_owned(), "Value".to_owned()]);
        for (name, measured) in &*self.0.borrow() {
            match measured {
                Measured::Number(number) => table.row(vec![name.clone(), number.to_string()]),
                Measured::Histogram(many) => {
                    let numbers = serde_json::to_value(many).unwrap_or_default();
                    for (part, number) in numbers.as_object().into_iter().flatten() {
                        let number = number.as_f64().map(float).unwrap_or_default();
                        table.row(vec![format!("{name}_{part}"), number]);
                    }
                }
            }
        }
        table
    }
}

/// The timers of several runs, by name.
pub fn aggregated(runs: &[Metrics]) -> BTreeMap<String, Statistics> {
    let mut samples: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for run in runs {
        for (name, measured) in &*run.0.borrow() {
            if let Measured::Number(took) = measured
                && name.starts_with("timer_")
            {
                samples.entry(name.clone()).or_default().push(*took);
            }
        }
    }
    let distributions = samples.into_iter();
    let distributions = distributions.map(|(name, samples)| {
        let statistics = Statistics::of(&samples, samples.len() as u64);
        (name, statistics)
    });
    distributions.collect()
}

/// What several runs come to.
pub fn aggregated_table(timers: &BTreeMap<String, Statistics>) -> Table {
    let titles = ["Metric", "Min", "Max", "Mean", "90%", "99%"];
    let mut table = Table::new(titles.map(str::to_owned).to_vec());
    for (name, many) in timers {
        table.row(vec![
            name.clone(),
            many.min.to_string(),
            many.max.to_string(),
            float(many.mean),
            float(many.p90),
            float(many.p99),
        ]);
    }
    table
}

/// A number in the shortest form that reads back, with an exponent from a million on.
fn float(number: f64) -> String {
    if number.abs() < 1e6 && (number == 0.0 || number.abs() >= 1e-4) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Metrics, aggregated, aggregated_table, float};

    #[test]
    fn numbers() {
        for (number, want) in [
            (0.0, "0"),
            (76_931.0, "76931"),
            (663_789.666_666_666_6, "663789.6666666666"),
            (1_148_963.0, "1.148963e+06"),
            (0.000_05, "5e-05"),
        ] {
            assert_eq!(float(number), want);
        }
    }

    #[test]
    fn several_runs() {
        let runs = [3_u64, 5].map(|time| {
            let run = Metrics::default();
            run.add("a", Duration::from_nanos(time));
            run.add("a", Duration::from_nanos(1));
            run
        });
        let timers = aggregated(&runs);
        let all = timers.get("timer_a_ns").unwrap();
        assert_eq!((all.min, all.max, all.mean), (4, 6, 5.0));
        assert!(aggregated_table(&timers).render().contains("timer_a_ns"));
    }
}
