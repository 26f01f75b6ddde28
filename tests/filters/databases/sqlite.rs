//! SQLite, as a library.

use rusqlite::Connection;
use serde_json::Value;
use solon::FilterTarget;

use super::{Database, RowPairs, hex, question};
use crate::tables::Kind;

/// A database in memory.
pub struct Sqlite(Connection);

impl Sqlite {
    pub fn open() -> Self {
        Self(Connection::open_in_memory().unwrap())
    }
}

impl Database for Sqlite {
    fn target(&self) -> FilterTarget {
        FilterTarget::Sqlite
    }

    fn column_type(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Text => "TEXT",
            Kind::Integer => "INTEGER",
            Kind::Decimal => "NUMERIC",
            Kind::Truth => "BOOLEAN",
        }
    }

    fn folding(&self) -> &'static str {
        "TEXT COLLATE NOCASE"
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(truth) => u8::from(*truth).to_string(),
            Value::String(text) => format!("CAST(x'{}' AS TEXT)", hex(text)),
            other => other.to_string(),
        }
    }

    fn run(&mut self, statements: &[String]) {
        for statement in statements {
            self.0
                .execute_batch(statement)
                .unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }

    fn matching_rows(&mut self, conditions: &[String]) -> Vec<Result<RowPairs, String>> {
        let one = |condition: &String| -> rusqlite::Result<RowPairs> {
            let mut statement = self.0.prepare(&question(condition))?;
            let rows = statement.query_map([], |row| {
                let number = |at| row.get::<_, i64>(at).map(|it| usize::try_from(it).unwrap());
                Ok((number(0)?, number(1)?))
            })?;
            rows.collect()
        };
        conditions
            .iter()
            .map(|condition| one(condition).map_err(|error| error.to_string()))
            .collect()
    }
}
