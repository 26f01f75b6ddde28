//! Builds of bundles: leases, scheduling and records.

mod instances;
mod leases;
mod webhooks;
