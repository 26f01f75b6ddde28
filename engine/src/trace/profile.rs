//! How long the expressions of each row took, and how often they were searched.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use solon_syntax::source::{SourceId, Span};

use super::event::{Event, Node, Observer, Op};

/// Measures the time from one step of an expression to the next step of any.
///
/// ```
/// use solon::trace::Profile;
/// use solon::{Engine, Request, Search};
///
/// let query = Engine::new().prepare_query("some x in [1, 2, 3]; x > 1")?;
/// let mut profile = Profile::default();
/// query.search_as(&Request::new(), Search::default().observer(&mut profile))?;
/// let rows = profile.finish();
/// assert!(rows.iter().any(|row| row.evals >= 3));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Default)]
pub struct Profile {
    rows: Vec<ProfileRow>,
    by_row: HashMap<(SourceId, u32), usize>,
    /// The row whose expression was begun last, and when.
    running: Option<(usize, Instant)>,
}

/// What happened on one row.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileRow {
    /// The expression that was searched first.
    pub span: Span,
    /// How long its expressions took.
    pub time: Duration,
    /// How often one was searched.
    pub evals: u64,
    /// How often another solution of one was looked for.
    pub redos: u64,
    /// Positions in their bodies of its expressions.
    positions: HashSet<u32>,
}

impl ProfileRow {
    /// Number of expressions, those that the compiler made among them.
    pub fn expressions(&self) -> usize {
        self.positions.len()
    }
}

impl Profile {
    /// What happened, row by row in the order they were come to.
    pub fn finish(mut self) -> Vec<ProfileRow> {
        self.stop();
        self.rows
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
        let Node::Expr(expr) = &event.node else {
            return;
        };
        self.stop();
        let key = match event.span {
            span if span.is_somewhere() => (span.source, span.row),
            _ => (SourceId::NONE, 0),
        };
        let at = *self.by_row.entry(key).or_insert(self.rows.len());
        if at == self.rows.len() {
            self.rows.push(ProfileRow {
                span: event.span,
                time: Duration::ZERO,
                evals: 0,
                redos: 0,
                positions: HashSet::new(),
            });
        }
        if let Some(row) = self.rows.get_mut(at) {
            match event.op {
                Op::Redo => row.redos += 1,
                _ => row.evals += 1,
            }
            row.positions.insert(expr.index);
        }
        self.running = Some((at, Instant::now()));
    }

    fn wants(&self, op: Op) -> bool {
        matches!(op, Op::Eval | Op::Redo)
    }

    fn needs_locals(&self) -> bool {
        false
    }
}
