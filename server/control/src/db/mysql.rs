//! MySQL and MariaDB.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, Params, Value};

use super::driver::is_not_listening;
use super::mysql_dsn;
use super::pool::{BeginError, Pool, PooledConnection};
use super::{Cell, DatabaseTls, DbError, DbFuture, Dialect, Driver, Mode, Row, Session};
use crate::limits;

const PATIENCE: Duration = Duration::from_secs(10);

/// How long a session waits for locks of rows and tables, in seconds. The defaults of servers exceed the duration of a
/// request.
const LOCK_TIMEOUTS: &str =
    "SET SESSION innodb_lock_wait_timeout = 10, SESSION lock_wait_timeout = 10";

/// Lock timeout of migrations. It is longer because a change of a table cannot be rolled back.
const MIGRATION_TIMEOUTS: &str = "SET SESSION lock_wait_timeout = 60";

/// Bytes reserved for the packet data around the values of a statement.
const MARGIN: usize = 4096;

/// A MySQL or MariaDB server.
pub struct Mysql {
    opts: Opts,
    pool: Arc<Pool<MysqlConnection>>,
}

/// A connection with the largest packet that its server accepts.
struct MysqlConnection {
    conn: Conn,
    most: usize,
}

impl Mysql {
    /// Creates a driver for the server of a DSN.
    pub fn new(dsn: &str, tls: &DatabaseTls) -> Result<Self, DbError> {
        Ok(Self {
            opts: mysql_dsn::read(dsn, tls)?,
            pool: Pool::new(limits::CONNECTIONS, PATIENCE),
        })
    }

