//! The APIs, one file each, and the one table of routes.

mod body;
mod compile;
mod data;
mod documents;
mod error;
mod explain;
mod health;
mod index;
mod metrics;
mod patch;
mod policies;
mod prints;
mod provenance;
mod query;
mod routes;
mod state;
mod write;

pub use error::ApiError;
pub use provenance::VERSION;
pub use routes::Service;
pub use state::State;
