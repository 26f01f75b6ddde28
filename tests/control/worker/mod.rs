//! Builds of bundles: leases, scheduling and records.

mod desired;
mod instances;
mod leases;
mod webhooks;
