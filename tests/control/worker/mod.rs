//! Builds of bundles: leases, scheduling and records.

mod leases;
