//! A store in one SQLite file.
//!
//! The engine reads the file once, at the start; later it only writes. Documents are split into rows, so that a change
//! writes little more than what it changes: an object whose text is longer than [`limits::STORED_PART`] is a row
//! without a text, and each of its members has a row of its own. Each change is one transaction, which is on disk
//! before the change is published.

mod documents;
mod file;
mod origins;
mod row;

use std::path::Path as FilePath;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction as Sql};
use solon_syntax::ast::Version;

use super::{Commit, Contents, Origin, Path, Store, StoreError, StoredModule, Write};
use crate::limits;

pub use file::make_private_file;

/// Policies and documents in an SQLite file. One process at a time can open it.
///
/// ```
/// use std::sync::Arc;
/// use solon::store::SqliteStore;
/// use solon::{Engine, Value};
///
/// # let folder = std::env::temp_dir().join(format!("solon-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("solon.db");
/// let engine = Engine::builder().open(Arc::new(SqliteStore::open(&path)?))?;
/// engine.put("data.a.b", Value::from(1))?;
/// drop(engine);
/// let engine = Engine::builder().open(Arc::new(SqliteStore::open(&path)?))?;
/// assert_eq!(engine.read("data.a.b")?, Value::from(1));
/// # drop(engine);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), solon::Error>(())
/// ```
pub struct SqliteStore {
    connection: Mutex<Connection>,
    /// Name of the file in errors.
    name: String,
}

impl SqliteStore {
    /// Opens a file, or creates it with access for its owner only. The file is locked until the store is dropped.
    ///
    /// # Errors
    /// [`StoreError::Internal`] if the file cannot be opened, is not a store of policies, was written by a newer version, is damaged, or
    /// is used by another process.
    pub fn open(path: impl AsRef<FilePath>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let connection = file::open(path).map_err(|error| error.to_store_error(&name))?;
        Ok(Self {
            connection: Mutex::new(connection),
            name,
        })
    }

    /// Reads the whole file and returns a message for each defect; an empty list if there are none. Takes time in the size of the file.
    ///
    /// # Errors
    /// [`StoreError::Internal`] if the file cannot be read.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.connection.lock();
        let mut problems =
            file::damages(&connection).map_err(|error| error.to_store_error(&self.name))?;
        if let Err(error) = documents::read(&connection) {
            problems.push(error.message());
        }
        if let Err(error) = modules(&connection) {
            problems.push(error.message());
        }
        if let Err(error) = origins::read(&connection) {
            problems.push(error.message());
        }
        Ok(problems)
    }

    /// Replaces all contents of the file in one transaction.
    ///
    /// # Errors
    /// [`StoreError::Internal`] if the file cannot be written. It is unchanged then.
    pub fn replace(&self, contents: &Contents) -> Result<(), StoreError> {
        let mut connection = self.connection.lock();
        let mut write = || {
            let sql = connection.transaction()?;
            documents::DocumentWriter::new(&sql, &contents.documents).changed(&Path::default())?;
            sql.execute("DELETE FROM modules", [])?;
            for module in &contents.modules {
                set_module(&sql, &module.name, Some(module))?;
            }
            origins::replace(&sql, &contents.origins)?;
            Ok(sql.commit()?)
        };
        write().map_err(|error: file::OpenFileError| error.to_store_error(&self.name))
    }
}

impl Store for SqliteStore {
    fn load(&self) -> Result<Contents, StoreError> {
        let connection = self.connection.lock();
        let read_contents = || {
            let contents = Contents::new(documents::read(&connection)?, modules(&connection)?);
            Ok(contents.with_origins(origins::read(&connection)?))
        };
        read_contents().map_err(|error: file::OpenFileError| error.to_store_error(&self.name))
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        let mut connection = self.connection.lock();
        let mut write = || {
            let sql = connection.transaction()?;
            let mut writer = documents::DocumentWriter::new(&sql, change.documents);
            for write in change.writes {
                match write {
                    Write::Put(path, _) | Write::MakeParents(path) | Write::Exactly(_, path, _) => {
                        writer.changed(path)?;
                    }
                }
            }
            drop(writer);
            for (name, module) in change.modules {
                set_module(&sql, name, module.as_ref())?;
            }
            origins::write(&sql, change.origins)?;
            Ok(sql.commit()?)
        };
        write().map_err(|error: file::OpenFileError| error.to_store_error(&self.name))
    }
}

fn set_module(
    sql: &Sql<'_>,
    name: &str,
    module: Option<&StoredModule>,
) -> Result<(), file::OpenFileError> {
    match module {
        Some(module) => {
            let version = match module.version {
                Version::V0 => 0,
                Version::V1 => 1,
                Version::V0CompatV1 => 2,
            };
            let origin = match module.origin {
                Origin::Unknown => None,
                Origin::Files => Some(0),
                Origin::Client => Some(1),
            };
            sql.prepare_cached(
                "INSERT OR REPLACE INTO modules (name, rego, text, origin) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((name, version, &*module.text, origin))?;
        }
        None => {
            sql.prepare_cached("DELETE FROM modules WHERE name = ?1")?
                .execute([name])?;
        }
    }
    Ok(())
}

fn modules(connection: &Connection) -> Result<Vec<StoredModule>, file::OpenFileError> {
    let mut statement =
        connection.prepare("SELECT name, rego, text, origin FROM modules ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut modules = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, text): (String, Arc<str>) = (row.get(0)?, row.get(2)?);
        let version = match row.get(1)? {
            0 => Version::V0,
            1 => Version::V1,
            2 => Version::V0CompatV1,
            other => {
                let message = format!("module {name:?} is of an unknown Rego: {other}");
                return Err(file::OpenFileError::Damaged(message));
            }
        };
        let origin = match row.get(3)? {
            None => Origin::Unknown,
            Some(0) => Origin::Files,
            Some(1) => Origin::Client,
            Some(other) => {
                let message = format!("module {name:?} is of an unknown origin: {other}");
                return Err(file::OpenFileError::Damaged(message));
            }
        };
        modules.push(StoredModule::new(name, text, version).with_origin(origin));
    }
    Ok(modules)
}
