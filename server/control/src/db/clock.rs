//! Clock of leases and builds: that of the database, or a function.

use std::fmt;
use std::sync::Arc;

use super::{Dialect, now};

/// A clock with microseconds since 1970.
#[derive(Clone)]
pub enum Clock {
    /// The clock of the database, which a statement reads.
    Database(&'static str),
    /// A function of this process that returns microseconds since 1970.
    Function(Arc<dyn Fn() -> i64 + Send + Sync>),
}

impl Clock {
    /// Returns the clock of a database. All of its statements return UTC, whatever the time zone of the session.
    pub(super) fn for_dialect(dialect: Dialect) -> Self {
        match dialect {
            // SQLite runs in this process, so its clock is that of the machine
            Dialect::Sqlite => Self::Function(Arc::new(now)),
            Dialect::Postgres => Self::Database(
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
            ),
            Dialect::Mysql => Self::Database(
                "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))",
            ),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(sql) => f.debug_tuple("Database").field(sql).finish(),
            Self::Function(_) => f.write_str("Function(…)"),
        }
    }
}
