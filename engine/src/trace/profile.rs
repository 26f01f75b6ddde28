//! Profile: time and number of evaluations of the expressions of each row.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use solon_syntax::ast::Module;
use solon_syntax::source::{SourceId, Span};

use super::event::{Event, EventNode, Observer, Op};
use crate::index::Indexed as _;

/// Observer that measures the time from each step of an expression to the next step of any expression.
///
/// ```
/// use solon::trace::Profile;
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("some x in [1, 2, 3]; x > 1")?;
/// let mut profile = Profile::default();
/// query.search(&Request::new(), &mut profile)?;
/// let rows = profile.finish([]);
/// assert!(rows.iter().any(|row| row.evals >= 3));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Default)]
pub struct Profile {
    rows: Vec<Row>,
    by_row: HashMap<(SourceId, u32), usize>,
    /// Row of the expression that started last, and its start time.
    running: Option<(usize, Instant)>,
}

/// Measurements of one row. Its JSON is OPA's: `{"total_time_ns": …, "num_eval": …, "num_redo": …, "num_gen_expr": …,
/// "location": {"file": …, "row": …, "col": …}}`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileRow {
    /// File name; empty if the row belongs to a query.
    pub file: String,
    /// Source location of the first evaluated expression.
    pub span: Span,
    /// Total time of its expressions.
    pub time: Duration,
    /// Number of evaluations. Searches for further solutions are counted by `redos`.
    pub evals: u64,
    /// Number of searches for a further solution.
    pub redos: u64,
    /// Number of expressions, including those that the compiler generated.
    pub expressions: usize,
}

impl ProfileRow {
    /// Total time of its expressions in nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Serialize for ProfileRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct OpaProfileRow<'r> {
            total_time_ns: u64,
            num_eval: u64,
            num_redo: u64,
            num_gen_expr: usize,
            location: Location<'r>,
        }
        #[derive(Serialize)]
        struct Location<'r> {
            file: &'r str,
            row: u32,
            col: u32,
        }
        let row = OpaProfileRow {
            total_time_ns: self.nanoseconds(),
            num_eval: self.evals,
            num_redo: self.redos,
            num_gen_expr: self.expressions,
            location: Location {
                file: &self.file,
                row: self.span.row,
                col: self.span.col,
            },
        };
        row.serialize(serializer)
    }
}

struct Row {
    span: Span,
    time: Duration,
    evals: u64,
    redos: u64,
    /// Indices of its expressions in their bodies.
    positions: HashSet<u32>,
}

impl Row {
    fn finish(self, modules: &[&Module]) -> ProfileRow {
        let mut modules = modules.iter();
        let module = modules.find(|module| module.source.id == self.span.source);
        ProfileRow {
            file: module.map_or_else(String::new, |module| module.source.name.to_string()),
            span: self.span,
            time: self.time,
            evals: self.evals,
            redos: self.redos,
            expressions: self.positions.len(),
        }
    }
}

impl Profile {
    /// Returns the measurements of each row, longest time first. `modules` provides the file names.
    pub fn finish<'m>(mut self, modules: impl IntoIterator<Item = &'m Module>) -> Vec<ProfileRow> {
        self.stop();
        let modules: Vec<&Module> = modules.into_iter().collect();
        let rows = self.rows.into_iter().map(|row| row.finish(&modules));
        let mut rows: Vec<ProfileRow> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        rows
    }

    fn stop(&mut self) {
        if let Some((row, since)) = self.running.take()
            && let Some(row) = self.rows.get_mut(row)
        {
            row.time += since.elapsed();
        }
    }
}

impl Observer for Profile {
    fn event(&mut self, event: Event) {
        let EventNode::Expr(expr) = &event.node else {
            return;
        };
        self.stop();
        let key = match event.span {
            span if span.is_somewhere() => (span.source, span.row),
            _ => (SourceId::NONE, 0),
        };
        let index = *self.by_row.entry(key).or_insert(self.rows.len());
        if index == self.rows.len() {
            self.rows.push(Row {
                span: event.span,
                time: Duration::ZERO,
                evals: 0,
                redos: 0,
                positions: HashSet::new(),
            });
        }
        let row = self.rows.item_mut(index);
        match event.op {
            Op::Redo => row.redos += 1,
            _ => row.evals += 1,
        }
        row.positions.insert(expr.index);
        self.running = Some((index, Instant::now()));
    }

    fn wants(&self, op: Op) -> bool {
        matches!(op, Op::Eval | Op::Redo)
    }

    fn needs_locals(&self) -> bool {
        false
    }
}
