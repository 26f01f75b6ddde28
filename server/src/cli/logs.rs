//! `solon logs`: searches a SQLite file with decisions.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use serde_json::{Value, json};

use super::amounts::format_duration;
use super::table::TextTable;
use super::terminal::complain;
use super::{FAILED, amounts};
use crate::plugins::decision_logs::comparable;

/// Query logged decisions in a SQLite file (`decision_logs.sqlite.path`).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  solon logs decisions.db --path authz/allow --result false --since 1h
  solon logs decisions.db --input user=\\\"alice\\\" --limit 10
  solon logs decisions.db --stats")]
pub struct Args {
    /// SQLite file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Decisions of this document, like `authz/allow`, and of documents below it.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Decisions with this result, as JSON; `undefined` for those without one.
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
    /// Decisions whose input has a member with this value, like `user.name="alice"`; may be given several times.
    #[arg(long, value_name = "MEMBER=JSON")]
    input: Vec<String>,
    /// Decisions that failed.
    #[arg(long)]
    errors: bool,
    /// Decisions from this time on: RFC 3339, or a duration before now like `15m`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Decisions before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
    /// Most decisions to show, the latest ones; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Show numbers of decisions by path and result, and percentiles of their durations, instead of decisions.
    #[arg(long)]
    stats: bool,
    /// How decisions or numbers are shown.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables.
    #[default]
    Pretty,
    /// Events as lines of JSON; with `--stats` one array.
    Json,
}

/// Shows logged decisions.
pub fn run(args: &Args) -> ExitCode {
    match args.show() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            complain(format!("error: {text}\n"));
            ExitCode::from(FAILED)
        }
    }
}

/// Parses a time, or a duration before now.
fn time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let before = amounts::duration(text)
        .map_err(|_| "expected a time like `2026-01-31T12:00:00Z` or a duration like `15m`")?;
    let before = jiff::SignedDuration::try_from(before).map_err(|error| error.to_string())?;
    Timestamp::now()
        .checked_sub(before)
        .map_err(|error| error.to_string())
}

/// SQL conditions with their parameters.
struct Conditions {
    text: Vec<String>,
    parameters: Vec<Sql>,
}

impl Conditions {
    fn add(&mut self, text: &str, parameters: impl IntoIterator<Item = Sql>) {
        self.text.push(text.to_owned());
        self.parameters.extend(parameters);
    }
}