    async fn connect(&self) -> Result<MysqlConnection, DbError> {
        let connecting = tokio::time::timeout(PATIENCE, Conn::new(self.opts.clone()));
        let Ok(connected) = connecting.await else {
            return Err(DbError::Unavailable("it does not answer".to_owned()));
        };
        let mut conn = connected.map_err(unreachable)?;
        conn.query_drop(LOCK_TIMEOUTS).await.map_err(failed)?;
        let max_packet: Option<u64> = conn
            .query_first("SELECT @@max_allowed_packet")
            .await
            .map_err(failed)?;
        let max_packet = max_packet.and_then(|max_packet| usize::try_from(max_packet).ok());
        Ok(MysqlConnection {
            conn,
            most: max_packet.unwrap_or(usize::MAX),
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn unreachable(error: mysql_async::Error) -> DbError {
    use mysql_async::{DriverError, Error, IoError};
    let message = error.to_string();
    match &error {
        Error::Io(IoError::Io(cause)) if is_not_listening(cause) => DbError::NotReady(message),
        Error::Driver(DriverError::ConnectionClosed) => DbError::NotReady(message),
        _ => DbError::Unavailable(message),
    }
}

/// The server closed tables between the preparation and the execution of a statement, which happens during other DDL.
const REPREPARE: u16 = 1615;

/// Maximum number of preparations of a statement after that error.
const ATTEMPTS: usize = 3;

fn is_to_prepare_again(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if error.code == REPREPARE)
}

fn failed(error: mysql_async::Error) -> DbError {
    use mysql_async::{DriverError, Error};
    let message = error.to_string();
    match error {
        Error::Io(_) | Error::Driver(DriverError::ConnectionClosed) => {
            DbError::Unavailable(message)
        }
        Error::Driver(DriverError::PacketTooLarge) => DbError::TooLarge(message),
        Error::Server(error) => match error.code {
            1146 => DbError::MissingTable(message),
            // lock wait timeout, deadlock
            1205 | 1213 => DbError::Busy(message),
            // duplicate key, foreign key
            1062 | 1451 | 1452 => DbError::Conflict(message),
            // concurrent change of rows or tables, too many connections, shutdown, connection closed, read only
            1020
            | 1412
            | REPREPARE
            | 1040
            | 1053
            | 1077
            | 1152
            | 1154..=1161
            | 1203
            | 1290
            | 1836
            | 1927
            // out of disk, memory, threads or prepared statements; interrupted statements
            | 1021
            | 1037
            | 1038
            | 1041
            | 1114
            | 1135
            | 1317
            | 1461
            | 1969 => DbError::Unavailable(message),
            1153 | 1406 => DbError::TooLarge(message),
            _ => DbError::Other(message),
        },
        _ => DbError::Other(message),
    }
}

impl Driver for Mysql {
    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn begin(&self, mode: Mode) -> DbFuture<'_, Box<dyn Session>> {
        Box::pin(async move {
            let mut lease = self.pool.lease().await?;
            // an idle connection may have been lost
            while let Some(connection) = lease.get() {
                match begin(&mut connection.conn, mode).await {
                    Ok(()) => return Ok(Box::new(MysqlSession { lease, mode }) as Box<dyn Session>),
                    Err(BeginError::Failed(error)) => {
                        lease.give_back();
                        return Err(error);
                    }
                    Err(BeginError::Lost(_)) => {
                        lease.take();
                        lease.pool().forget();
                    }
                }
            }
            let mut connection = self.connect().await?;
            let result = begin(&mut connection.conn, mode).await;
            if !matches!(result, Err(BeginError::Lost(_))) {
                lease.set(connection);
            }
            match result {
                Ok(()) => Ok(Box::new(MysqlSession { lease, mode }) as Box<dyn Session>),
                Err(BeginError::Failed(error) | BeginError::Lost(error)) => {
                    lease.give_back();
                    Err(error)
                }
            }
        })
    }
}

/// Returns `true` if the connection is unusable after the error.
fn is_lost(error: &mysql_async::Error) -> bool {
    match error {
        // shutdown, killed, disconnected while idle, truncated packets
        mysql_async::Error::Server(error) => {
            matches!(error.code, 1053 | 1079 | 1927 | 4031 | 1152..=1161)
        }
        _ => true,
    }
}

/// Begins a transaction. If this fails on a healthy connection, the transaction is rolled back so that the connection can
/// be reused.
async fn begin(connection: &mut Conn, mode: Mode) -> Result<(), BeginError> {
    if mode == Mode::Migrate {
        return begin_migrations(connection).await;
    }
    let Err(error) = run_begin(connection, mode).await else {
        return Ok(());
    };
    if is_lost(&error) || connection.query_drop("ROLLBACK").await.is_err() {
        return Err(BeginError::Lost(failed(error)));
    }
    Err(BeginError::Failed(failed(error)))
}

/// Acquires the lock of migrations. DDL is not transactional in MySQL, so a lock of the connection is held until the end.
async fn begin_migrations(connection: &mut Conn) -> Result<(), BeginError> {
    let lost_connection = |error| BeginError::Lost(failed(error));
    connection
        .query_drop(MIGRATION_TIMEOUTS)
        .await
        .map_err(lost_connection)?;
    let lock = "SELECT GET_LOCK('solon_control_migrations', 60)";
    match connection.query_first::<Option<i64>, _>(lock).await {
        Ok(Some(Some(1))) => Ok(()),
        Ok(_) => {
            let message = "another process changes the tables";
            Err(BeginError::Failed(DbError::Busy(message.to_owned())))
        }
        Err(error) => Err(lost_connection(error)),
    }
}

async fn run_begin(connection: &mut Conn, mode: Mode) -> Result<(), mysql_async::Error> {
    let statements: &[&str] = match mode {
        Mode::Read => &["START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"],
        Mode::Write => &[
            // reads must see what other processes wrote before this one acquired the lock
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "START TRANSACTION",
            "SELECT id FROM writer WHERE id = 1 FOR UPDATE",
        ],
        Mode::Migrate => &[],
    };
    for statement in statements {
        connection.query_drop(*statement).await?;
    }
    Ok(())
}

/// A transaction. Dropping the connection within a transaction closes it, which rolls the transaction back.
struct MysqlSession {
    lease: PooledConnection<MysqlConnection>,
    mode: Mode,
}

impl MysqlSession {
    fn connection(&mut self) -> Result<&mut Conn, DbError> {
        self.connection_for(&[])
    }

    /// Returns the connection for a statement with these values. Checks their size first because a server closes the
    /// connection if a packet is too large.
    fn connection_for(&mut self, cells: &[Cell]) -> Result<&mut Conn, DbError> {
        let transaction_over = || DbError::Other("the transaction is over".to_owned());
        let connection = self.lease.get().ok_or_else(transaction_over)?;
        let lengths = cells.iter().map(|cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Blob(bytes) => bytes.len(),
            Cell::Null | Cell::Int(_) => 8,
        });
        let length = lengths.sum::<usize>() + MARGIN;
        if length > connection.most {
            let max_bytes = connection.most;
            return Err(DbError::TooLarge(format!(
                "it takes at most {max_bytes} bytes at once"
            )));
        }
        Ok(&mut connection.conn)
    }
}

fn values(cells: Vec<Cell>) -> Params {
    if cells.is_empty() {
        return Params::Empty;
    }
    let value = |cell| match cell {
        Cell::Null => Value::NULL,
        Cell::Int(number) => Value::Int(number),
        Cell::Text(text) => Value::Bytes(text.into_bytes()),
        Cell::Blob(bytes) => Value::Bytes(bytes),
    };
    Params::Positional(cells.into_iter().map(value).collect())
}

/// Converts a value. Text arrives as bytes, and the column decides how a row reads them.
fn cell(value: Value) -> Cell {
    match value {
        Value::NULL => Cell::Null,
        Value::Int(number) => Cell::Int(number),
        Value::UInt(number) => i64::try_from(number).map_or(Cell::Null, Cell::Int),
        Value::Bytes(bytes) => Cell::Blob(bytes),
        other => Cell::Text(other.as_sql(true)),
    }
}

impl Session for MysqlSession {
    fn query<'s>(&'s mut self, sql: Cow<'static, str>, cells: Vec<Cell>) -> DbFuture<'s, Vec<Row>> {
        Box::pin(async move {
            let connection = self.connection_for(&cells)?;
            let values = values(cells);
            let mut retries = 0..ATTEMPTS;
            let rows = loop {
                let rows: Result<Vec<mysql_async::Row>, _> =
                    connection.exec(&*sql, values.clone()).await;
                let fails = rows.as_ref().is_err_and(is_to_prepare_again);
                if !fails || retries.next().is_none() {
                    break rows;
                }
            };
            let read_row =
                |row: mysql_async::Row| Row::new(row.unwrap().into_iter().map(cell).collect());
            Ok(rows.map_err(failed)?.into_iter().map(read_row).collect())
        })
    }

