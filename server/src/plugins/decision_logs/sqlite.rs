//! SQLite file of events, which `solon logs` queries.
//!
//! The table `decisions` has a row for each event. The column `event` is its text, and the other columns are copies of the members
//! that queries compare. `user_version` is the version of the format.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::counts::LogCounts;
use crate::config::LogDatabaseOptions;
use solon_common::private_files;

/// Version of the format.
const VERSION: i64 = 1;

/// Maximum number of events that wait to be written.
const WAITING: usize = 8_192;

/// Busy timeout: how long a write waits for readers that lock the file.
const BUSY: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS decisions (
        id INTEGER PRIMARY KEY,
        decision_id TEXT NOT NULL,
        timestamp TEXT NOT NULL,
        path TEXT NOT NULL,
        result TEXT,
        is_error INTEGER NOT NULL,
        duration_ns INTEGER,
        event TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS decisions_timestamp ON decisions (timestamp);
    CREATE INDEX IF NOT EXISTS decisions_path ON decisions (path, timestamp);
";

/// The file, written by a separate thread. Several events share a transaction.
pub struct LogDatabase {
    options: LogDatabaseOptions,
    events: SyncSender<Vec<u8>>,
}

/// Event members that are columns.
#[derive(Deserialize)]
struct Columns<'e> {
    decision_id: String,
    timestamp: String,
    path: Option<String>,
    #[serde(borrow)]
    result: Option<&'e RawValue>,
    #[serde(borrow)]
    error: Option<&'e RawValue>,
    metrics: Option<SqliteMetrics>,
}

#[derive(Deserialize)]
struct SqliteMetrics {
    timer_server_handler_ns: Option<i64>,
}

impl LogDatabase {
    /// Opens or creates the file, and starts the thread. Only the user of the process can read the file.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, or a later version of Solon has written it.
    pub fn open(options: &LogDatabaseOptions, counts: Arc<LogCounts>) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| {
            format!("decision_logs.sqlite: {}: {error}", options.path.display())
        };
        let connection = open(&options.path).map_err(|error| failed(&error))?;
        let (events, queued_events) = sync_channel(WAITING);
        let max = options.max_events;
        std::thread::Builder::new()
            .name("decision log".to_owned())
            .spawn(move || write(connection, &queued_events, max, &counts))
            .map_err(|error| failed(&error))?;
        Ok(Self {
            options: options.clone(),
            events,
        })
    }

    pub fn options(&self) -> &LogDatabaseOptions {
        &self.options
    }

    /// Adds an event to the queue.
    ///
    /// # Errors
    /// Fails if too many events wait.
    pub fn append(&self, event: Vec<u8>) -> io::Result<()> {
        let full = |_| io::Error::other("the file is not written fast enough");
        self.events.try_send(event).map_err(full)
    }
}

fn open(path: &Path) -> Result<Connection, String> {
    let file = private_files::options(OpenOptions::new().append(true).create(true)).open(path);
    let file = file.map_err(|error| error.to_string())?;
    private_files::protect(&file).map_err(|error| error.to_string())?;
    let connection = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        let pragmas =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF;";
        connection.execute_batch(pragmas)?;
        Ok(connection)
    };
    let connection = connection().map_err(|error| error.to_string())?;
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    if version > VERSION {
        return Err(format!("format {version} is of a later version of Solon"));
    }
    connection
        .execute_batch(SCHEMA)
        .and_then(|()| connection.pragma_update(None, "user_version", VERSION))
        .map_err(|error| error.to_string())?;
    Ok(connection)
}

/// Writes events until the log is dropped.
fn write(
    mut connection: Connection,
    queued_events: &Receiver<Vec<u8>>,
    max: u64,
    counts: &LogCounts,
) {
    while let Ok(first) = queued_events.recv() {
        let mut events = vec![first];
        events.extend(queued_events.try_iter().take(WAITING));
        if let Err(error) = insert(&mut connection, &events, max) {
            counts.write_failures.add(events.len() as u64);
            tracing::error!(
                plugin = "decision_logs",
                err = error.to_string(),
                "Events were not written to the SQLite file."
            );
        }
    }
}

fn insert(connection: &mut Connection, events: &[Vec<u8>], max: u64) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO decisions (decision_id, timestamp, path, result, is_error, duration_ns, event)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        for event in events {
            let text = String::from_utf8_lossy(event);
            // events are objects with these members
            let Ok(columns) = serde_json::from_str::<Columns<'_>>(&text) else {
                continue;
            };
            insert.execute(params![
                columns.decision_id,
                comparable(&columns.timestamp),
                columns.path.unwrap_or_default(),
                columns.result.map(RawValue::get),
                columns.error.is_some(),
                columns
                    .metrics
                    .and_then(|metrics| metrics.timer_server_handler_ns),
                text,
            ])?;
        }
        if max > 0 {
            transaction.execute(
                "DELETE FROM decisions WHERE id <= (SELECT max(id) FROM decisions) - ?1",
                [i64::try_from(max).unwrap_or(i64::MAX)],
            )?;
        }
    }
    transaction.commit()
}

/// Returns a timestamp with nine fractional digits, so that text order is time order.
pub fn comparable(timestamp: &str) -> String {
    let (seconds, fraction) = match timestamp.trim_end_matches('Z').split_once('.') {
        Some(parts) => parts,
        None => (timestamp.trim_end_matches('Z'), ""),
    };
    format!("{seconds}.{fraction:0<9}Z")
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn timestamps_have_the_order_of_times() {
        for (timestamp, expected) in [
            ("2026-11-27T23:52:42Z", "2026-11-27T23:52:42.000000000Z"),
            ("2026-11-27T23:52:42.5Z", "2026-11-27T23:52:42.500000000Z"),
            (
                "2026-11-27T23:52:42.123456789Z",
                "2026-11-27T23:52:42.123456789Z",
            ),
        ] {
            assert_eq!(comparable(timestamp), expected);
        }
    }
}
