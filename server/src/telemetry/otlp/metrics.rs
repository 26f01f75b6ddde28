//! Metrics as messages of OTLP, converted from those of Prometheus.

use std::time::{SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use serde_json::Value;

use super::attributes::{attribute, resource, scope};
use crate::config::CollectorOptions;

/// Returns a request with all metrics, which are messages of Prometheus as [`super::super::messages`] returns them. `service` is the
/// name of this server if the options have none. `start` is the time from which counters count.
pub fn metrics_request(
    messages: &Value,
    options: &CollectorOptions,
    service: &str,
    start: SystemTime,
) -> ExportMetricsServiceRequest {
    let times = ExportTimes {
        start: nanoseconds(start),
        now: nanoseconds(SystemTime::now()),
    };
    let families = messages.as_object().into_iter().flatten();
    let metrics = families.filter_map(|(name, family)| metric(name, family, times));
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource(options, service)),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics: metrics.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// Times in nanoseconds since 1970.
#[derive(Clone, Copy)]
struct ExportTimes {
    start: u64,
    now: u64,
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn metric(name: &str, family: &Value, times: ExportTimes) -> Option<Metric> {
    let points = family.get("metric")?.as_array()?;
    let numbers = |kind: &str| {
        let points = points.iter();
        let points = points.filter_map(|point| {
            let value = point.get(kind)?.get("value")?.as_f64()?;
            Some(NumberDataPoint {
                attributes: labels(point),
                start_time_unix_nano: if kind == "counter" { times.start } else { 0 },
                time_unix_nano: times.now,
                value: Some(Number::AsDouble(value)),
                ..NumberDataPoint::default()
            })
        });
        points.collect::<Vec<_>>()
    };
    let cumulative = AggregationTemporality::Cumulative.into();
    let data = match family.get("type")?.as_str()? {
        "COUNTER" => Data::Sum(Sum {
            data_points: numbers("counter"),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        "GAUGE" => Data::Gauge(Gauge {
            data_points: numbers("gauge"),
        }),
        "HISTOGRAM" => Data::Histogram(Histogram {
            data_points: points
                .iter()
                .filter_map(|point| histogram(point, times))
                .collect(),
            aggregation_temporality: cumulative,
        }),
        _ => return None,
    };
    let help = family.get("help").and_then(Value::as_str);
    Some(Metric {
        name: name.to_owned(),
        description: help.unwrap_or_default().to_owned(),
        data: Some(data),
        ..Metric::default()
    })
}

fn labels(point: &Value) -> Vec<KeyValue> {
    let labels = point.get("label").and_then(Value::as_array);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|label| {
            let text = |name: &str| label.get(name)?.as_str();
            Some(attribute(text("name")?, text("value")?))
        })
        .collect()
}

fn histogram(point: &Value, times: ExportTimes) -> Option<HistogramDataPoint> {
    let histogram = point.get("histogram")?;
    let number = |value: &Value| value.as_str()?.parse::<u64>().ok();
    let count = number(histogram.get("sampleCount")?)?;
    let (mut counts, mut bounds, mut before) = (Vec::new(), Vec::new(), 0);
    for bucket in histogram.get("bucket")?.as_array()? {
        let cumulative = number(bucket.get("cumulativeCount")?)?;
        counts.push(cumulative.saturating_sub(before));
        bounds.push(bucket.get("upperBound")?.as_f64()?);
        before = cumulative;
    }
    counts.push(count.saturating_sub(before));
    Some(HistogramDataPoint {
        attributes: labels(point),
        start_time_unix_nano: times.start,
        time_unix_nano: times.now,
        count,
        sum: histogram.get("sampleSum")?.as_f64(),
        bucket_counts: counts,
        explicit_bounds: bounds,
        ..HistogramDataPoint::default()
    })
}
