//! Tables of metrics, and statistics over several runs.

use std::collections::BTreeMap;

use solon::trace::Statistics;

use crate::cli::table::TextTable;
use crate::telemetry::{Measurement, Metrics};

/// Returns a table with two columns, and a row for each number of a histogram.
pub fn table(metrics: &Metrics) -> TextTable {
    let mut table = TextTable::new(vec!["Metric".to_owned(), "Value".to_owned()]);
    for (name, measured) in metrics.all() {
        match measured {
            Measurement::Number(number) => table.row(vec![name, number.to_string()]),
            Measurement::Histogram(histogram) => {
                let numbers = serde_json::to_value(histogram).unwrap_or_default();
                for (part, number) in numbers.as_object().into_iter().flatten() {
                    let number = number.as_f64().map(float).unwrap_or_default();
                    table.row(vec![format!("{name}_{part}"), number]);
                }
            }
        }
    }
    table
}

/// Returns statistics of the timers of several runs, by name.
pub fn aggregated(runs: &[Metrics]) -> BTreeMap<String, Statistics> {
    let mut samples: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for run in runs {
        for (name, measured) in run.all() {
            if let Measurement::Number(took) = measured
                && name.starts_with("timer_")
            {
                samples.entry(name).or_default().push(took);
            }
        }
    }
    let distributions = samples.into_iter();
    let distributions = distributions.map(|(name, samples)| {
        let statistics = Statistics::of_samples(&samples, samples.len() as u64);
        (name, statistics)
    });
    distributions.collect()
}

/// Returns a table of the statistics of several runs.
pub fn aggregated_table(timers: &BTreeMap<String, Statistics>) -> TextTable {
    let titles = ["Metric", "Min", "Max", "Mean", "90%", "99%"];
    let mut table = TextTable::new(titles.map(str::to_owned).to_vec());
    for (name, statistics) in timers {
        table.row(vec![
            name.clone(),
            statistics.min.to_string(),
            statistics.max.to_string(),
            float(statistics.mean),
            float(statistics.p90),
            float(statistics.p99),
        ]);
    }
    table
}

/// Returns a number in the shortest form that parses to the same number, with an exponent from 10⁶ on.
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
    use std::time::Duration;

    use super::{Metrics, aggregated, aggregated_table, float};

    #[test]
    fn numbers() {
        for (number, expected) in [
            (0.0, "0"),
            (76_931.0, "76931"),
            (663_789.666_666_666_6, "663789.6666666666"),
            (1_148_963.0, "1.148963e+06"),
            (0.000_05, "5e-05"),
        ] {
            assert_eq!(float(number), expected);
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
