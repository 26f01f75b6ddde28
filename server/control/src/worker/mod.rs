//! The worker: fetches, builds and publishes bundles when they are due, together with the workers of other instances.
//!
//! [`Worker::run`] polls the database for due bundles and takes a lease for each one that it builds. Invariant: at most one
//! instance publishes with a given fencing token, and results are recorded only while the lease is held. The lease of a bundle whose
//! storage permits one publisher only is kept between builds.

mod attempt;
mod bundle_stages;
mod desired;
mod git_metrics;
mod leasing;
mod metrics;
mod once;
mod parsed_items;
mod publishers;
mod running;
mod scheduler;
mod shared_sources;
mod stages;

pub use bundle_stages::BundleStages;
pub use desired::{Desired, DesiredSource};
pub use git_metrics::GitMetrics;
pub use metrics::BuildMetrics;
pub use once::BuildReport;
pub use parsed_items::ParsedItems;
pub use scheduler::{Worker, WorkerOptions};
pub use stages::{FetchJob, Needed, Publishers, Stages, Work};
