//! The data model of the control plane: bundles, sources, stacks, secrets and tokens, with their parsers and checks.
//!
//! Request bodies and configuration files are JSON values. [`Reader`] parses them and reports each problem with its field.
//! This module does not access databases, files or the network.

mod bundle;
pub(crate) mod credentials;
mod files;
mod git;
mod glob;
mod hosts;
mod names;
mod paths;
mod reader;
mod references;
mod requirement;
mod retention;
mod secret;
mod signing;
mod source;
mod stack;
mod status;
mod storage;
mod suggestion;
pub mod timestamp;
mod token;
pub mod tree;
mod webhook;

pub use bundle::{Bundle, BundleOptions, BundleTarget, Optimization};
pub use files::{FileDocument, FileError};
pub use git::Git;
pub use glob::Glob;
pub use hosts::Address;
pub use names::{Kind, check_name};
pub use paths::{DataPath, DataPathError, leaves};
pub use reader::{Compat, FieldPath, Members, Origin, Problems, Reader, kind_of};
pub use references::{Reference, cycle};
pub use requirement::{Pin, Requirement};
pub use retention::read_retention;
pub use secret::{Secret, SecretField, SecretType, SecretValue, allowed_hosts};
pub use signing::BundleSigning;
pub use source::{Datasource, DatasourceConfig, Source};
pub use stack::Stack;
pub use status::{Failure, Phase, Status, StatusRecord};
pub use storage::Storage;
pub(crate) use suggestion::nearest;
pub use token::{Role, Token};
pub use webhook::{Webhook, WebhookProvider};

use serde::Serialize;

/// An item that is stored in the same way for every kind.
pub trait Resource: Serialize + Sized {
    /// The kind, under which items are stored and named in paths.
    const KIND: Kind;

    /// Parses an item. Problems are reported to the reader. If there are any, the returned item must not be used.
    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &serde_json::Value) -> Self;

    /// Returns the name. Empty if the body has none.
    fn name(&self) -> &str;

    /// Sets the name.
    fn set_name(&mut self, name: &str);

    /// Returns the references to sources and secrets.
    fn references(&self) -> Vec<Reference>;
}
