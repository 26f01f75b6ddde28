//! Transactions of the control plane.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mysql::Mysql;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{
    Cell, Clock, DatabaseOptions, DbError, Dialect, Driver, Mode, Row, Session, one_thread,
};

/// Interval between two attempts to reach a server that is starting.
const READY_INTERVAL: Duration = Duration::from_millis(500);

/// Observer of statements. It receives the first word of the statement, its success and its duration.
pub type Observer = Arc<dyn Fn(&'static str, bool, Duration) + Send + Sync>;

/// A database: a driver with its pool, and the clock of its rows. Clones share the pool.
#[derive(Clone)]
pub struct Database {
    driver: Arc<dyn Driver>,
    observer: Option<Observer>,
    clock: Clock,
}

/// A transaction. Dropping it rolls it back.
pub struct Transaction {
    session: Box<dyn Session>,
    observer: Option<Observer>,
    clock: Clock,
}

impl Database {
    /// Creates a database from options, without opening a connection.
    ///
    /// # Errors
    /// Invalid options.
    pub fn new(options: &DatabaseOptions) -> Result<Self, DbError> {
        let driver: Arc<dyn Driver> = match options {
            DatabaseOptions::Sqlite(path) => Arc::new(Sqlite::new(Some(path.clone()))),
            DatabaseOptions::Memory => Arc::new(Sqlite::new(None)),
            DatabaseOptions::Postgres(dsn, tls) => Arc::new(Postgres::new(dsn, tls)?),
            DatabaseOptions::Mysql(dsn, tls) => Arc::new(Mysql::new(dsn, tls)?),
        };
        let clock = Clock::for_dialect(driver.dialect());
        Ok(Self {
            driver,
            observer: None,
            clock,
        })
    }

    /// Sets the observer of statements. It applies to transactions that begin later.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Sets the clock of leases and builds, such as a virtual one for a simulation.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the SQL dialect of all statements.
    pub fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    /// Runs transactions that have many small statements. Those of SQLite run on one thread that may block, without a switch
    /// between threads for each. The futures of other databases wait for the network and run where they are.
    ///
    /// # Errors
    /// The error of `work`, or `work` panicked.
    pub async fn on_one_thread<T, E>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        match self.dialect() {
            Dialect::Sqlite => one_thread::run(work).await?,
            Dialect::Postgres | Dialect::Mysql => work.await,
        }
    }

    /// Waits until the server of the database accepts sessions, for at most `limit`. Any other error is that of the first
    /// transaction.
    pub async fn wait_until_ready(&self, limit: Duration) {
        let begun = Instant::now();
        let mut is_waiting = false;
        while begun.elapsed() < limit {
            match self.begin(Mode::Read).await {
                Err(DbError::NotReady(reason)) => {
                    if !is_waiting {
                        let seconds = limit.as_secs();
                        tracing::warn!(reason, seconds, "waiting until the database is ready");
                    }
                    is_waiting = true;
                    tokio::time::sleep(READY_INTERVAL).await;
                }
                begun => {
                    if let Ok(transaction) = begun {
                        transaction.roll_back().await;
                    }
                    return;
                }
            }
        }
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(&self, mode: Mode) -> Result<Transaction, DbError> {
        let start = Instant::now();
        let session = self.driver.begin(mode).await;
        observe(self.observer.as_ref(), "begin", start, session.is_ok());
        Ok(Transaction {
            session: session?,
            observer: self.observer.clone(),
            clock: self.clock.clone(),
        })
    }
}

impl Transaction {
    /// Commits.
    ///
    /// # Errors
    /// The database rejected the commit and rolled back. If the connection was lost, the outcome is unknown.
    pub async fn commit(self) -> Result<(), DbError> {
        let start = Instant::now();
        let result = self.session.end(true).await;
        observe(self.observer.as_ref(), "commit", start, result.is_ok());
        result
    }

    /// Rolls back. The transaction ends in any case.
    pub async fn roll_back(self) {
        // if the rollback fails, the driver closes the connection
        let _ = self.session.end(false).await;
    }

    /// Commits if `outcome` is `Ok`, and rolls back otherwise.
    ///
    /// # Errors
    /// The error of `outcome`, or the database rejected the commit.
    pub async fn settle<T, E: From<DbError>>(self, outcome: Result<T, E>) -> Result<T, E> {
        match outcome {
            Ok(value) => {
                self.commit().await?;
                Ok(value)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        values: Vec<Cell>,
    ) -> Result<Vec<Row>, DbError> {
        let start = Instant::now();
        let rows = self.session.query(sql.into(), values).await;
        observe(
            self.observer.as_ref(),
            operation_of(sql),
            start,
            rows.is_ok(),
        );
        rows
    }

    /// Queries rows with a statement that is built at run time and begins with `SELECT`.
    pub(super) async fn select(
        &mut self,
        sql: String,
        values: Vec<Cell>,
    ) -> Result<Vec<Row>, DbError> {
        let start = Instant::now();
        let rows = self.session.query(sql.into(), values).await;
        observe(self.observer.as_ref(), "select", start, rows.is_ok());
        rows
    }

    pub(super) async fn first(
        &mut self,
        sql: &'static str,
        values: Vec<Cell>,
    ) -> Result<Option<Row>, DbError> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    pub(super) async fn execute(
        &mut self,
        sql: &'static str,
        values: Vec<Cell>,
    ) -> Result<u64, DbError> {
        let start = Instant::now();
        let result = self.session.execute(sql, values).await;
        observe(
            self.observer.as_ref(),
            operation_of(sql),
            start,
            result.is_ok(),
        );
        result
    }

    /// Returns the current time by the clock of the database, in microseconds since 1970. Instances with different clocks
    /// agree on it.
    pub(super) async fn database_now(&mut self) -> Result<i64, DbError> {
        let sql = match &self.clock {
            Clock::Database(sql) => *sql,
            Clock::Function(now) => return Ok(now()),
        };
        let row = self.first(sql, vec![]).await?;
        row.map_or(
            Err(DbError::Other("the database has no clock".to_owned())),
            |mut row| row.int(),
        )
    }

    pub(super) async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.session.script(sql).await
    }
}

fn observe(observer: Option<&Observer>, operation: &'static str, start: Instant, is_well: bool) {
    if let Some(observer) = observer {
        observer(operation, is_well, start.elapsed());
    }
}

/// Returns the first word of a statement.
fn operation_of(sql: &'static str) -> &'static str {
    let keywords = ["SELECT", "INSERT", "UPDATE", "DELETE"];
    let names = ["select", "insert", "update", "delete"];
    let pair = keywords
        .into_iter()
        .zip(names)
        .find(|(keyword, _)| sql.starts_with(keyword));
    pair.map_or("other", |(_, name)| name)
}

/// Returns the current time in microseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}
