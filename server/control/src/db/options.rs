//! Options of the database connection: one variant for each kind of database.

use std::path::PathBuf;

use super::DatabaseTls;

/// The database to connect to, with the credentials.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseOptions {
    /// SQLite in a file, which is created if it does not exist.
    Sqlite(PathBuf),
    /// SQLite in memory. The data is lost when the process ends.
    Memory,
    /// A PostgreSQL server by its DSN: `postgres://user@host/name`, or `key=value` pairs.
    Postgres(String, DatabaseTls),
    /// A MySQL or MariaDB server: `mysql://user@host/name`, or `user:password@tcp(host:port)/name`.
    Mysql(String, DatabaseTls),
}

impl std::fmt::Debug for DatabaseOptions {
    /// Formats the options without passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            Self::Memory => f.write_str("Memory"),
            Self::Postgres(..) => f.write_str("Postgres(…)"),
            Self::Mysql(..) => f.write_str("Mysql(…)"),
        }
    }
}

impl DatabaseOptions {
    /// Returns `true` if the database is a server, which processes on other machines may share.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Postgres(..) | Self::Mysql(..))
    }
}
