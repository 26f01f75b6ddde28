//! What a database must bring.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// What comes later, or why it did not.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, DbError>> + Send + 'a>>;

/// A value of a column. Times are integers: microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// An integer.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
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

/// A row of an answer, taken column by column from the left.
#[derive(Debug)]
pub struct Row {
    cells: std::vec::IntoIter<Cell>,
}

impl Row {
    /// A row of these columns.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self {
            cells: cells.into_iter(),
        }
    }

    fn wrong(wanted: &str) -> DbError {
        DbError::Other(format!("a column holds no {wanted}"))
    }

    /// The next column, an integer.
    pub fn int(&mut self) -> Result<i64, DbError> {
        match self.cells.next() {
            Some(Cell::Int(number)) => Ok(number),
            _ => Err(Self::wrong("integer")),
        }
    }

    /// The next column, an integer or nothing.
    pub fn maybe_int(&mut self) -> Result<Option<i64>, DbError> {
        match self.cells.next() {
            Some(Cell::Int(number)) => Ok(Some(number)),
            Some(Cell::Null) => Ok(None),
            _ => Err(Self::wrong("integer")),
        }
    }

    /// The next column, a text.
    pub fn text(&mut self) -> Result<String, DbError> {
        self.maybe_text()?.ok_or_else(|| Self::wrong("text"))
    }

    /// The next column, a text or nothing.
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

    /// The next column, bytes.
    pub fn blob(&mut self) -> Result<Vec<u8>, DbError> {
        match self.cells.next() {
            Some(Cell::Blob(bytes)) => Ok(bytes),
            Some(Cell::Text(text)) => Ok(text.into_bytes()),
            _ => Err(Self::wrong("bytes")),
        }
    }
}

/// Why a database did not do as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DbError {
    /// It cannot be reached; later it may be otherwise.
    Unavailable(String),
    /// A lock or a connection was not free in time. The connection is healthy, and a later attempt may succeed.
    Busy(String),
    /// A table that a statement names does not exist.
    MissingTable(String),
    /// Something else was written at the same time, or is in use.
    Conflict(String),
    /// A value is larger than the database takes.
    TooLarge(String),
    /// The tables are those of a later version of the service.
    Newer {
        /// The version of the tables.
        found: i64,
        /// The last version that is known here.
        known: i64,
    },
    /// The tables are older, and nobody said that they may be changed.
    Pending(usize),
    /// The options of the database are invalid: the message names the parameter.
    Options(String),
    /// Anything else, which is a fault.
    Other(String),
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(words) => write!(f, "the database cannot be reached: {words}"),
            Self::Busy(message) => write!(f, "the database is busy: {message}"),
            Self::MissingTable(message) => write!(f, "the database has no such table: {message}"),
            Self::Conflict(words) => write!(f, "the database refused a write: {words}"),
            Self::TooLarge(words) => {
                write!(f, "the database does not take what is so large: {words}")
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
            Self::Other(words) => write!(f, "the database failed: {words}"),
        }
    }
}

impl std::error::Error for DbError {}

/// Whose words a database understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

impl Dialect {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It reads, and all of it sees one moment.
    Read,
    /// It writes, and no other does meanwhile.
    Write,
    /// It changes tables, and no other does meanwhile.
    Migrate,
}

/// A database.
pub trait Driver: Send + Sync {
    /// Whose words it understands.
    fn dialect(&self) -> Dialect;

    /// Begins a transaction.
    fn begin(&self, mode: Mode) -> Later<'_, Box<dyn Session>>;
}

/// A transaction as a database gives it. One that is dropped has not happened.
pub trait Session: Send {
    /// Asks for rows. Each `?` of the statement stands for the next value.
    fn query<'s>(&'s mut self, sql: Cow<'static, str>, values: Vec<Cell>) -> Later<'s, Vec<Row>>;

    /// Changes rows, and tells how many.
    fn execute<'s>(&'s mut self, sql: &'static str, values: Vec<Cell>) -> Later<'s, u64>;

    /// Runs statements that have no values, of a text with `;` behind each line that ends one.
    fn script<'s>(&'s mut self, sql: &'s str) -> Later<'s, ()>;

    /// Makes it happen, or leaves everything as it was.
    fn end(self: Box<Self>, commit: bool) -> Later<'static, ()>;
}
