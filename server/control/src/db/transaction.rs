//! Transactions as the control plane uses them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mysql::Mysql;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{Cell, DatabaseOptions, DbError, Dialect, Driver, Mode, Row, Session};

/// Who is told of each statement: the word that it begins with, whether it went well, and how long it took.
pub type Observer = Arc<dyn Fn(&'static str, bool, Duration) + Send + Sync>;

/// A database.
#[derive(Clone)]
pub struct Database {
    driver: Arc<dyn Driver>,
    observer: Option<Observer>,
}

/// A transaction. One that is dropped has not happened.
pub struct Transaction {
    session: Box<dyn Session>,
    observer: Option<Observer>,
}

impl Database {
    /// The database of these options. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Options that describe none.
    pub fn new(options: &DatabaseOptions) -> Result<Self, DbError> {
        let driver: Arc<dyn Driver> = match options {
            DatabaseOptions::Sqlite(path) => Arc::new(Sqlite::new(Some(path.clone()))),
            DatabaseOptions::Memory => Arc::new(Sqlite::new(None)),
            DatabaseOptions::Postgres(dsn, tls) => Arc::new(Postgres::new(dsn, tls)?),
            DatabaseOptions::Mysql(dsn, tls) => Arc::new(Mysql::new(dsn, tls)?),
        };
        Ok(Self {
            driver,
            observer: None,
        })
    }

    /// Tells somebody of each statement from now on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Whose words it understands.
    pub fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// A database that cannot be reached.
    pub async fn begin(&self, mode: Mode) -> Result<Transaction, DbError> {
        let begun = Instant::now();
        let session = self.driver.begin(mode).await;
        tell(self.observer.as_ref(), "begin", begun, session.is_ok());
        Ok(Transaction {
            session: session?,
            observer: self.observer.clone(),
        })
    }
}

impl Transaction {
    /// Makes it happen.
    ///
    /// # Errors
    /// A database that did not take it; nothing has happened then, unless the connection was lost right now.
    pub async fn commit(self) -> Result<(), DbError> {
        let begun = Instant::now();
        let ended = self.session.end(true).await;
        tell(self.observer.as_ref(), "commit", begun, ended.is_ok());
        ended
    }

    /// Leaves everything as it was.
    pub async fn roll_back(self) {
        // a transaction that cannot be taken back ends with its connection
        let _ = self.session.end(false).await;
    }

    /// Makes it happen if all went well, and leaves everything as it was otherwise.
    ///
    /// # Errors
    /// What went wrong before, or a database that did not take it.
    pub async fn settle<T, E: From<DbError>>(self, done: Result<T, E>) -> Result<T, E> {
        match done {
            Ok(done) => {
                self.commit().await?;
                Ok(done)
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
        let begun = Instant::now();
        let rows = self.session.query(sql.into(), values).await;
        tell(self.observer.as_ref(), word(sql), begun, rows.is_ok());
        rows
    }

    /// Asks for rows by a statement that was put together, and begins with `SELECT`.
    pub(super) async fn select(
        &mut self,
        sql: String,
        values: Vec<Cell>,
    ) -> Result<Vec<Row>, DbError> {
        let begun = Instant::now();
        let rows = self.session.query(sql.into(), values).await;
        tell(self.observer.as_ref(), "select", begun, rows.is_ok());
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
        let begun = Instant::now();
        let changed = self.session.execute(sql, values).await;
        tell(self.observer.as_ref(), word(sql), begun, changed.is_ok());
        changed
    }

    pub(super) async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.session.script(sql).await
    }
}

fn tell(observer: Option<&Observer>, word: &'static str, begun: Instant, is_well: bool) {
    if let Some(observer) = observer {
        observer(word, is_well, begun.elapsed());
    }
}

/// The word that a statement begins with.
fn word(sql: &'static str) -> &'static str {
    let words = ["SELECT", "INSERT", "UPDATE", "DELETE"];
    let names = ["select", "insert", "update", "delete"];
    let found = words
        .into_iter()
        .zip(names)
        .find(|(word, _)| sql.starts_with(word));
    found.map_or("other", |(_, name)| name)
}

/// Now, in microseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}
