//! Migration of the tables to the version that the service supports.

use super::{Database, DbError, Dialect, Mode, Transaction, now};

/// A step from one version of the tables to the next.
struct Migration {
    version: i64,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($dialect:literal: $($version:literal $name:literal),+) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../../migrations/", $dialect, "/", $name, ".sql")),
        }),+]
    };
}

static SQLITE: &[Migration] = migrations!("sqlite": 1 "0001_tables", 2 "0002_indexes", 3 "0003_artifacts", 4 "0004_builds", 5 "0005_triggers", 6 "0006_traces");
static POSTGRES: &[Migration] = migrations!("postgres": 1 "0001_tables", 2 "0002_indexes", 3 "0003_artifacts", 4 "0004_builds", 5 "0005_triggers", 6 "0006_traces");
/// The foreign keys of MySQL already create the indexes of the second migration of the other dialects.
static MYSQL: &[Migration] = migrations!("mysql": 1 "0001_tables", 3 "0003_artifacts", 4 "0004_builds", 5 "0005_triggers", 6 "0006_traces");

fn all(dialect: Dialect) -> &'static [Migration] {
    match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
        Dialect::Mysql => MYSQL,
    }
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS solon_migrations (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)";

/// Report of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The names of the applied migrations, in order.
    pub applied: Vec<&'static str>,
    /// The current version of the tables.
    pub version: i64,
}

impl Database {
    /// Migrates the tables to the latest version, after a migration of another process has ended.
    ///
    /// # Errors
    /// The database cannot be reached, or its tables are newer.
    pub async fn migrate(&self) -> Result<Migrated, DbError> {
        let mut transaction = self.begin(Mode::Migrate).await?;
        let mut applied = Vec::new();
        transaction.script(TABLE).await?;
        for migration in transaction.pending(self.dialect()).await? {
            transaction.script(migration.sql).await?;
            transaction
                .execute(
                    "INSERT INTO solon_migrations (version, applied_at) VALUES (?, ?)",
                    vec![migration.version.into(), now().into()],
                )
                .await?;
            applied.push(migration.name);
        }
        transaction.commit().await?;
        let version = all(self.dialect()).last().map_or(0, |last| last.version);
        Ok(Migrated { applied, version })
    }

    /// Rejects tables of another version.
    ///
    /// # Errors
    /// [`DbError::Pending`], [`DbError::Newer`], or the database cannot be reached.
    pub async fn check_version(&self) -> Result<(), DbError> {
        match pending(self).await?.len() {
            0 => Ok(()),
            count => Err(DbError::Pending(count)),
        }
    }
}

async fn pending(database: &Database) -> Result<Vec<&'static Migration>, DbError> {
    let mut transaction = database.begin(Mode::Read).await?;
    match transaction.pending(database.dialect()).await {
        Ok(pending) => {
            transaction.roll_back().await;
            Ok(pending)
        }
        // a missing table means that no migration has run
        Err(DbError::MissingTable(_)) => {
            transaction.roll_back().await;
            Ok(all(database.dialect()).iter().collect())
        }
        Err(error) => {
            transaction.roll_back().await;
            Err(error)
        }
    }
}

impl Database {
    /// Logs how many migrations are pending, and returns the number.
    ///
    /// # Errors
    /// The database cannot be reached, or its tables are newer.
    pub async fn log_pending(&self) -> Result<usize, DbError> {
        let count = pending(self).await?.len();
        if count == all(self.dialect()).len() {
            tracing::warn!("database has never run migrations");
        } else if count > 0 {
            tracing::warn!("{count} database migrations pending");
        } else {
            tracing::debug!("database migrations up to date");
        }
        Ok(count)
    }

    /// Returns the names of the migrations that [`Database::migrate`] would run.
    ///
    /// # Errors
    /// The database cannot be reached, or its tables are newer.
    pub async fn pending_migrations(&self) -> Result<Vec<&'static str>, DbError> {
        let pending = pending(self).await?.into_iter();
        Ok(pending.map(|migration| migration.name).collect())
    }
}

/// Returns the statements that [`Database::migrate`] would run.
///
/// # Errors
/// The database cannot be reached, or its tables are newer.
pub async fn pending_sql(database: &Database) -> Result<String, DbError> {
    let pending = pending(database).await?.into_iter();
    let text = |migration: &Migration| {
        let Migration { name, sql, version } = migration;
        format!("-- migration {version}: {name}\n{sql}")
    };
    Ok(pending.map(text).collect::<Vec<_>>().join("\n"))
}

impl Transaction {
    async fn pending(&mut self, dialect: Dialect) -> Result<Vec<&'static Migration>, DbError> {
        let rows = self
            .query(
                "SELECT version FROM solon_migrations ORDER BY version",
                vec![],
            )
            .await?;
        let mut applied_versions = Vec::new();
        for mut row in rows {
            applied_versions.push(row.int()?);
        }
        let newest_version = all(dialect).last().map_or(0, |last| last.version);
        match applied_versions.last() {
            Some(&found_version) if found_version > newest_version => Err(DbError::Newer {
                found: found_version,
                known: newest_version,
            }),
            _ => {
                let open = |migration: &&Migration| !applied_versions.contains(&migration.version);
                Ok(all(dialect).iter().filter(open).collect())
            }
        }
    }
}
