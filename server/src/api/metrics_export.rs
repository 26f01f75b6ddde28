//! Export of metrics over OTLP, at an interval.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::MissedTickBehavior;

use super::metrics_page::registry;
use super::service::RoutingService;
use crate::config::MetricsExportOptions;
use crate::plugins::Plugin;
use crate::telemetry::{Collector, messages, metrics_request};

/// Time limit of the export when the server stops.
const LAST: Duration = Duration::from_secs(5);

/// Sends all metrics at each interval and once when the server stops. `name` is the name of this server if the options have none.
pub async fn run(
    service: Arc<RoutingService>,
    plugin: Plugin,
    options: MetricsExportOptions,
    collector: Collector,
    name: &'static str,
) -> Result<(), String> {
    let start = SystemTime::now();
    let send = async |timeout| {
        let metrics = messages(&registry(service.state()));
        let request = metrics_request(&metrics, &options.collector, name, start);
        if let Err(error) = collector.send_metrics(request, timeout).await {
            tracing::warn!("Metrics export: {error}");
        }
    };
    let mut ticks = tokio::time::interval(options.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // the first tick is immediate
    ticks.tick().await;
    loop {
        let is_stopped = tokio::select! {
            () = plugin.stopped() => true,
            _ = ticks.tick() => false,
        };
        if is_stopped {
            send(LAST.min(options.interval.max(Duration::from_secs(1)))).await;
            return Ok(());
        }
        tokio::select! {
            () = plugin.stopped() => {}
            () = send(options.interval.max(Duration::from_secs(1))) => {}
        }
    }
}
