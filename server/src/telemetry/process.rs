//! Metrics of the process, under Prometheus' usual names.

use metrics_process::collector::collect;
use prometheus_client::encoding::EncodeGaugeValue;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Registers the current metrics of the process. Metrics that the system does not provide are omitted.
pub fn register(registry: &mut Registry) {
    let process = collect();
    if let Some(seconds) = process.cpu_seconds_total {
        registry.register(
            "process_cpu_seconds",
            "Total user and system CPU time spent in seconds",
            ConstCounter::new(seconds),
        );
    }
    gauge(
        registry,
        "process_max_fds",
        "Maximum number of open file descriptors",
        // 0 means unlimited
        process.max_fds.filter(|limit| *limit > 0),
    );
    gauge(
        registry,
        "process_open_fds",
        "Number of open file descriptors",
        process.open_fds,
    );
    gauge(
        registry,
        "process_resident_memory_bytes",
        "Resident memory size in bytes",
        process.resident_memory_bytes,
    );
    gauge(
        registry,
        "process_start_time_seconds",
        "Start time of the process since unix epoch in seconds",
        process.start_time_seconds,
    );
    gauge(
        registry,
        "process_virtual_memory_bytes",
        "Virtual memory size in bytes",
        process.virtual_memory_bytes,
    );
}

/// Returns the resident memory of this process in bytes, or 0 if the system does not provide it.
pub fn resident_bytes() -> u64 {
    collect().resident_memory_bytes.unwrap_or_default()
}

fn gauge<N>(registry: &mut Registry, name: &str, help: &str, value: Option<N>)
where
    N: EncodeGaugeValue + std::fmt::Debug + Send + Sync + 'static,
    ConstGauge<N>: prometheus_client::registry::Metric,
{
    if let Some(value) = value {
        registry.register(name, help, ConstGauge::new(value));
    }
}
