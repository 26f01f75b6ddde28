//! Real databases. Servers are started in a folder of their own, and skipped if they are not installed.

mod javascript;
mod mariadb;
mod postgresql;
mod sqlite;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;
use solon::{FilterQuery, FilterTarget, Filters, json};

use crate::tables::Kind;

use javascript::Javascript;
use mariadb::Mariadb;
use postgresql::Postgresql;

pub use sqlite::Sqlite;

/// The pairs of rows that a condition keeps: the row number of each table.
pub type RowPairs = Vec<(usize, usize)>;

/// Runs a program with a script; returns its output and its error output.
pub fn answer(command: &mut Command, script: &str) -> (String, String) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let script = script.to_owned();
    // it may write output before it has read all input
    let writer = thread::spawn(move || {
        let _ = input.write_all(script.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A database that evaluates filters.
pub trait Database {
    /// Target of filters for this database.
    fn target(&self) -> FilterTarget;

    /// Column type of a kind.
    fn column_type(&self, kind: Kind) -> &'static str;

    /// Type of texts with a collation that folds case, or pads.
    fn folding(&self) -> &'static str;

    /// Literal of a value, written in another way than by filters.
    fn literal(&self, value: &Value) -> String;

    /// Returns `true` if the database stores a value exactly and orders it as Rego does.
    fn fits(&self, _: &Value) -> bool {
        true
    }

    /// Returns `true` if the database evaluates a condition as Rego does, for all values that fit.
    fn interprets(&self, _: &str) -> bool {
        true
    }

    /// Runs statements.
    fn run(&mut self, statements: &[String]);

    /// Returns the pairs of rows of `fruits` and `baskets` that each condition keeps, or the error of the condition.
    fn matching_rows(&mut self, conditions: &[String]) -> Vec<Result<RowPairs, String>>;
}

/// Returns the statements that create a table with numbered rows.
pub fn table(
    database: &dyn Database,
    name: &str,
    columns: &[(&str, Kind)],
    rows: &[Vec<Value>],
    folding: bool,
) -> Vec<String> {
    let declared = columns.iter().map(|(column, kind)| {
        format!(
            ", {} {}",
            quoted(database, column),
            if folding && *kind == Kind::Text {
                database.folding()
            } else {
                database.column_type(*kind)
            }
        )
    });
    let declared: String = declared.collect();
    let mut made = vec![
        format!("DROP TABLE IF EXISTS {name}"),
        format!("CREATE TABLE {name} (nr INTEGER{declared})"),
    ];
    for (at, row) in rows.iter().enumerate() {
        let values: String = row
            .iter()
            .map(|value| format!(", {}", database.literal(value)))
            .collect();
        made.push(format!("INSERT INTO {name} VALUES ({at}{values})"));
    }
    made
}

fn quoted(database: &dyn Database, name: &str) -> String {
    match database.target() {
        FilterTarget::Mysql => format!("`{name}`"),
        _ => format!("\"{name}\""),
    }
}

/// Returns the condition of the only target of filters.
pub fn condition(made: Filters) -> String {
    let filter = made.filters.into_iter().next().unwrap();
    match filter.query {
        None if filter.target.is_sql() => "WHERE 0 = 1".to_owned(),
        None => "null".to_owned(),
        Some(FilterQuery::Sql(sql)) => sql.text,
        Some(FilterQuery::Ucast(tree)) => {
            let mut text = Vec::new();
            json::write(tree.borrow(), &mut text);
            String::from_utf8(text).unwrap()
        }
    }
}

/// Returns the query for the rows that a condition keeps.
pub fn question(condition: &str) -> String {
    format!("SELECT fruits.nr, baskets.nr FROM fruits CROSS JOIN baskets {condition}")
}

/// Returns the bytes of a text in hexadecimal.
pub fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses a line of two numbers.
pub fn pair(line: &str, between: char) -> Option<(usize, usize)> {
    let (one, other) = line.split_once(between)?;
    Some((one.trim().parse().ok()?, other.trim().parse().ok()?))
}

/// Reports that a database is not available, if that is allowed.
fn skipped(what: &str) {
    let required = std::env::var_os("SOLON_REQUIRE_DATABASES").is_some();
    assert!(!required, "{what} is not installed");
    println!("skipped: {what} is not installed");
}

/// Runs a check with PostgreSQL, if it is available.
pub fn on_postgresql(check: impl FnOnce(&mut dyn Database)) {
    match Postgresql::start() {
        Some(mut database) => check(&mut database),
        None => skipped("PostgreSQL (initdb, postgres, psql)"),
    }
}

/// Runs a check with MariaDB, if it is available.
pub fn on_mariadb(check: impl FnOnce(&mut dyn Database)) {
    match Mariadb::start() {
        Some(mut database) => check(&mut database),
        None => skipped("MariaDB (mariadb-install-db, mariadbd, mariadb)"),
    }
}

/// Runs a check with the UCAST interpreter, if it is available.
pub fn on_javascript(check: impl FnOnce(&mut dyn Database)) {
    match Javascript::start() {
        Some(mut interpreter) => check(&mut interpreter),
        None => println!("skipped: `@ucast/js` needs node and npm"),
    }
}

/// Defines a module of tests, one for each database, for a function that takes a database.
macro_rules! on_each_database {
    ($name:ident, $check:path) => {
        mod $name {
            #[test]
            fn sqlite() {
                $check(&mut $crate::databases::Sqlite::open());
            }

            #[test]
            fn postgresql() {
                $crate::databases::on_postgresql(|database| $check(database));
            }

            #[test]
            fn mariadb() {
                $crate::databases::on_mariadb(|database| $check(database));
            }

            #[test]
            fn javascript() {
                $crate::databases::on_javascript(|interpreter| $check(interpreter));
            }
        }
    };
}
pub(crate) use on_each_database;
