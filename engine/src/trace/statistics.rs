//! Statistics of measured times.

use serde::{Serialize, Serializer};

/// Distribution of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// 75th percentile.
    #[serde(rename = "75%", serialize_with = "number")]
    pub p75: f64,
    /// 90th percentile.
    #[serde(rename = "90%", serialize_with = "number")]
    pub p90: f64,
    /// 95th percentile.
    #[serde(rename = "95%", serialize_with = "number")]
    pub p95: f64,
    /// 99th percentile.
    #[serde(rename = "99%", serialize_with = "number")]
    pub p99: f64,
    /// 99.9th percentile.
    #[serde(rename = "99.9%", serialize_with = "number")]
    pub p999: f64,
    /// 99.99th percentile.
    #[serde(rename = "99.99%", serialize_with = "number")]
    pub p9999: f64,
    /// Total number of samples, also of those that were not kept.
    pub count: u64,
    /// Maximum of the kept samples.
    pub max: u64,
    /// Arithmetic mean of the kept samples.
    #[serde(serialize_with = "number")]
    pub mean: f64,
    /// Median of the kept samples.
    #[serde(serialize_with = "number")]
    pub median: f64,
    /// Minimum of the kept samples.
    pub min: u64,
    /// Standard deviation.
    #[serde(serialize_with = "number")]
    pub stddev: f64,
}

/// Serializes whole numbers without a decimal point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::trivially_copy_pass_by_ref,
    reason = "guarded by the comparison; times are not negative; serde hands out references"
)]
fn number<S: Serializer>(value: &f64, out: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && *value < 1e18 {
        out.serialize_u64(*value as u64)
    } else {
        out.serialize_f64(*value)
    }
}

impl Statistics {
    /// Computes the distribution of samples. `count` is the total number of samples if only some were kept.
    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds within a hundred days are exact"
    )]
    pub fn of_samples(samples: &[u64], count: u64) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
            return Self::default();
        };
        let size = sorted.len() as f64;
        let mean = sorted.iter().map(|sample| *sample as f64).sum::<f64>() / size;
        let squares = sorted.iter().map(|sample| (*sample as f64 - mean).powi(2));
        Self {
            p75: percentile(&sorted, 0.75),
            p90: percentile(&sorted, 0.9),
            p95: percentile(&sorted, 0.95),
            p99: percentile(&sorted, 0.99),
            p999: percentile(&sorted, 0.999),
            p9999: percentile(&sorted, 0.9999),
            count,
            max: *max,
            mean,
            median: percentile(&sorted, 0.5),
            min: *min,
            stddev: (squares.sum::<f64>() / size).sqrt(),
        }
    }
}

/// Returns a quantile of sorted samples by linear interpolation.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions among few samples"
)]
fn percentile(sorted: &[u64], share: f64) -> f64 {
    let position = share * (sorted.len() as f64 + 1.0);
    let index = position as usize;
    let sample = |index: usize| sorted.get(index).map_or(0.0, |sample| *sample as f64);
    if index < 1 {
        sample(0)
    } else if index >= sorted.len() {
        sample(sorted.len().saturating_sub(1))
    } else {
        let (lower, upper) = (sample(index - 1), sample(index));
        lower + (position - position.floor()) * (upper - lower)
    }
}

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    reason = "figures are the reference engine's to the last bit"
)]
mod tests {
    use super::Statistics;

    #[test]
    fn distributions() {
        let three = Statistics::of_samples(&[1_238_947, 302_261, 493_015], 3);
        assert_eq!((three.count, three.min, three.max), (3, 302_261, 1_238_947));
        assert_eq!((three.median, three.p75), (493_015.0, 1_238_947.0));
        assert_eq!(three.mean, 678_074.333_333_333_4);
        assert_eq!(three.stddev, 404_170.247_370_530_15);
        let pair = Statistics::of_samples(&[22_984, 1_252], 2);
        assert_eq!((pair.median, pair.stddev), (12_118.0, 10_866.0));
        assert_eq!(Statistics::of_samples(&[], 0), Statistics::default());
        let four = Statistics::of_samples(&[150, 311, 451, 1653], 4);
        assert_eq!(four.p75, 451.0 + 0.75 * (1653.0 - 451.0));
    }
}
