//! Policies of Solon for HTTP services: a [`tower`](https://docs.rs/tower) layer, and extractors of
//! [`axum`](https://docs.rs/axum) with the feature `axum`.
//!
//! A [`Policy`] is a document that decides on requests. [`PolicyLayer`] lets a request through only if the document is exactly
//! `true`. Denied requests get 403. If the evaluation fails, the request gets 500.
//!
//! ```
//! use solon::Engine;
//! use solon_tower::{Policy, PolicyLayer};
//! use tower::{ServiceBuilder, service_fn};
//!
//! # fn main() -> Result<(), solon::Error> {
//! let engine = Engine::new();
//! engine.set_module("http.rego", "package http\n\nallow if input.path[0] == \"public\"")?;
//! let policy = Policy::new(engine.prepare_document("data.http.allow")?.must_exist()?);
//!
//! let service = ServiceBuilder::new()
//!     .layer(PolicyLayer::new(policy))
//!     .service(service_fn(async |_: http::Request<()>| Ok::<_, std::convert::Infallible>(http::Response::new(String::new()))));
//! # let _ = service;
//! # Ok(())
//! # }
//! ```
//!
//! Each decision uses one snapshot of policy and data: a change of the engine while requests are served never lets a request see
//! half of it.

#[cfg(feature = "axum")]
mod extract;
mod input;
mod layer;
mod policy;
mod rejection;

#[cfg(feature = "axum")]
pub use extract::{Allowed, Decision};
pub use input::{RequestHead, request_input};
pub use layer::{PolicyLayer, PolicyService};
pub use policy::Policy;
pub use rejection::Rejection;

/// The programs of the documentation's page.
#[cfg(all(doctest, feature = "axum"))]
#[doc = include_str!("../../../docs/rust-web.md")]
struct Page;
