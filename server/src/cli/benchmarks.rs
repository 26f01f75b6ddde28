//! Benchmark results in the form of Go's `testing.BenchmarkResult`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

pub const TIME: Duration = Duration::from_secs(1);

/// Results of a benchmark. Allocations are not counted.
#[derive(Default)]
pub struct BenchmarkResult {
    pub runs: u64,
    /// Total time of all runs.
    pub elapsed: Duration,
    /// Other numbers by name, per run or in total.
    pub extra: BTreeMap<String, f64>,
}

/// JSON of a benchmark's result, with the names of Go's.
#[derive(Serialize)]
pub struct MeasuredJson {
    #[serde(rename = "N")]
    runs: u64,
    #[serde(rename = "T")]
    nanoseconds: u64,
    #[serde(rename = "Bytes")]
    bytes: u64,
    #[serde(rename = "MemAllocs")]
    allocations: u64,
    #[serde(rename = "MemBytes")]
    allocated: u64,
    #[serde(rename = "Extra")]
    extra: Option<BTreeMap<String, f64>>,
}

impl BenchmarkResult {
    /// Calls `run` for one second, or until its first error.
    ///
    /// # Errors
    /// Returns the first error of `run`.
    pub fn repeat<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        // the first run fills caches
        run()?;
        let start = Instant::now();
        let mut measured = Self::default();
        let mut batch = 1;
        while measured.elapsed < TIME {
            for _ in 0..batch {
                run()?;
            }
            measured.runs += batch;
            measured.elapsed = start.elapsed();
            // a batch takes at most a tenth of the remaining time
            let remaining = TIME.saturating_sub(measured.elapsed).as_nanos();
            let mean = (measured.elapsed.as_nanos() / u128::from(measured.runs)).max(1);
            batch = u64::try_from(remaining / mean / 10)
                .unwrap_or(1)
                .clamp(1, 1_000_000);
        }
        Ok(measured)
    }

    /// Returns the mean time of a run, in nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than 52 bits"
    )]
    pub fn mean_ns(&self) -> f64 {
        match self.runs {
            0 => 0.0,
            runs => self.elapsed.as_nanos() as f64 / runs as f64,
        }
    }

    /// Returns the line of Go's benchmarks after the name.
    pub fn line(&self) -> String {
        let mut line = format!("{:>8}", self.runs);
        let mean = self.mean_ns();
        if mean != 0.0 {
            line.push('\t');
            line.push_str(&number(mean, "ns/op"));
        }
        for (name, value) in &self.extra {
            line.push('\t');
            line.push_str(&number(*value, name));
        }
        line
    }

    /// Returns the JSON form. A test that failed has no extra measurements.
    pub fn json(&self) -> MeasuredJson {
        MeasuredJson {
            runs: self.runs,
            nanoseconds: u64::try_from(self.elapsed.as_nanos()).unwrap_or(u64::MAX),
            bytes: 0,
            allocations: 0,
            allocated: 0,
            // a test that failed was not measured
            extra: (self.runs > 0).then(|| self.extra.clone()),
        }
    }
}

/// Returns a number with its unit, aligned at the decimal point like Go's benchmarks.
fn number(value: f64, unit: &str) -> String {
    let (width, digits) = match value.abs() {
        0.0 | 999.95.. => (10, 0),
        99.995.. => (12, 1),
        9.9995.. => (13, 2),
        0.99995.. => (14, 3),
        0.099_995.. => (15, 4),
        0.009_999_5.. => (16, 5),
        0.000_999_95.. => (17, 6),
        _ => (18, 7),
    };
    format!("{value:width$.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_aligned() {
        for (value, expected) in [
            (13_409.4, "     13409 ns/op"),
            (0.0, "         0 ns/op"),
            (123.45, "       123.5 ns/op"),
            (12.345, "        12.35 ns/op"),
            (1.2345, "         1.234 ns/op"),
        ] {
            assert_eq!(number(value, "ns/op"), expected);
        }
    }
}
