//! Output in addition to the result: trace, metrics, profile and coverage.

use std::collections::BTreeMap;

use serde::Serialize;
use solon::trace::{CoverageReport, Statistics};
use solon::{Value, json};
use solon_syntax::json::lay_out;

use super::args::Format;
use super::metrics;
use super::profile::{self, Row};
use crate::cli::explanation::Explanation;
use crate::cli::table::TextTable;
use crate::json::{answer_text, escape_html, indent};
use crate::telemetry::Metrics;

/// Metrics of one run or of several.
pub enum Times {
    Once(Metrics),
    Often(BTreeMap<String, Statistics>),
}

/// All selected output in addition to the result.
#[derive(Default)]
pub struct Extras {
    pub explanation: Option<Explanation>,
    pub metrics: Option<Times>,
    /// Duration of each row; `true` if it is of several runs.
    pub profile: Option<(Vec<Row>, bool)>,
    pub coverage: Option<CoverageReport>,
}

impl Extras {
    /// Returns the text of a result with the additional output of its format.
    pub fn with_extras(&self, result: &[u8], format: Format) -> Vec<u8> {
        match format {
            Format::Json => self.in_json(result),
            Format::Pretty => self.in_pretty(result),
            Format::Discard => {
                // the members of this object are sorted
                let document = self.in_json(result);
                match json::read(&document) {
                    Ok(sorted) => {
                        let mut text = laid_out(&sorted, "");
                        text.push(b'\n');
                        text
                    }
                    Err(_) => document,
                }
            }
            _ => result.to_vec(),
        }
    }

    /// Adds members to an object that is written on several lines.
    fn in_json(&self, result: &[u8]) -> Vec<u8> {
        let mut members: Vec<(&str, Vec<u8>)> = Vec::new();
        match &self.metrics {
            Some(Times::Once(metrics)) => members.push(("metrics", member(&metrics.all()))),
            Some(Times::Often(timers)) => members.push(("aggregated_metrics", member(timers))),
            None => {}
        }
        if let Some(events) = self.explanation.as_ref().and_then(Explanation::events) {
            let mut text = Vec::new();
            let events = escape_html(events.as_bytes().to_vec());
            lay_out(&events, 1, &mut text, usize::MAX, |byte, out| {
                out.push(byte);
            });
            members.push(("explanation", text));
        }
        match &self.profile {
            Some((rows, false)) => members.push(("profile", member(rows))),
            Some((rows, true)) => members.push(("aggregated_profile", member(rows))),
            None => {}
        }
        if let Some(coverage) = &self.coverage {
            members.push(("coverage", member(coverage)));
        }
        if members.is_empty() {
            return result.to_vec();
        }
        let members_text = result.trim_ascii().strip_suffix(b"}").unwrap_or(result);
        let mut out = members_text.trim_ascii_end().to_vec();
        for (name, text) in members {
            out.extend_from_slice(if out == b"{" { b"\n" } else { b",\n" });
            out.extend_from_slice(format!("  \"{name}\": ").as_bytes());
            out.extend_from_slice(&text);
        }
        out.extend_from_slice(b"\n}\n");
        out
    }

    fn in_pretty(&self, result: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(explanation) = &self.explanation {
            out.extend_from_slice(explanation.lines().as_bytes());
        }
        out.extend_from_slice(result);
        out.extend_from_slice(self.tables().as_bytes());
        out
    }

    /// Returns the tables after a result or an error.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        match &self.metrics {
            Some(Times::Once(metrics)) => out.push_str(&metrics::table(metrics).render()),
            Some(Times::Often(timers)) => {
                out.push_str(&metrics::aggregated_table(timers).render());
            }
            None => {}
        }
        if let Some((rows, _)) = &self.profile {
            out.push_str(&profile::table(rows).render());
        }
        if let Some(coverage) = &self.coverage {
            let mut table = TextTable::default();
            let share = format!("{:.2}", coverage.coverage);
            table.row(vec!["Overall Coverage".to_owned(), share]);
            out.push_str(&table.render());
        }
        out
    }
}

/// Returns a value on several lines.
fn laid_out(value: &Value, prefix: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let layout = json::JsonLayout::new(prefix, "  ");
    let style = json::Style::default().html(true).layout(Some(layout));
    json::write_styled(value.borrow(), style, &mut text);
    text
}

/// Returns the text of a member, indented by one level.
fn member(value: &impl Serialize) -> Vec<u8> {
    indent(answer_text(value, true).trim_ascii_end(), 1)
}
