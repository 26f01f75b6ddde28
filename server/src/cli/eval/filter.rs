//! `solon eval --filter`: the data filter of a rule, in each output format.

use solon::{FilterQuery, Filters, json};

use super::args::Format;

/// Filters for each target, ready to be printed.
pub struct FilterOutput(pub Filters);

impl FilterOutput {
    /// Returns `true` if the filter may keep a row.
    pub fn is_defined(&self) -> bool {
        self.0.filters.iter().any(|filter| filter.query.is_some())
    }

    /// Returns the text: OPA's response, or with `raw` one line with the condition of each target.
    pub fn render(&self, format: Format) -> Vec<u8> {
        let mut text = Vec::new();
        match format {
            Format::Discard => {}
            Format::Raw => {
                for filter in &self.0.filters {
                    match &filter.query {
                        Some(FilterQuery::Sql(sql)) => text.extend_from_slice(sql.text.as_bytes()),
                        Some(FilterQuery::Ucast(tree)) => json::write(tree.borrow(), &mut text),
                        None => text.extend_from_slice(b"undefined"),
                    }
                    text.push(b'\n');
                }
            }
            _ => {
                let response = self.0.to_response(self.0.filters.len() > 1);
                let result = solon::Value::object(vec![("result".into(), response)]);
                // the operands are shown as they are written
                let layout = json::JsonLayout::new("", "  ");
                let style = json::Style::default().layout(Some(layout));
                let _ = json::write_within(result.borrow(), style, usize::MAX, &mut text);
                text.push(b'\n');
            }
        }
        text
    }
}
