//! The database: SQLite, PostgreSQL, MySQL or MariaDB, abstracted by one trait, and every statement of the control plane.
//!
//! A database implements [`Driver`] and [`Session`]. The statements are written once, with `?` for each value, in the
//! subset of SQL that all dialects share. Only the table definitions are written for each dialect (`migrations/`). Writes
//! are serialized: each locks the same row first, so that the rows a write has read do not change before it ends.

mod artifacts;
mod audit;
mod build_requests;
mod builds;
mod clock;
mod driver;
mod grants;
mod items;
mod leases;
mod migrate;
mod mysql;
mod mysql_dsn;
mod one_thread;
mod options;
mod pool;
mod postgres;
mod postgres_dsn;
mod sessions;
mod settings;
mod source_data;
mod sources;
mod sqlite;
mod statuses;
mod tls;
mod tokens;
mod traces;
mod transaction;
mod webhooks;

pub use artifacts::{ArtifactHead, NewArtifact, Publication};
pub use audit::{AuditEntry, Written};
pub use build_requests::BuildRequest;
pub use builds::{Attempt, BuildState, Due};
pub use clock::Clock;
pub use driver::{Cell, DbError, DbFuture, Dialect, Driver, Mode, Row, Session};
pub use grants::Granted;
pub use items::{Item, ItemHead, NewItem, VisibilityScope, VisibleRows};
pub use leases::{Lease, LiveLease, PublishedInputs};
pub use migrate::{Migrated, pending_sql};
pub use options::DatabaseOptions;
pub use source_data::Document;
pub use sources::StoredSource;
pub use statuses::StoredStatus;
pub use tls::DatabaseTls;
pub use tokens::{Holder, NewToken};
pub(crate) use transaction::now;
pub use transaction::{Database, Observer, Transaction};