impl Args {
    fn show(&self) -> Result<(), String> {
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.file.display());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags).map_err(failed)?;
        let conditions = self.conditions()?;
        let result = if self.stats {
            self.show_stats(&connection, conditions).map_err(failed)?
        } else {
            self.show_events(&connection, conditions).map_err(failed)?
        };
        result.map_err(|error| error.to_string())
    }

    fn conditions(&self) -> Result<Conditions, String> {
        let mut all = Conditions {
            text: Vec::new(),
            parameters: Vec::new(),
        };
        let text = |text: &str| Sql::Text(text.to_owned());
        if let Some(path) = &self.path {
            let path = path.trim_matches('/');
            let prefix = format!("{path}/");
            all.add(
                "(path = ? OR substr(path, 1, length(?)) = ?)",
                [text(path), text(&prefix), text(&prefix)],
            );
        }
        match self.result.as_deref() {
            None => {}
            Some("undefined") => all.add("result IS NULL", []),
            Some(result) => {
                let value: Value = serde_json::from_str(result)
                    .map_err(|error| format!("--result: not JSON: {error}"))?;
                all.add("json(result) = json(?)", [text(&value.to_string())]);
            }
        }
        for member in &self.input {
            let (member, value) = member
                .split_once('=')
                .ok_or_else(|| format!("--input: expected MEMBER=JSON, got `{member}`"))?;
            let value: Value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            let keys = member.split('.');
            let keys = keys.map(|key| match key.parse::<u32>() {
                Ok(index) => format!("[{index}]"),
                Err(_) => format!(".\"{}\"", key.replace('"', "")),
            });
            let path = format!("$.input{}", keys.collect::<String>());
            all.add(
                "event -> ? = json(?)",
                [text(&path), text(&value.to_string())],
            );
        }
        if self.errors {
            all.add("is_error", []);
        }
        if let Some(since) = self.since {
            all.add("timestamp >= ?", [text(&comparable(&since.to_string()))]);
        }
        if let Some(until) = self.until {
            all.add("timestamp < ?", [text(&comparable(&until.to_string()))]);
        }
        Ok(all)
    }

    fn show_events(
        &self,
        connection: &Connection,
        conditions: Conditions,
    ) -> rusqlite::Result<io::Result<()>> {
        let limit = match self.limit {
            0 => -1,
            limit => i64::from(limit),
        };
        let sql = format!(
            "SELECT timestamp, path, result, is_error, duration_ns, event FROM
             (SELECT * FROM decisions {} ORDER BY id DESC LIMIT {limit}) ORDER BY id",
            filter(&conditions)
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(conditions.parameters))?;
        let mut table = TextTable::new(
            ["time", "path", "result", "duration"]
                .map(str::to_owned)
                .to_vec(),
        );
        let mut out = BufWriter::new(io::stdout().lock());
        while let Some(row) = rows.next()? {
            if self.format == Format::Json {
                let event: String = row.get(5)?;
                if let Err(error) = writeln!(out, "{event}") {
                    return Ok(Err(error));
                }
                continue;
            }
            let result: Option<String> = row.get(2)?;
            let result = match (row.get(3)?, result) {
                (true, _) => "error".to_owned(),
                (false, Some(result)) => truncate(&result),
                (false, None) => "undefined".to_owned(),
            };
            table.row(vec![
                row.get(0)?,
                row.get(1)?,
                result,
                duration(row.get(4)?),
            ]);
        }
        if self.format == Format::Pretty {
            return Ok(write!(out, "{}", table.render()).and_then(|()| out.flush()));
        }
        Ok(out.flush())
    }

    fn show_stats(
        &self,
        connection: &Connection,
        conditions: Conditions,
    ) -> rusqlite::Result<io::Result<()>> {
        let sql = format!(
            "SELECT path, CASE WHEN is_error THEN 'error' ELSE coalesce(result, 'undefined') END, duration_ns
             FROM decisions {}",
            filter(&conditions)
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(conditions.parameters))?;
        let mut groups: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let result: String = row.get(1)?;
            let group = groups.entry((row.get(0)?, truncate(&result))).or_default();
            group.push(row.get::<_, Option<i64>>(2)?.unwrap_or(0));
        }
        let names = ["path", "result", "count", "p50", "p90", "p99", "max"];
        let mut table = TextTable::new(names.map(str::to_owned).to_vec());
        let mut all = Vec::new();
        for ((path, result), mut durations) in groups {
            durations.sort_unstable();
            let [p50, p90, p99, max] = [50, 90, 99, 100].map(|share| percentile(&durations, share));
            all.push(json!({
                "path": path, "result": result, "count": durations.len(),
                "p50_ns": p50, "p90_ns": p90, "p99_ns": p99, "max_ns": max,
            }));
            let mut cells = vec![path, result, durations.len().to_string()];
            cells.extend([p50, p90, p99, max].map(|ns| duration(Some(ns))));
            table.row(cells);
        }
        let mut out = io::stdout().lock();
        Ok(match self.format {
            Format::Pretty => write!(out, "{}", table.render()),
            Format::Json => writeln!(out, "{}", Value::from(all)),
        })
    }
}

fn filter(conditions: &Conditions) -> String {
    if conditions.text.is_empty() {
        return String::new();
    }
    format!("WHERE {}", conditions.text.join(" AND "))
}

/// Returns the percentile `share` of sorted numbers (nearest-rank method).
fn percentile(sorted: &[i64], share: usize) -> i64 {
    let index = (sorted.len() * share).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or(0)
}

fn duration(nanoseconds: Option<i64>) -> String {
    let non_negative = nanoseconds.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    non_negative.map(format_duration).unwrap_or_default()
}

/// Maximum length of a result in a table, in characters.
const LONGEST: usize = 60;

fn truncate(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles() {
        let all: Vec<i64> = (1..=200).collect();
        assert_eq!(
            [50, 90, 99, 100].map(|share| percentile(&all, share)),
            [100, 180, 198, 200]
        );
        assert_eq!(percentile(&[7], 50), 7);
        assert_eq!(percentile(&[], 50), 0);
    }
}
