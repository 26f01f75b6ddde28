//! The control plane: which sources make which bundle, and who may change that.
//!
//! [`ControlPlane`] is the whole of it: a database, its keys, and the API over them as a service over plain values
//! ([`http::Request`] to [`http::Response`]), for whoever listens.
//!
//! | module | holds |
//! |---|---|
//! | `limits` | every bound |
//! | [`model`] | bundles, sources, stacks, secrets, tokens: how each is read and checked |
//! | [`db`] | the database |
//! | `error` | refusals |
//! | [`secrets`] | encryption of what is kept |
//! | [`access`] | who may do what |
//! | `changes` | changes, as requests and files make them |
//! | [`config`] | configuration files |
//! | [`api`] | requests and answers |
//! | `findings` | what an operator should change in a database |
//! | `control_plane` | all of it put together |
//! | [`commands`] | what the command line offers |

pub mod access;
pub mod api;
mod changes;
pub mod commands;
pub mod config;
mod control_plane;
pub mod db;
mod error;
mod findings;
mod limits;
pub mod model;
pub mod secrets;

pub use control_plane::{ControlPlane, Options};
pub use error::{Refusal, Refused};
