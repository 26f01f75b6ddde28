//! The interface of a database driver: cells, rows, transactions.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A boxed future of a database operation, so that drivers are trait objects.
pub type DbFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DbError>> + Send + 'a>>;

/// A value of a column. Times are integers: microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// SQL NULL of any type.
    Null,
    /// An integer of 64 bits.
    Int(i64),
    /// A text in UTF-8.
    Text(String),
    /// Bytes of a binary column.
    Blob(Vec<u8>),
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Cell {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

impl From<&[u8]> for Cell {
    fn from(bytes: &[u8]) -> Self {
        Self::Blob(bytes.to_vec())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A result row, whose columns are taken from the left.
#[derive(Debug)]
pub struct Row {
    cells: std::vec::IntoIter<Cell>,
}

impl Row {
    /// Creates a row of these columns.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self {
            cells: cells.into_iter(),
        }
    }

    fn wrong(expected: &str) -> DbError {
        DbError::Other(format!("a column holds no {expected}"))
    }

    /// Takes the next column as an integer.
    pub fn int(&mut self) -> Result<i64, DbError> {
        match self.cells.next() {
            Some(Cell::Int(number)) => Ok(number),
            _ => Err(Self::wrong("integer")),
        }
    }

    /// Takes the next column as an integer or NULL.
    pub fn maybe_int(&mut self) -> Result<Option<i64>, DbError> {
        match self.cells.next() {
            Some(Cell::Int(number)) => Ok(Some(number)),
            Some(Cell::Null) => Ok(None),
            _ => Err(Self::wrong("integer")),
        }
    }

    /// Takes the next column as text.
    pub fn text(&mut self) -> Result<String, DbError> {
        self.maybe_text()?.ok_or_else(|| Self::wrong("text"))
    }

    /// Takes the next column as text or NULL.
    pub fn maybe_text(&mut self) -> Result<Option<String>, DbError> {
        match self.cells.next() {
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Blob(bytes)) => {
                let text = String::from_utf8(bytes).map_err(|_| Self::wrong("text"))?;
                Ok(Some(text))
            }
            Some(Cell::Null) => Ok(None),
            _ => Err(Self::wrong("text")),
        }
    }

    /// Takes the next column as bytes.
    pub fn blob(&mut self) -> Result<Vec<u8>, DbError> {
        match self.cells.next() {
            Some(Cell::Blob(bytes)) => Ok(bytes),
            Some(Cell::Text(text)) => Ok(text.into_bytes()),
            _ => Err(Self::wrong("bytes")),
        }
    }
}

/// Reasons why a database operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DbError {
    /// The database cannot be reached. A later attempt may succeed.
    Unavailable(String),
    /// The server accepts no sessions yet: it does not listen, or it is starting. A later attempt may succeed.
    NotReady(String),
    /// A lock or a connection was not free in time. The connection is healthy, and a later attempt may succeed.
    Busy(String),
    /// A table that a statement names does not exist.
    MissingTable(String),
    /// Conflict with a concurrent write, or the row is in use.
    Conflict(String),
    /// A value is larger than the database accepts. A later attempt fails again.
    TooLarge(String),
    /// The tables belong to a later version of the service.
    Newer {
        /// The version of the tables.
        found: i64,
        /// The latest version that this service supports.
        known: i64,
    },
    /// The tables are older, and the options do not allow migrations.
    Pending(usize),
    /// The options of the database are invalid: the message names the parameter.
    Options(String),
    /// Any other error, which is an internal error.
    Other(String),
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(message) | Self::NotReady(message) => {
                write!(f, "the database cannot be reached: {message}")
            }
            Self::Busy(message) => write!(f, "the database is busy: {message}"),
            Self::MissingTable(message) => write!(f, "the database has no such table: {message}"),
            Self::Conflict(message) => write!(f, "the database refused a write: {message}"),
            Self::TooLarge(message) => {
                write!(f, "the database does not take what is so large: {message}")
            }
            Self::Newer { found, known } => write!(
                f,
                "the database has tables of version {found}, and this service knows versions up to {known}"
            ),
            Self::Pending(count) => write!(
                f,
                "the database needs {count} migrations: run `solon control db migrate`, or start with `--apply-migrations`"
            ),
            Self::Options(message) => f.write_str(message),
            Self::Other(message) => write!(f, "the database failed: {message}"),
        }
    }
}

impl std::error::Error for DbError {}

impl From<tokio::task::JoinError> for DbError {
    /// Blocking work panicked.
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Other(error.to_string())
    }
}

/// Returns `true` if an error of a connection means that no server listens at its address, as before a server has started.
pub(super) fn is_not_listening(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            // the socket of a server on this machine
            | ErrorKind::NotFound
    )
}

/// SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, in a file or in memory.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

impl Dialect {
    /// Returns the name of the dialect: `sqlite`, `postgres` or `mysql`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }
}

/// Mode of a transaction, which decides about locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reads. All reads of the transaction see one snapshot.
    Read,
    /// Writes. Excludes other writes until its end.
    Write,
    /// Changes tables. Excludes other migrations.
    Migrate,
}

/// A database: begins transactions on connections of a pool.
pub trait Driver: Send + Sync {
    /// Returns the SQL dialect of all statements.
    fn dialect(&self) -> Dialect;

    /// Begins a transaction. Waits for a connection and, to write, for other writes.
    fn begin(&self, mode: Mode) -> DbFuture<'_, Box<dyn Session>>;
}

/// A transaction of a driver. Dropping it rolls it back.
pub trait Session: Send {
    /// Queries rows. Each `?` of the statement is bound to the next value.
    fn query<'s>(&'s mut self, sql: Cow<'static, str>, values: Vec<Cell>)
    -> DbFuture<'s, Vec<Row>>;

    /// Executes a statement and returns the number of affected rows.
    fn execute<'s>(&'s mut self, sql: &'static str, values: Vec<Cell>) -> DbFuture<'s, u64>;

    /// Runs statements without values. In the text, each line that ends a statement ends with `;`.
    fn script<'s>(&'s mut self, sql: &'s str) -> DbFuture<'s, ()>;

    /// Commits or rolls back.
    fn end(self: Box<Self>, commit: bool) -> DbFuture<'static, ()>;
}
