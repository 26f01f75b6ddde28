//! PostgreSQL: connections, transactions and errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::driver::is_not_listening;
use super::pool::{BeginError, Pool, PooledConnection};
use super::postgres_dsn::PostgresDsn;
use super::{Cell, DatabaseTls, DbError, DbFuture, Dialect, Driver, Mode, Row, Session};
use crate::limits;

const PATIENCE: Duration = Duration::from_secs(10);

/// Key of the advisory lock of migrations, which no other lock of the database uses.
const MIGRATIONS: &str = "SELECT pg_advisory_xact_lock(7230917234502)";

/// A PostgreSQL server.
pub struct Postgres {
    config: Config,
    tls: Option<Arc<rustls::ClientConfig>>,
    pool: Arc<Pool<PostgresConnection>>,
}

/// A connection with its prepared statements.
struct PostgresConnection {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Postgres {
    /// Creates a driver for the server of a DSN.
    pub fn new(dsn: &str, tls: &DatabaseTls) -> Result<Self, DbError> {
        let PostgresDsn { mut config, tls } = PostgresDsn::read(dsn, tls)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        Ok(Self {
            config,
            tls,
            pool: Pool::new(limits::CONNECTIONS, PATIENCE),
        })
    }

    async fn connect(&self) -> Result<PostgresConnection, DbError> {
        let client = match &self.tls {
            Some(tls) => {
                let tls = MakeRustlsConnect::new(tls.as_ref().clone());
                let (client, connection) = self.config.connect(tls).await.map_err(unreachable)?;
                tokio::spawn(connection);
                client
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(unreachable)?;
                tokio::spawn(connection);
                client
            }
        };
        Ok(PostgresConnection {
            client,
            prepared: HashMap::new(),
        })
    }
}

/// Classifies a connection error. A server that is stopping or out of connections is temporarily unavailable.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn unreachable(error: tokio_postgres::Error) -> DbError {
    let message = chain(&error);
    let is_starting = error.code() == Some(&SqlState::CANNOT_CONNECT_NOW);
    let cause = error
        .source()
        .and_then(|cause| cause.downcast_ref::<std::io::Error>());
    if is_starting || error.is_closed() || cause.is_some_and(is_not_listening) {
        DbError::NotReady(message)
    } else {
        DbError::Unavailable(message)
    }
}

/// Formats an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        message = format!("{message}: {cause}");
        next = cause.source();
    }
    message
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn failed(error: tokio_postgres::Error) -> DbError {
    let message = chain(&error);
    let Some(code) = error.code() else {
        return DbError::Unavailable(message);
    };
    match *code {
        SqlState::UNDEFINED_TABLE => return DbError::MissingTable(message),
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => return DbError::Busy(message),
        _ => {}
    }
    let class = code.code().get(..2).unwrap_or_default();
    match class {
        "23" => DbError::Conflict(message),
        // connection, rollback, resources, lock timeout, operator intervention, system error
        "08" | "40" | "53" | "55" | "57" | "58" => DbError::Unavailable(message),
        "25" if *code == SqlState::READ_ONLY_SQL_TRANSACTION => DbError::Unavailable(message),
        "54" => DbError::TooLarge(message),
        _ => DbError::Other(message),
    }
}

/// Returns `true` if the connection is unusable after the error. After other errors, the connection is healthy.
fn is_lost(client: &Client, error: &tokio_postgres::Error) -> bool {
    let severity = error
        .as_db_error()
        .and_then(tokio_postgres::error::DbError::parsed_severity);
    client.is_closed()
        || error.code().is_none()
        || matches!(severity, Some(Severity::Fatal | Severity::Panic))
}

/// Begins a transaction. If this fails on a healthy connection, the transaction is rolled back so that the connection can
/// be reused.
async fn begin(connection: &PostgresConnection, statements: &str) -> Result<(), BeginError> {
    let client = &connection.client;
    let Err(error) = client.batch_execute(statements).await else {
        return Ok(());
    };
    if is_lost(client, &error) || client.batch_execute("ROLLBACK").await.is_err() {
        return Err(BeginError::Lost(failed(error)));
    }
    Err(BeginError::Failed(failed(error)))
}

