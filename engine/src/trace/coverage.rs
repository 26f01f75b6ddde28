//! Coverage: which parts of the modules a search evaluated.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Serialize, Serializer};
use solon_syntax::ast::visit::{Descent, Exprs, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Module, Rule};
use solon_syntax::source::Span;

use super::event::{Event, EventNode, Observer, Op};
use crate::bug::{Within as _, bug};
use crate::builtins::TEST_CASE;

/// Observer that records the evaluated expressions and the heads of rules with a solution.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    hits: HashSet<Span>,
}

impl Observer for Coverage {
    fn event(&mut self, event: Event) {
        match (event.op, &event.node) {
            (Op::Exit, EventNode::Rule(rule, _)) => drop(self.hits.insert(rule.head.span)),
            // the compiler generates the calls that report test cases
            (Op::Eval, EventNode::Expr(expr)) if expr.operands_of(TEST_CASE).is_none() => {
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

/// Reason that a range was not covered: a condition under which it would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UncoveredReason {
    /// The rule index excluded its rule: no other expression of it was evaluated.
    IndexExcluded,
    /// The result was already known.
    EarlyExit,
}

impl UncoveredReason {
    /// Returns the kind with OPA's name, or `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "index_excluded" => Self::IndexExcluded,
            "early_exit" => Self::EarlyExit,
            _ => return None,
        })
    }
}

/// Position in a text: row and column, starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Position {
    /// Row, from 1.
    pub row: u32,
    /// Column, in code points.
    pub col: u32,
}

/// Range of a file, with the reasons that it was not covered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct LineRange {
    /// Position of the first character.
    pub start: Position,
    /// Position after the last character.
    pub end: Position,
    /// Known reasons that it was not covered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<UncoveredReason>,
}

/// Coverage of one file, by ranges and lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FileCoverage {
    /// Covered ranges, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covered: Vec<LineRange>,
    /// Ranges that are not covered, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<LineRange>,
    /// Number of lines with a covered range.
    #[serde(skip_serializing_if = "is_none")]
    pub covered_lines: usize,
    /// Number of lines with a range that is not covered.
    #[serde(skip_serializing_if = "is_none")]
    pub not_covered_lines: usize,
    /// Covered lines as a percentage of all counted lines.
    #[serde(skip_serializing_if = "is_nothing", serialize_with = "percentage")]
    pub coverage: f64,
}

/// Coverage of all files, and their total.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoverageReport {
    /// Coverage by file name.
    pub files: BTreeMap<String, FileCoverage>,
    /// Sum of the files' covered lines.
    pub covered_lines: usize,
    /// Sum of the files' lines that are not covered.
    pub not_covered_lines: usize,
    /// Covered lines as a percentage of all counted lines.
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

/// Serializes whole numbers without a decimal point.
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
fn share(covered_lines: usize, not_covered: usize) -> f64 {
    match covered_lines + not_covered {
        0 => 0.0,
        all => 100.0 * covered_lines as f64 / all as f64,
    }
}

impl Coverage {
    /// Adds the coverage of another search.
    pub fn merge(&mut self, other: Self) {
        self.hits.extend(other.hits);
    }

    /// Returns the coverage of modules. Each of `others` was recorded under other conditions; its kind becomes the
    /// reason for ranges that are covered there but not here.
    pub fn report<'m>(
        &self,
        others: &[(UncoveredReason, &Coverage)],
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

    fn file(&self, others: &[(UncoveredReason, &Coverage)], module: &Module) -> FileCoverage {
        let hits_of_module = self.hits_in(module);
        let other_hits: Vec<(UncoveredReason, Hits)> = others
            .iter()
            .map(|(kind, other)| (*kind, other.hits_in(module)))
            .collect();
        let lines = LineStarts::of_text(&module.source.text);
        let covered = hits_of_module
            .0
            .iter()
            .map(|hit| lines.line_range(*hit, Vec::new()));
        let missed = countable(module).into_iter();
        let missed = missed.filter(|range| !hits_of_module.contain(*range));
        let not_covered = missed.map(|range| {
            let kinds = other_hits.iter().filter(|(_, hits)| hits.contain(range));
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

    fn hits_in(&self, module: &Module) -> Hits {
        let hits = self.hits.iter();
        let hits = hits.filter(|hit| hit.source == module.source.id && hit.is_somewhere());
        Hits(hits.map(|hit| (hit.start, hit.end)).collect())
    }
}

/// Byte offsets of the first character and after the last one.
type ByteRange = (u32, u32);

struct Hits(BTreeSet<ByteRange>);

impl Hits {
    /// Returns `true` if a covered range contains this one. Visits the ranges that start before it.
    fn contain(&self, (start, end): ByteRange) -> bool {
        let before = self.0.range(..=(start, u32::MAX));
        before.rev().any(|hit| hit.1 >= end)
    }
}

/// Returns the ranges of a module that can be covered: rule heads, and expressions other than declarations.
fn countable(module: &Module) -> BTreeSet<ByteRange> {
    let mut ranges = BTreeSet::new();
    let mut add = |span: Span| {
        if span.is_somewhere() {
            ranges.insert((span.start, span.end));
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
        Descent::Into
    });
    module.rules.iter().for_each(|rule: &Rule| {
        rule.walk(&mut visit);
    });
    ranges
}

/// Number of lines that the ranges touch.
fn rows(ranges: &[LineRange]) -> usize {
    let rows = ranges
        .iter()
        .flat_map(|range| range.start.row..=range.end.row);
    rows.collect::<HashSet<u32>>().len()
}

/// Byte offsets of the line starts of a text.
struct LineStarts<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    fn of_text(text: &'t str) -> Self {
        let line_starts = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(line_starts).collect(),
        }
    }

    fn line_range(&self, (start, end): ByteRange, kinds: Vec<UncoveredReason>) -> LineRange {
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
