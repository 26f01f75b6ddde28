//! The control plane: manages bundles, their sources, and the permissions to change them.
//!
//! [`ControlPlane`] combines a database, its keys, and the API over them. The API is a service over plain values
//! ([`http::Request`] to [`http::Response`]), independent of the listener.
//!
//! | module | contains |
//! |---|---|
//! | `limits` | every limit. |
//! | `list_digest` | digests of lists. |
//! | [`model`] | parsing and checks of bundles, sources, stacks, secrets and tokens. |
//! | [`tree`] | the files of a source. |
//! | [`db`] | the database. |
//! | `error` | errors. |
//! | [`secrets`] | encryption of stored secrets. |
//! | [`access`] | authorization. |
//! | `changes` | changes made by requests and files. |
//! | [`config`] | configuration files. |
//! | `object_credentials` | credentials for object stores. |
//! | [`sync`] | fetching of sources. |
//! | [`storage`] | archives of built bundles. |
//! | [`builder`] | bundles from sources. |
//! | [`api`] | requests and responses. |
//! | [`trace`] | traces from a request to a published bundle. |
//! | [`worker`] | builds of bundles. |
//! | `findings` | checks of a database for an operator. |
//! | `control_plane` | the control plane, composed of the other modules. |
//! | [`commands`] | commands of the command line. |

pub mod access;
pub mod api;
pub mod builder;
mod changes;
pub mod commands;
pub mod config;
mod control_plane;
pub mod db;
mod error;
mod findings;
mod limits;
mod list_digest;
pub mod model;
mod object_credentials;
pub mod secrets;
pub mod storage;
pub mod sync;
pub mod trace;
pub mod tree;
pub mod worker;

pub use control_plane::{ControlPlane, Options};
pub use error::{ApiError, ApiErrorKind};
