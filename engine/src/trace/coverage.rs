//! Which stretches of the modules a search came by.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Serialize, Serializer};
use solon_syntax::ast::visit::{Exprs, Flow, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Module, Rule};
use solon_syntax::source::Span;

use super::event::{Event, Node, Observer, Op};
use crate::bug::{Within as _, bug};

/// Notes the expressions that were searched and the heads of the rules that had a solution.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    hits: HashSet<Span>,
}

impl Observer for Coverage {
    fn event(&mut self, event: Event) {
        match (event.op, &event.node) {
            (Op::Exit, Node::Rule(rule, _)) => drop(self.hits.insert(rule.head.span)),
            // nobody wrote the calls that report cases of tests
            (Op::Eval, Node::Expr(expr)) if expr.operands_of("internal.test_case").is_none() => {
                self.hits.insert(event.span);
            }
            _ => {}
        }
    }

    fn wants(&self, op: Op) -> bool {
        matches!(op, Op::Exit | Op::Eval)
    }

    fn needs_locals(&self) -> bool {
        false
    }
}

/// Why a stretch was not come by: under which other conditions it would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The index told that its rule cannot match.
    IndexExcluded,
    /// The answer was known before.
    EarlyExit,
}

impl Kind {
    /// The kind of a published name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "index_excluded" => Self::IndexExcluded,
            "early_exit" => Self::EarlyExit,
            _ => return None,
        })
    }
}

/// A place: row and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Position {
    /// The row.
    pub row: u32,
    /// The column, in characters.
    pub col: u32,
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct LineRange {
    /// Its first character.
    pub start: Position,
    /// Behind its last character.
    pub end: Position,
    /// Why it was not come by, as far as that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
}

/// What was come by in one file, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FileCoverage {
    /// What was come by, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covered: Vec<LineRange>,
    /// What was not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<LineRange>,
    /// Number of lines that something come by stands on.
    #[serde(skip_serializing_if = "is_none")]
    pub covered_lines: usize,
    /// Number of lines that something not come by stands on.
    #[serde(skip_serializing_if = "is_none")]
    pub not_covered_lines: usize,
    /// Covered lines of all counted ones, in percent.
    #[serde(skip_serializing_if = "is_nothing", serialize_with = "percentage")]
    pub coverage: f64,
}

/// What was come by in all files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoverageReport {
    /// File by file.
    pub files: BTreeMap<String, FileCoverage>,
    /// Sum of the files' covered lines.
    pub covered_lines: usize,
    /// Sum of the files' lines that are not covered.
    pub not_covered_lines: usize,
    /// Covered lines of all counted ones, in percent.
    #[serde(serialize_with = "percentage")]
    pub coverage: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// Whole numbers have no point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::trivially_copy_pass_by_ref,
    reason = "a share is between 0 and 100, and serde hands out references"
)]
fn percentage<S: Serializer>(share: &f64, out: S) -> Result<S::Ok, S::Error> {
    if share.fract() == 0.0 {
        out.serialize_u64(*share as u64)
    } else {
        out.serialize_f64(*share)
    }
}

#[expect(clippy::cast_precision_loss, reason = "no file has that many lines")]
fn share(covered: usize, not_covered: usize) -> f64 {
    match covered + not_covered {
        0 => 0.0,
        all => 100.0 * covered as f64 / all as f64,
    }
}

impl Coverage {
    /// Adds what another search covered.
    pub fn merge(&mut self, other: Self) {
        self.hits.extend(other.hits);
    }

    /// The report on modules. Each of `others` was found under other conditions, and tells with its kind why a
    /// stretch was not come by here.
    pub fn report<'m>(
        &self,
        others: &[(Kind, &Coverage)],
        modules: impl IntoIterator<Item = &'m Module>,
    ) -> CoverageReport {
        let mut report = CoverageReport::default();
        for module in modules {
            let file = self.file(others, module);
            report.covered_lines += file.covered_lines;
            report.not_covered_lines += file.not_covered_lines;
            report.files.insert(module.source.name.to_string(), file);
        }
        report.coverage = share(report.covered_lines, report.not_covered_lines);
        report
    }

    fn file(&self, others: &[(Kind, &Coverage)], module: &Module) -> FileCoverage {
        let own = self.within(module);
        let others: Vec<(Kind, Hits)> = others
            .iter()
            .map(|(kind, other)| (*kind, other.within(module)))
            .collect();
        let lines = LineStarts::of_text(&module.source.text);
        let covered = own.0.iter().map(|hit| lines.line_range(*hit, Vec::new()));
        let left = countable(module).into_iter();
        let left = left.filter(|range| !own.contain(*range));
        let not_covered = left.map(|range| {
            let kinds = others.iter().filter(|(_, hits)| hits.contain(range));
            lines.line_range(range, kinds.map(|(kind, _)| *kind).collect())
        });
        let (covered, not_covered): (Vec<_>, Vec<_>) = (covered.collect(), not_covered.collect());
        let (covered_lines, not_covered_lines) = (rows(&covered), rows(&not_covered));
        FileCoverage {
            covered,
            not_covered,
            covered_lines,
            not_covered_lines,
            coverage: share(covered_lines, not_covered_lines),
        }
    }

    fn within(&self, module: &Module) -> Hits {
        let own = self.hits.iter();
        let own = own.filter(|hit| hit.source == module.source.id && hit.is_somewhere());
        Hits(own.map(|hit| (hit.start, hit.end)).collect())
    }
}

/// Offsets of a stretch's first character and behind its last.
type ByteRange = (u32, u32);

/// What was come by in one module.
struct Hits(BTreeSet<ByteRange>);

impl Hits {
    /// Whether something come by contains a stretch.
    fn contain(&self, (start, end): ByteRange) -> bool {
        let before = self.0.range(..=(start, u32::MAX));
        before.rev().any(|hit| hit.1 >= end)
    }
}

/// The stretches of a module that a search may come by: heads, and expressions but declarations.
fn countable(module: &Module) -> BTreeSet<ByteRange> {
    let mut found = BTreeSet::new();
    let mut add = |span: Span| {
        if span.is_somewhere() {
            found.insert((span.start, span.end));
        }
    };
    for rule in &module.rules {
        let mut part = Some(rule);
        while let Some(rule) = part {
            add(rule.head.span);
            part = rule.else_rule.as_deref();
        }
    }
    let mut visit = Exprs(|expr: &Expr| {
        if !matches!(expr.kind, ExprKind::Some(_)) {
            add(expr.span);
        }
        Flow::Into
    });
    module.rules.iter().for_each(|rule: &Rule| {
        rule.walk(&mut visit);
    });
    found
}

/// Number of lines that stretches stand on.
fn rows(ranges: &[LineRange]) -> usize {
    let rows = ranges.iter().flat_map(|one| one.start.row..=one.end.row);
    rows.collect::<HashSet<u32>>().len()
}

/// Where the lines of a text begin.
struct LineStarts<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    fn of_text(text: &'t str) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(behind).collect(),
        }
    }

    fn line_range(&self, (start, end): ByteRange, kinds: Vec<Kind>) -> LineRange {
        LineRange {
            start: self.position(start),
            end: self.position(end),
            kinds,
        }
    }

    fn position(&self, offset: u32) -> Position {
        let offset = offset as usize;
        let row = self.starts.partition_point(|start| *start <= offset);
        let start = row.checked_sub(1).and_then(|row| self.starts.get(row));
        let start = *start.unwrap_or_else(|| bug!("a text without a first line"));
        let col = self.text.within(start..offset).chars().count() + 1;
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position {
            row: small(row),
            col: small(col),
        }
    }
}
