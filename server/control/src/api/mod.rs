//! The API: maps requests to responses as plain values, independent of the listener and the transport.

mod answer;
pub(crate) mod audit;
mod body;
mod builds;
mod data;
mod download;
mod error;
mod grants;
mod items;
mod metrics;
mod openapi;
mod page;
mod pages;
mod preconditions;
mod request;
mod revisions;
mod routes;
mod secrets;
mod service;
mod statuses;
mod tokens;
mod webhooks;
mod write;

pub use body::Body;
pub use metrics::Metrics;
pub use request::RequestId;
pub use service::{Admitted, AdmittedKey, Service, ServiceState};
