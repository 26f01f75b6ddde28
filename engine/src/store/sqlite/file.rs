//! The SQLite file: its schema, its lock and its checks.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{StoreError, origins};

/// SQLite application id of the files: `Soln`.
const APPLICATION: i32 = 0x536f_6c6e;

/// Version of the schema. A file with a larger one was written by a newer version.
const SCHEMA_VERSION: i32 = 1;

const TABLES: &str = "
    CREATE TABLE documents (path BLOB PRIMARY KEY, value BLOB) STRICT;
    CREATE TABLE modules (name TEXT PRIMARY KEY, rego INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
    INSERT INTO documents (path, value) VALUES (x'', NULL);
";

/// The reason why a file is rejected.
pub enum OpenFileError {
    /// An error of SQLite.
    Sql(rusqlite::Error),
    /// Contents that no version writes.
    Damaged(String),
    /// The process has no permission to write the file.
    ReadOnly,
    /// Any other reason.
    Other(String),
}

const READ_ONLY: &str = "the file cannot be written";

impl From<rusqlite::Error> for OpenFileError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl OpenFileError {
    pub fn message(&self) -> String {
        let damaged =
            |problem: &str| format!("the file is damaged ({problem}); put a copy of it back");
        match self {
            Self::Sql(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    "another process uses the file".to_owned()
                }
                Some(ErrorCode::DatabaseCorrupt) => damaged(&error.to_string()),
                Some(ErrorCode::NotADatabase) => "the file is not an SQLite database".to_owned(),
                Some(ErrorCode::ReadOnly) => READ_ONLY.to_owned(),
                Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
                _ => error.to_string(),
            },
            Self::Damaged(problem) => damaged(problem),
            Self::ReadOnly => READ_ONLY.to_owned(),
            Self::Other(message) => message.clone(),
        }
    }

    pub fn to_store_error(&self, name: &str) -> StoreError {
        StoreError::Internal {
            message: format!("{name}: {}", self.message()),
        }
    }
}

/// Creates the file with access for its owner only, since policies and data are not for all users of the machine.
/// SQLite gives its side files the same mode. Errors are ignored here, because SQLite reports them when it opens the
/// file.
pub fn make_private_file(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

/// Opens a file, or creates it, for exclusive use by this process. Fails if the file is read-only, or another process uses
/// it.
pub fn open(path: &Path) -> Result<Connection, OpenFileError> {
    make_private_file(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // SQLite opens a file without write permission as read-only
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(OpenFileError::ReadOnly);
    }
    // exclusive, so that memory and file stay equal; synchronous, so that committed changes survive a power failure
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let number = |connection: &Connection, name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0))
    };
    let application = number(&connection, "application_id")?;
    let form = number(&connection, "user_version")?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, form) {
        (0, 0) if tables == 0 => {}
        (APPLICATION, SCHEMA_VERSION) => {}
        (APPLICATION, newer) if newer > SCHEMA_VERSION => {
            return Err(OpenFileError::Other(format!(
                "the file has form {newer}, and this version reads forms up to {SCHEMA_VERSION}: use the version that wrote it"
            )));
        }
        _ => {
            let message = "the file is a SQLite database of another kind";
            return Err(OpenFileError::Other(message.to_owned()));
        }
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // the triggers are for versions that do not record origins
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    let sql = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    if tables == 0 {
        sql.execute_batch(TABLES)?;
        sql.pragma_update(None, "application_id", APPLICATION)?;
        sql.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    origins::migrate(&sql, tables == 0)?;
    sql.commit()?;
    Ok(connection)
}

/// Returns the defects that SQLite finds; none in a valid file. Reads the whole file.
pub fn damages(connection: &Connection) -> Result<Vec<String>, OpenFileError> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}
