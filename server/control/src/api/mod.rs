//! The API: requests as plain values in, answers as plain values out. Whoever listens, and how, is not known here.

mod answer;
pub(crate) mod audit;
mod data;
mod error;
mod grants;
mod items;
mod metrics;
mod openapi;
mod pages;
mod preconditions;
mod request;
mod routes;
mod secrets;
mod service;
mod statuses;
mod tokens;
mod write;

pub use metrics::Metrics;
pub use request::RequestId;
pub use service::{Admitted, KnownKey, Service, State};
