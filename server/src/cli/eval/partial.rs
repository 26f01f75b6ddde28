//! `solon eval --partial`: the residual of a query, in each output format.

use std::fmt::Write as _;

use solon::Residuals;
use solon_syntax::json;

use super::args::Format;
use crate::cli::table::TextTable;

/// Residual of a query with unknowns.
pub struct Left(pub Residuals);

impl Left {
    /// Returns `true` if the query can be true for some unknowns.
    pub fn is_defined(&self) -> bool {
        !self.0.queries.is_empty()
    }

    pub fn render(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Source => self.source(),
            Format::Pretty => self.pretty(),
            _ => self.json(),
        }
        .into_bytes()
    }

    fn json(&self) -> String {
        let options = json::Options {
            indented: true,
            ..json::Options::default()
        };
        let residuals = self.0.json("modules", options, "  ");
        format!("{{\n  \"partial\": {residuals}\n}}\n")
    }

    fn pretty(&self) -> String {
        if !self.is_defined() {
            return "undefined\n".to_owned();
        }
        let mut table = TextTable::default();
        for (index, query) in self.0.query_sources().into_iter().enumerate() {
            table.section(&format!("Query {}", index + 1), &query);
        }
        for (index, module) in self.0.support_sources().into_iter().enumerate() {
            let text = module.trim_end().replace('\t', "  ");
            table.section(&format!("Support {}", index + 1), &text);
        }
        table.render()
    }

    fn source(&self) -> String {
        let mut text = String::new();
        for (index, query) in self.0.query_sources().iter().enumerate() {
            let _ = writeln!(text, "# Query {}", index + 1);
            if !query.is_empty() {
                let _ = writeln!(text, "{query}");
            }
            text.push('\n');
        }
        for (index, module) in self.0.support_sources().iter().enumerate() {
            let _ = write!(text, "# Module {}\n{module}", index + 1);
        }
        text
    }
}
