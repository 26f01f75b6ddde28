//! External authorization for Envoy: a service over gRPC (`ext_authz` v3) and one over HTTP.
//!
//! - `attributes`, `target`, `body`, `descriptors`, `input`: the input of a decision
//! - `decision`: the result of a policy
//! - `authorizer`: evaluation, with the decision log
//! - `response`, `grpc`: the service over gRPC
//! - `web`: the service over HTTP
//! - `sockets`: connections of the gRPC service
//! - `counts`: metrics
//! - `plugin`: start and end
//!
//! A request without a decision is denied: the decision is undefined or of a wrong form, its evaluation failed or took too long,
//! or too much is being done at once. Envoy passes requests on after an error of gRPC if it is configured with
//! `failure_mode_allow`. Therefore, the service denies them by a response (`--compat opa` restores the errors).

mod attributes;
mod authorizer;
mod body;
mod counts;
mod decision;
mod descriptors;
mod grpc;
mod input;
mod plugin;
mod response;
mod sockets;
mod target;
mod web;

pub use plugin::Opened;
