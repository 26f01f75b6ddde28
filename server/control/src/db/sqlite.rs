//! SQLite: one writer, many readers, a write-ahead log.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, params_from_iter};
use solon_common::private_files;

use super::pool::{Pool, PooledConnection};
use super::{Cell, DbError, DbFuture, Dialect, Driver, Mode, Row, Session, one_thread};
use crate::limits;

/// How long a write waits for writes of other processes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A database in a file, or in memory.
pub struct Sqlite {
    path: Option<PathBuf>,
    writers: Arc<Pool<Connection>>,
    /// Connections for readers. A database in memory has only one connection, which is shared.
    readers: Arc<Pool<Connection>>,
}

impl Sqlite {
    /// Creates a driver for a file, which need not exist, or for a database in memory.
    pub fn new(path: Option<PathBuf>) -> Self {
        let writers = Pool::new(1, PATIENCE * 3);
        let readers = match path {
            Some(_) => Pool::new(limits::CONNECTIONS, PATIENCE),
            None => writers.clone(),
        };
        Self {
            path,
            writers,
            readers,
        }
    }
}

fn open(path: Option<PathBuf>) -> Result<Connection, DbError> {
    let connection = match path {
        Some(path) => {
            // The file contains access rules and the audit log, so only its owner may read it. SQLite gives its log files
            // the same mode and reports why a file cannot be created.
            let _ =
                private_files::options(OpenOptions::new().write(true).create_new(true)).open(&path);
            Connection::open(path)
        }
        None => Connection::open_in_memory(),
    };
    let connection = connection.map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Without it, some statements are compiled again for each bound value.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(failed)?;
    // The log is flushed at each commit, so that acknowledged writes survive a power failure.
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON;";
    connection.execute_batch(pragmas).map_err(failed)?;
    Ok(connection)
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn failed(error: rusqlite::Error) -> DbError {
    let message = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DbError::Busy(message),
        // SQLite has no error code for this case
        Some(ErrorCode::Unknown) if message.starts_with("no such table: ") => {
            DbError::MissingTable(message)
        }
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::ReadOnly,
        ) => DbError::Unavailable(message),
        Some(ErrorCode::ConstraintViolation) => DbError::Conflict(message),
        Some(ErrorCode::TooBig) => DbError::TooLarge(message),
        _ => DbError::Other(message),
    }
}

impl Driver for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn begin(&self, mode: Mode) -> DbFuture<'_, Box<dyn Session>> {
        Box::pin(async move {
            let (pool, begin) = match mode {
                Mode::Read => (&self.readers, "BEGIN DEFERRED"),
                Mode::Write => (&self.writers, "BEGIN IMMEDIATE"),
                Mode::Migrate => (&self.writers, "BEGIN EXCLUSIVE"),
            };
            let mut lease = pool.lease().await?;
            let is_open = lease.get().is_some();
            let mut session = SqliteSession {
                lease: Some(lease),
                begin: Some(begin),
                is_read: mode == Mode::Read,
            };
            // A deferred transaction begins with its first statement anyway. A new connection is opened at once, so that a
            // file that cannot be opened is reported here.
            if mode != Mode::Read || !is_open {
                session.run(self.path.clone(), |_| Ok(())).await?;
            }
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}

/// A transaction on a connection. Each statement moves the connection to a thread that may block, unless the transaction runs on
/// one already ([`Database::on_one_thread`](super::Database::on_one_thread)). The switches between threads cost more than small statements.
struct SqliteSession {
    /// `None` after the transaction has failed to begin, or while a statement runs.
    lease: Option<PooledConnection<Connection>>,
    /// The statement that begins the transaction, until it has run.
    begin: Option<&'static str>,
    is_read: bool,
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        // a connection to a file could be opened again, but the one connection in memory is the database
        if let Some(mut lease) = self.lease.take()
            && let Some(connection) = lease.get()
        {
            let is_open = !connection.is_autocommit();
            if !is_open || connection.execute_batch("ROLLBACK").is_ok() {
                lease.give_back();
            }
        }
    }
}

impl SqliteSession {
    /// Runs blocking work. If the future is dropped, the work still ends and returns the connection to its pool.
    async fn run<T: Send + 'static>(
        &mut self,
        path: Option<PathBuf>,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let Some(mut lease) = self.lease.take() else {
            return Err(transaction_over());
        };
        let (begin, is_read) = (self.begin.take(), self.is_read);
        let running = move || {
            let mut connection = match lease.take() {
                Some(connection) => connection,
                None => open(path)?,
            };
            if let Some(begin) = begin
                && let Err(error) = connection.execute_batch(begin)
            {
                // the session is over: no statement may run outside of the transaction
                lease.set(connection);
                lease.give_back();
                return Err(failed(error));
            }
            let result = work(&mut connection);
            lease.set(connection);
            let session = Self {
                lease: Some(lease),
                begin: None,
                is_read,
            };
            Ok::<_, DbError>((session, result))
        };
        let ended = if one_thread::may_block() {
            running()
        } else {
            tokio::task::spawn_blocking(running).await?
        };
        let (mut session, result) = ended?;
        self.lease = session.lease.take();
        result
    }
}

fn transaction_over() -> DbError {
    DbError::Other("the transaction is over".to_owned())
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Int(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        ValueRef::Real(number) => Cell::Text(number.to_string()),
    }
}

fn query(connection: &Connection, sql: &str, values: &[Cell]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(values))?;
    let mut rows_read = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|index| Ok(cell(row.get_ref(index)?)));
        rows_read.push(Row::new(cells.collect::<rusqlite::Result<_>>()?));
    }
    Ok(rows_read)
}

impl Session for SqliteSession {
    fn query<'s>(
        &'s mut self,
        sql: Cow<'static, str>,
        values: Vec<Cell>,
    ) -> DbFuture<'s, Vec<Row>> {
        Box::pin(self.run(None, move |connection| {
            query(connection, &sql, &values).map_err(failed)
        }))
    }

    fn execute<'s>(&'s mut self, sql: &'static str, values: Vec<Cell>) -> DbFuture<'s, u64> {
        Box::pin(self.run(None, move |connection| {
            let mut statement = connection.prepare_cached(sql).map_err(failed)?;
            let result = statement.execute(params_from_iter(&values));
            result.map(|count| count as u64).map_err(failed)
        }))
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> DbFuture<'s, ()> {
        let sql = sql.to_owned();
        Box::pin(self.run(None, move |connection| {
            connection.execute_batch(&sql).map_err(failed)
        }))
    }

    fn end(mut self: Box<Self>, commit: bool) -> DbFuture<'static, ()> {
        Box::pin(async move {
            if self.begin.is_some() {
                return Ok(());
            }
            let statement = if commit { "COMMIT" } else { "ROLLBACK" };
            // the end of a transaction that has only read does not wait for the disk
            if self.is_read
                && let Some(connection) = self.lease.as_mut().and_then(PooledConnection::get)
            {
                return connection.execute_batch(statement).map_err(failed);
            }
            self.run(None, move |connection| {
                connection.execute_batch(statement).map_err(failed)
            })
            .await
        })
    }
}
