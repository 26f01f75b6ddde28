//! The APIs, one file each, the one table of routes, and who may ask them.

mod access_log;
mod authorize;
mod body;
mod cache;
mod compile;
mod config;
mod data;
mod documents;
mod error;
mod evaluation;
mod explain;
mod filters;
mod health;
mod identity;
mod index;
mod metrics;
mod metrics_page;
mod patch;
mod policies;
mod provenance;
mod query;
mod routes;
mod service;
mod state;
mod status;
mod write;

pub use error::ApiError;
pub use provenance::VERSION;
pub use service::Service;
pub use state::State;
