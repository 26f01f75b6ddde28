//! Solon's policy server as a library: a program can serve policies and documents from its own process.
//!
//! ```no_run
//! use solon::Engine;
//! use solon_server::Server;
//!
//! let engine = Engine::new();
//! engine.set_module("authz.rego", "package authz\nallow if input.user == \"alice\"")?;
//! Server::builder()
//!     .engine(engine)
//!     .address("localhost:8181")
//!     .build()
//!     .run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`cli`]: the commands
//! - `app`, `control`: lifecycle of the policy server and the control plane
//! - `api`: handlers of requests
//! - `envoy`: external authorization for Envoy
//! - `plugins`: background tasks of a server, and their states
//! - `net`: sockets, TLS, the hosts that requests may name
//! - `http`: transport of requests and responses
//! - `config`, `telemetry`: options; logs and metrics
//! - `json`: responses and outputs as JSON text
//! - `uuid`: random identifiers
//! - `wire`: parts of errors that API and commands share

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a panic in a test is a failing test"
    )
)]

mod api;
mod app;
pub mod cli;
mod config;
mod control;
#[cfg(feature = "envoy")]
mod envoy;
mod execution;
mod http;
mod json;
mod net;
mod plugins;
mod system;
mod telemetry;
mod uuid;
mod wire;

pub use app::{ListeningServer, Server, ServerBuilder};
pub use config::{
    Authentication, Authorization, BatchOptions, Bounds, BufferLimit, CollectorOptions,
    CollectorTls, DecisionLogOptions, EnvoyOptions, Fsync, LogDatabaseOptions, LogExportOptions,
    LogFileOptions, MetricsExportOptions, OtlpProtocol, Packing, ReportingOptions,
    ReportingTrigger, ServerOptions, Spelling, SpoolOptions, StatusOptions, TlsOptions, TlsVersion,
    TracingOptions, WhenFull,
};
pub use plugins::{BundleStatus, Plugin, PluginState};