impl Driver for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn begin(&self, mode: Mode) -> DbFuture<'_, Box<dyn Session>> {
        Box::pin(async move {
            let statements = match mode {
                Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
                Mode::Write => "BEGIN; SET LOCAL lock_timeout = '10s'; SELECT id FROM writer WHERE id = 1 FOR UPDATE".to_owned(),
                Mode::Migrate => format!("BEGIN; SET LOCAL lock_timeout = '60s'; {MIGRATIONS}"),
            };
            let mut lease = self.pool.lease().await?;
            // an idle connection may have been lost
            while let Some(connection) = lease.get() {
                match begin(connection, &statements).await {
                    Ok(()) => return Ok(Box::new(PostgresSession { lease }) as Box<dyn Session>),
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
            let connection = self.connect().await?;
            let result = begin(&connection, &statements).await;
            if !matches!(result, Err(BeginError::Lost(_))) {
                lease.set(connection);
            }
            match result {
                Ok(()) => Ok(Box::new(PostgresSession { lease }) as Box<dyn Session>),
                Err(BeginError::Failed(error) | BeginError::Lost(error)) => {
                    lease.give_back();
                    Err(error)
                }
            }
        })
    }
}

/// A transaction. Dropping the connection within a transaction closes it, which rolls the transaction back.
struct PostgresSession {
    lease: PooledConnection<PostgresConnection>,
}

impl PostgresSession {
    fn connection(&mut self) -> Result<&mut PostgresConnection, DbError> {
        let transaction_over = || DbError::Other("the transaction is over".to_owned());
        self.lease.get().ok_or_else(transaction_over)
    }
}

impl PostgresConnection {
    /// Prepares a statement of this module once. A statement with a condition of the policy is planned again for each call.
    /// A plan from when the tables were small scans all rows, and its duration would reveal how many rows others own.
    async fn prepare(&mut self, sql: Cow<'static, str>) -> Result<Statement, DbError> {
        let sql = match sql {
            Cow::Borrowed(sql) => sql,
            Cow::Owned(sql) => {
                let sql = numbered(&sql);
                return self.client.prepare(&sql).await.map_err(failed);
            }
        };
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql)).await;
        let statement = statement.map_err(failed)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Replaces each `?` of a statement by `$1`, `$2`, …. No statement of this module contains a `?` in a string literal.
fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let mut count = 0;
    for letter in sql.chars() {
        if letter == '?' {
            count += 1;
            out.push('$');
            out.push_str(&count.to_string());
        } else {
            out.push(letter);
        }
    }
    out
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Int(i64::from(i32::from_sql(kind, raw)?)),
            Type::BYTEA => Self::Blob(raw.to_vec()),
            _ => Self::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Session for PostgresSession {
    fn query<'s>(
        &'s mut self,
        sql: Cow<'static, str>,
        values: Vec<Cell>,
    ) -> DbFuture<'s, Vec<Row>> {
        Box::pin(async move {
            let connection = self.connection()?;
            let statement = connection.prepare(sql).await?;
            let values: Vec<&(dyn ToSql + Sync)> = values
                .iter()
                .map(|value| value as &(dyn ToSql + Sync))
                .collect();
            let rows = connection.client.query(&statement, &values).await;
            let read_row = |row: tokio_postgres::Row| {
                let cells = (0..row.len()).map(|index| row.try_get::<_, Cell>(index));
                Ok(Row::new(cells.collect::<Result<_, _>>().map_err(failed)?))
            };
            rows.map_err(failed)?.into_iter().map(read_row).collect()
        })
    }

    fn execute<'s>(&'s mut self, sql: &'static str, values: Vec<Cell>) -> DbFuture<'s, u64> {
        Box::pin(async move {
            let connection = self.connection()?;
            let statement = connection.prepare(sql.into()).await?;
            let values: Vec<&(dyn ToSql + Sync)> = values
                .iter()
                .map(|value| value as &(dyn ToSql + Sync))
                .collect();
            connection
                .client
                .execute(&statement, &values)
                .await
                .map_err(failed)
        })
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> DbFuture<'s, ()> {
        Box::pin(async move {
            let connection = self.connection()?;
            connection.client.batch_execute(sql).await.map_err(failed)
        })
    }

    fn end(mut self: Box<Self>, commit: bool) -> DbFuture<'static, ()> {
        Box::pin(async move {
            let statement = if commit { "COMMIT" } else { "ROLLBACK" };
            let connection = self.connection()?;
            let result = connection.client.batch_execute(statement).await;
            let is_lost = result
                .as_ref()
                .is_err_and(|error| is_lost(&connection.client, error));
            // a failed commit ends the transaction
            if !is_lost {
                self.lease.give_back();
            }
            result.map_err(failed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn values_are_numbered() {
        assert_eq!(
            numbered("a = ? AND b IN (?, ?)"),
            "a = $1 AND b IN ($2, $3)"
        );
    }
}
