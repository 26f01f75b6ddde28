//! Documents in rows: reading all, and writing changes.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Transaction as Sql};
use solon_syntax::stack;

use super::file::OpenFileError;
use super::{limits, row};
use crate::store::Path;
use crate::value::json::{self, Style};
use crate::value::{Object, Repr, Value};

/// Reads all documents into memory.
///
/// # Errors
/// The file cannot be read, or a row is malformed.
pub fn read(connection: &Connection) -> Result<Value, OpenFileError> {
    let bytes: i64 = connection.query_row(
        "SELECT coalesce(sum(length(value)), 0) FROM documents",
        [],
        |row| row.get(0),
    )?;
    let mut reader = json::JsonReader::new(usize::try_from(bytes).unwrap_or_default());
    // in reverse order, members precede the objects that they belong to
    let mut statement =
        connection.prepare("SELECT path, value FROM documents ORDER BY path DESC")?;
    let mut rows = statement.query([])?;
    let mut members: HashMap<Vec<u8>, Vec<(Value, Value)>> = HashMap::new();
    let mut root = None;
    while let Some(row) = rows.next()? {
        let path = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let damaged = |problem: &str| {
            OpenFileError::Damaged(format!("{problem} at {:?}", String::from_utf8_lossy(path)))
        };
        let own_members = members.remove(path);
        let text = row.get_ref(1)?.as_blob_or_null();
        let value = match (text.map_err(rusqlite::Error::from)?, own_members) {
            (Some(text), None) => reader.read(text).map_err(|_| damaged("no JSON"))?,
            (None, own_pairs) => Value(Repr::Object(Object::from_pairs(
                own_pairs.unwrap_or_default(),
            ))),
            (Some(_), Some(_)) => return Err(damaged("a document twice")),
        };
        if path.is_empty() {
            root = Some(value);
        } else {
            let (parent, key) = row::split(path).ok_or_else(|| damaged("no path"))?;
            let key = String::from_utf8(key).map_err(|_| damaged("no text"))?;
            let members = members.entry(parent.to_vec()).or_default();
            members.push((Value::string(&key), value));
        }
    }
    if let Some(orphan) = members.into_keys().next() {
        let orphan_name = String::from_utf8_lossy(&orphan).into_owned();
        return Err(OpenFileError::Damaged(format!(
            "nothing around what is below {orphan_name:?}"
        )));
    }
    root.ok_or_else(|| OpenFileError::Damaged("no documents".to_owned()))
}

/// Writes changed documents to their rows.
pub struct DocumentWriter<'s> {
    sql: &'s Sql<'s>,
    documents: &'s Value,
    /// Rows that are up to date, with all rows below them.
    written: BTreeSet<Vec<u8>>,
}

impl<'s> DocumentWriter<'s> {
    /// Creates a writer for the documents after a change.
    pub fn new(sql: &'s Sql<'s>, documents: &'s Value) -> Self {
        Self {
            sql,
            documents,
            written: BTreeSet::new(),
        }
    }

    /// Writes the row of a path: its own, or that of the innermost document around it that has one.
    pub fn changed(&mut self, path: &Path) -> Result<(), OpenFileError> {
        let mut name = Vec::new();
        let mut value = Some(self.documents);
        for key in path.segments() {
            if self.written.contains(&name) {
                return Ok(());
            }
            // only objects have rows for their members, and only if they were large before
            let is_split = self.is_split(&name)?;
            let Some(Value(Repr::Object(object))) = value.filter(|_| is_split) else {
                break;
            };
            name = row::member_name(&name, key.as_bytes());
            value = object.get_str(key);
        }
        if self.written.contains(&name) {
            return Ok(());
        }
        self.remove(&name)?;
        if let Some(value) = value {
            self.insert(&name, value)?;
        }
        self.written.insert(name);
        Ok(())
    }

    fn is_split(&self, name: &[u8]) -> Result<bool, OpenFileError> {
        let mut statement = self
            .sql
            .prepare_cached("SELECT value IS NULL FROM documents WHERE path = ?1")?;
        let row = statement.query_row([name], |row| row.get(0));
        Ok(row.optional()?.unwrap_or(false))
    }

    fn remove(&self, name: &[u8]) -> Result<(), OpenFileError> {
        let (first, end) = row::range(name);
        self.sql
            .prepare_cached("DELETE FROM documents WHERE path = ?1 OR path >= ?2 AND path < ?3")?
            .execute((name, first, end))?;
        Ok(())
    }

    fn insert(&self, name: &[u8], value: &Value) -> Result<(), OpenFileError> {
        if !stack::level(|| is_json(value)) {
            return Err(no_json());
        }
        self.insert_members(name, value)
    }

    fn insert_members(&self, name: &[u8], value: &Value) -> Result<(), OpenFileError> {
        let text = if name.is_empty() {
            None
        } else {
            text_of(value)
        };
        let members = match value {
            Value(Repr::Object(object)) if text.is_none() => Some(object),
            _ => None,
        };
        self.sql
            .prepare_cached("INSERT INTO documents (path, value) VALUES (?1, ?2)")?
            .execute((name, text))?;
        for (key, value) in members.into_iter().flat_map(Object::iter) {
            let Some(key) = key.as_str() else {
                return Err(no_json());
            };
            let name = row::member_name(name, key.as_bytes());
            stack::level(|| self.insert_members(&name, value))?;
        }
        Ok(())
    }
}

fn no_json() -> OpenFileError {
    let message =
        "a document with a set, or with a key that is not a string, cannot be stored as JSON";
    OpenFileError::Other(message.to_owned())
}

/// Returns the text for the row of a value, or `None` for an object whose members have rows of their own.
fn text_of(value: &Value) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    if matches!(value, Value(Repr::Object(_))) {
        let (style, max_bytes) = (Style::default(), limits::STORED_PART);
        json::write_within(value.borrow(), style, max_bytes, &mut text).ok()?;
    } else {
        json::write(value.borrow(), &mut text);
    }
    Some(text)
}

/// Returns `true` if a value can be written as JSON and read back unchanged.
fn is_json(value: &Value) -> bool {
    match value {
        Value(Repr::Set(_)) => false,
        Value(Repr::Array(items)) => items.iter().all(|item| stack::level(|| is_json(item))),
        Value(Repr::Object(object)) => object
            .iter()
            .all(|(key, value)| key.as_str().is_some() && stack::level(|| is_json(value))),
        _ => true,
    }
}
