//! The APIs, one file each, the one table of routes, and who may ask them.

mod access_log;
mod authorize;
mod batch;
mod body;
mod cache;
mod compile;
mod config;
mod data;
mod documents;
mod error;
mod evaluation;
mod filters;
mod health;
mod identity;
mod metrics;
mod metrics_page;
mod module_name;
mod openapi;
mod pages;
mod patch;
mod policies;
mod provenance;
mod query;
mod routes;
mod search;
mod service;
mod state;
mod status;
mod warning;
mod write;

pub use error::ApiError;
pub use module_name::{file_name, policy_id};
pub use provenance::{BUILD_COMMIT, BUILD_HOST, BUILD_TIMESTAMP, VERSION};
pub use service::Service;
pub use state::State;
pub use status::log as log_status;
