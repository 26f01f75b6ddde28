//! Configuration of the server by command line and configuration file.

mod bounds;
mod decision_logs;
mod distribution;
mod envoy;
mod file;
mod live;
mod options;
mod otlp;
mod spelling;

pub use bounds::Bounds;
pub use decision_logs::{
    BufferLimit, DecisionLogOptions, Fsync, LogDatabaseOptions, LogFileOptions, ReportingOptions,
    ReportingTrigger, SpoolOptions, WhenFull,
};
pub use distribution::{
    BundleLocation, BundleSettings, DiscoverySettings, PluginSettings, Polling, RequiredSignature,
    Signing, StatusSettings,
};
pub use envoy::{ENVOY, EnvoyOptions};
pub use file::{Config, Sources, tracing_options};
pub use live::{Live, LiveOptions};
pub use options::{
    Authentication, Authorization, NO_AUTHORITIES, Packing, ServerOptions, StatusOptions,
    TlsOptions, TlsVersion,
};
pub use otlp::{
    BatchOptions, CollectorOptions, CollectorTls, LogExportOptions, MetricsExportOptions,
    OtlpProtocol, TracingOptions,
};
pub use spelling::Spelling;
