//! The HTTP client of Solon: for the plugins of the server, the control plane and `http.send`.
//!
//! | module | contains |
//! |---|---|
//! | [`networks`] | networks that connections may lead to. |
//! | [`proxy`] | the proxy of a request. |
//! | [`tls`] | certificates that a client trusts and presents. |
//! | [`transport`] | single requests over pooled connections. |
//! | [`error`] | errors, with the wording of Go's client. |
//! | [`config`] | services and keys of a configuration. |
//! | [`authorize`] | credentials of requests. |
//! | [`client`] | the client of one service: paths, headers, credentials, redirects, time-outs. |
//! | [`objects`] | objects in the stores of clouds. |
//! | [`registry`] | bundles in registries of container images. |
//! | [`observe`] | observers of requests, such as tracing. |
//! | [`backoff`] | random delays between requests. |
//! | [`services`] | the clients of a configuration by name. |
//!
//! Everything after [`error`] needs the feature `services`, and [`objects`] the feature `objects`.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a panic in a test is a failing test"
    )
)]

mod body;
mod connect;
mod errno;
pub mod error;
mod message;
pub mod networks;
pub mod proxy;
mod stream;
pub mod tls;
pub mod transport;

#[cfg(feature = "services")]
pub mod authorize;
#[cfg(feature = "services")]
pub mod backoff;
#[cfg(feature = "services")]
pub mod client;
#[cfg(feature = "services")]
pub mod config;
#[cfg(feature = "services")]
mod credentials;
#[cfg(feature = "services")]
mod files;
#[cfg(feature = "objects")]
pub mod objects;
#[cfg(feature = "services")]
pub mod observe;
#[cfg(feature = "services")]
pub mod registry;
#[cfg(feature = "services")]
pub mod services;

pub use body::BodyStream;
pub use error::{Error, ErrorKind};
pub use networks::NetworkRules;
pub use transport::{Target, Transport};

#[cfg(feature = "services")]
pub use authorize::Authorize;
#[cfg(feature = "services")]
pub use client::{Client, ClientOptions, ClientSetup, HeadTimeout};
#[cfg(feature = "services")]
pub use config::{KeyConfig, ServiceConfig, ServicesConfig};
#[cfg(feature = "services")]
pub use credentials::{CachedToken, ClientCredentials, Environment, GithubApp};
#[cfg(feature = "services")]
pub use services::Services;
