//! Builds of bundles: leases, scheduling and records.

mod counted_work;
mod desired;
mod instances;
mod leases;
mod webhooks;
