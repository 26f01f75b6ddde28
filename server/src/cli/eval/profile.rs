//! Profile of one run or of several, as rows and as a table.

use clap::ValueEnum;
use serde::{Serialize, Serializer};
use solon::trace::{ProfileRow, Statistics};

use crate::cli::amounts::format_duration;
use crate::cli::table::TextTable;
use crate::wire::ErrorLocation;

/// Sort key of rows, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum SortKey {
    /// Duration of the row's expressions.
    TotalTimeNs,
    /// Number of evaluations.
    NumEval,
    /// How often another solution of one was looked for.
    NumRedo,
    /// Number of expressions, generated ones included.
    NumGenExpr,
    /// The file.
    File,
    /// The row in its file.
    Line,
}

/// A profiled row, of one run or of several.
#[derive(Debug)]
pub struct Row {
    first: ProfileRow,
    /// File and row, or the expression of the query.
    text: String,
    /// Duration in each run, in nanoseconds.
    times: Vec<u64>,
    /// Statistics of the durations, if there are several runs.
    often: Option<Statistics>,
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Aggregated {
            total_time_ns_stats: Statistics,
            num_eval: u64,
            num_redo: u64,
            num_gen_expr: usize,
            location: ErrorLocation,
        }
        let Some(total_time_ns_stats) = self.often else {
            return self.first.serialize(serializer);
        };
        let span = self.first.span;
        let row = Aggregated {
            total_time_ns_stats,
            num_eval: self.first.evals,
            num_redo: self.first.redos,
            num_gen_expr: self.first.expressions,
            location: ErrorLocation::from((self.first.file.clone(), span.row, span.col)),
        };
        row.serialize(serializer)
    }
}

impl Row {
    /// Converts a row of a file, or of the query with the text `query`.
    pub fn from_row(row: ProfileRow, query: &str) -> Self {
        let span = row.span;
        let text = query.get(span.start as usize..span.end as usize);
        Self {
            text: match (&*row.file, text) {
                ("", Some(text)) => text.to_owned(),
                (file, _) => format!("{file}:{}", span.row),
            },
            times: vec![row.nanoseconds()],
            often: None,
            first: row,
        }
    }

    /// Returns the duration, or the mean of several runs.
    fn took(&self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "an order of times needs no more"
        )]
        let first_time = self.first.nanoseconds() as f64;
        self.often.map_or(first_time, |statistics| statistics.mean)
    }

    fn compare(&self, other: &Self, key: SortKey) -> std::cmp::Ordering {
        match key {
            SortKey::TotalTimeNs => other.took().total_cmp(&self.took()),
            SortKey::NumEval => other.first.evals.cmp(&self.first.evals),
            SortKey::NumRedo => other.first.redos.cmp(&self.first.redos),
            SortKey::NumGenExpr => other.first.expressions.cmp(&self.first.expressions),
            SortKey::File => other.first.file.cmp(&self.first.file),
            SortKey::Line => other.first.span.row.cmp(&self.first.span.row),
        }
    }
}

/// Merges the rows of all runs by source location.
pub fn aggregated(runs: Vec<Vec<Row>>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in runs.into_iter().flatten() {
        let location = |row: &Row| (row.first.file.clone(), row.first.span.row);
        let is_same_location = |other: &&mut Row| location(other) == location(&row);
        match all.iter_mut().find(is_same_location) {
            Some(first) => first.times.extend(row.times),
            None => all.push(row),
        }
    }
    for row in &mut all {
        row.often = Some(Statistics::of_samples(&row.times, row.times.len() as u64));
    }
    all
}

/// Sorts rows and keeps the first `limit`, or all of them if it is 0.
pub fn sort(rows: &mut Vec<Row>, keys: &[SortKey], limit: usize) {
    let keys = if keys.is_empty() {
        &[SortKey::TotalTimeNs]
    } else {
        keys
    };
    rows.sort_by(|left, right| {
        let compared = keys.iter().map(|key| left.compare(right, *key));
        compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    if limit > 0 {
        rows.truncate(limit);
    }
}

/// Returns the rows as a table, with statistics if there are several runs.
pub fn table(rows: &[Row]) -> TextTable {
    let often = rows.iter().any(|row| row.often.is_some());
    let times: &[&str] = if often {
        &["Min", "Max", "Mean", "90%", "99%"]
    } else {
        &["Time"]
    };
    let titles = times
        .iter()
        .chain(&["Num Eval", "Num Redo", "Num Gen Expr", "Location"]);
    let mut table = TextTable::new(titles.map(|&title| title.to_owned()).collect());
    for row in rows {
        let mut cells = match row.often {
            None => vec![format_duration(row.first.nanoseconds())],
            Some(statistics) => {
                let mut cells = vec![
                    format_duration(statistics.min),
                    format_duration(statistics.max),
                ];
                cells.extend(
                    [statistics.mean, statistics.p90, statistics.p99]
                        .map(round)
                        .map(format_duration),
                );
                cells
            }
        };
        cells.extend([row.first.evals, row.first.redos].map(|count| count.to_string()));
        cells.push(row.first.expressions.to_string());
        cells.push(row.text.clone());
        table.tall_row(&cells);
    }
    table
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are not negative and far from the end"
)]
fn round(nanoseconds: f64) -> u64 {
    nanoseconds as u64
}
