//! The profile of one run or of several, as rows and as a table.

use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use solon::trace::{ProfileRow, Statistics};

use crate::cli::table::Table;
use crate::wire::Location;

/// What rows are sorted by, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Key {
    /// How long the row's expressions took
    TotalTimeNs,
    /// How often one was searched
    NumEval,
    /// How often another solution of one was looked for
    NumRedo,
    /// Number of expressions, generated ones included
    NumGenExpr,
    /// The file
    File,
    /// The row in its file
    Line,
}

/// A row that was searched.
#[derive(Debug, Serialize)]
pub struct Row {
    #[serde(flatten)]
    time: Time,
    num_eval: u64,
    num_redo: u64,
    num_gen_expr: usize,
    location: Location,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    times: Vec<u64>,
}

/// How long a row took.
#[derive(Clone, Copy, Debug, Serialize)]
enum Time {
    #[serde(rename = "total_time_ns")]
    Once(u64),
    #[serde(rename = "total_time_ns_stats")]
    Often(Statistics),
}

impl Time {
    fn rank(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "an order of times needs no more"
            )]
            Self::Once(took) => took as f64,
            Self::Often(many) => many.mean,
        }
    }
}

impl Row {
    /// A row of a file, or of the query, whose text is `query`.
    pub fn of(row: &ProfileRow, file: Option<&str>, query: &str) -> Self {
        let took = nanoseconds(row.time);
        let span = row.span;
        let text = query.get(span.start as usize..span.end as usize);
        let file = file.unwrap_or_default();
        Self {
            time: Time::Once(took),
            num_eval: row.evals,
            num_redo: row.redos,
            num_gen_expr: row.expressions(),
            text: match (file, text) {
                ("", Some(text)) => text.to_owned(),
                _ => format!("{file}:{}", span.row),
            },
            location: Location::from((file.to_owned(), span.row, span.col)),
            times: vec![took],
        }
    }

    fn compared(&self, other: &Self, key: Key) -> std::cmp::Ordering {
        match key {
            Key::TotalTimeNs => other.time.rank().total_cmp(&self.time.rank()),
            Key::NumEval => other.num_eval.cmp(&self.num_eval),
            Key::NumRedo => other.num_redo.cmp(&self.num_redo),
            Key::NumGenExpr => other.num_gen_expr.cmp(&self.num_gen_expr),
            Key::File => other.location.file.cmp(&self.location.file),
            Key::Line => other.location.row.cmp(&self.location.row),
        }
    }
}

/// The rows of all runs, those of one place together.
pub fn aggregated(runs: Vec<Vec<Row>>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in runs.into_iter().flatten() {
        let same = |other: &&mut Row| {
            (&other.location.file, other.location.row) == (&row.location.file, row.location.row)
        };
        match all.iter_mut().find(same) {
            Some(first) => first.times.extend(row.times),
            None => all.push(row),
        }
    }
    for row in &mut all {
        row.time = Time::Often(Statistics::of(&row.times, row.times.len() as u64));
    }
    all
}

/// Sorts rows and keeps the first ones; all of them for a limit of 0.
pub fn sort(rows: &mut Vec<Row>, keys: &[Key], limit: usize) {
    let keys = if keys.is_empty() {
        &[Key::TotalTimeNs]
    } else {
        keys
    };
    rows.sort_by(|one, other| {
        let compared = keys.iter().map(|key| one.compared(other, *key));
        compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    if limit > 0 {
        rows.truncate(limit);
    }
}

/// The rows for people.
pub fn table(rows: &[Row]) -> Table {
    let often = rows.iter().any(|row| matches!(row.time, Time::Often(_)));
    let times: &[&str] = if often {
        &["Min", "Max", "Mean", "90%", "99%"]
    } else {
        &["Time"]
    };
    let titles = times
        .iter()
        .chain(&["Num Eval", "Num Redo", "Num Gen Expr", "Location"]);
    let mut table = Table::new(titles.map(|&title| title.to_owned()).collect());
    for row in rows {
        let mut cells = match row.time {
            Time::Once(took) => vec![shown(took)],
            Time::Often(many) => {
                let mut cells = vec![shown(many.min), shown(many.max)];
                cells.extend([many.mean, many.p90, many.p99].map(whole).map(shown));
                cells
            }
        };
        cells.extend([row.num_eval, row.num_redo].map(|count| count.to_string()));
        cells.push(row.num_gen_expr.to_string());
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
fn whole(nanoseconds: f64) -> u64 {
    nanoseconds as u64
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A time as Go shows it.
fn shown(nanoseconds: u64) -> String {
    let (unit, digits, name) = match nanoseconds {
        0 => return "0s".to_owned(),
        1..1_000 => return format!("{nanoseconds}ns"),
        1_000..1_000_000 => (1_000, 3, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
        _ => (1_000_000_000, 9, "s"),
    };
    let (whole, rest) = (nanoseconds / unit, nanoseconds % unit);
    let fraction = format!("{rest:0digits$}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let (minutes, whole) = match name {
        "s" => (whole / 60, whole % 60),
        _ => (0, whole),
    };
    let above = match minutes {
        0 => String::new(),
        1..60 => format!("{minutes}m"),
        _ => format!("{}h{}m", minutes / 60, minutes % 60),
    };
    format!("{above}{whole}{point}{fraction}{name}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn times() {
        for (time, want) in [
            (0, "0s"),
            (999, "999ns"),
            (6_400, "6.4µs"),
            (32_067, "32.067µs"),
            (2_000_000, "2ms"),
            (1_500_000_000, "1.5s"),
            (90_000_000_000, "1m30s"),
            (3_661_000_000_000, "1h1m1s"),
        ] {
            assert_eq!(shown(time), want);
        }
    }
}