    fn execute<'s>(&'s mut self, sql: &'static str, cells: Vec<Cell>) -> DbFuture<'s, u64> {
        Box::pin(async move {
            let connection = self.connection_for(&cells)?;
            let values = values(cells);
            let mut retries = 0..ATTEMPTS;
            loop {
                let result = connection.exec_drop(sql, values.clone()).await;
                let fails = result.as_ref().is_err_and(is_to_prepare_again);
                if !fails || retries.next().is_none() {
                    result.map_err(failed)?;
                    return Ok(connection.affected_rows());
                }
            }
        })
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> DbFuture<'s, ()> {
        Box::pin(async move {
            let connection = self.connection()?;
            for statement in sql.split(";\n").filter(|text| !text.trim().is_empty()) {
                connection.query_drop(statement).await.map_err(failed)?;
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>, commit: bool) -> DbFuture<'static, ()> {
        Box::pin(async move {
            let statement = match self.mode {
                Mode::Migrate => "DO RELEASE_LOCK('solon_control_migrations')",
                _ if commit => "COMMIT",
                _ => "ROLLBACK",
            };
            let is_migration = self.mode == Mode::Migrate;
            let connection = self.connection()?;
            let mut result = connection.query_drop(statement).await;
            if is_migration && result.is_ok() {
                result = connection.query_drop(LOCK_TIMEOUTS).await;
            }
            if !result.as_ref().is_err_and(is_lost) {
                self.lease.give_back();
            }
            result.map_err(failed)
        })
    }
}
