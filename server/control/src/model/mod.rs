//! What the control plane keeps: bundles, sources, stacks and secrets, and how each is read and checked.
//!
//! Bodies of requests and configuration files are JSON values; [`Reader`] takes them apart and notes each problem with the
//! field that has it. Nothing here asks a database, a file or the network.

mod bundle;
pub(crate) mod credentials;
mod files;
mod git;
mod glob;
mod hosts;
pub mod moment;
mod names;
mod paths;
mod reader;
mod references;
mod requirement;
mod retention;
mod secret;
mod source;
mod stack;
mod status;
mod storage;
mod suggestion;
mod token;
pub mod tree;

pub use bundle::{Bundle, BundleOptions, Optimization, Target};
pub use files::{FileDocument, FileError};
pub use git::Git;
pub use glob::Glob;
pub use hosts::Address;
pub use names::{Kind, check_name};
pub use paths::{DataPath, DataPathError};
pub use reader::{Compat, Members, Origin, Place, Problems, Reader, kind_of};
pub use references::{Reference, cycle};
pub use requirement::{Pin, Requirement};
pub use retention::read_retention;
pub use secret::{Secret, SecretField, SecretType, SecretValue, allowed_hosts};
pub use source::{Datasource, DatasourceConfig, Source};
pub use stack::Stack;
pub use status::{Phase, Record, Status};
pub use storage::Storage;
pub(crate) use suggestion::nearest;
pub use token::{Role, Token};

use serde::Serialize;

/// What is kept in the same way whatever kind it is.
pub trait Resource: Serialize + Sized {
    /// Its kind.
    const KIND: Kind;

    /// Reads it from a JSON value. What is wrong is noted with the reader; what then comes back is of no use.
    fn read(reader: &mut Reader, place: &Place<'_>, value: &serde_json::Value) -> Self;

    /// Its name; empty where the body has none.
    fn name(&self) -> &str;

    /// Gives it a name.
    fn set_name(&mut self, name: &str);

    /// The sources and secrets that it names.
    fn references(&self) -> Vec<Reference>;
}
