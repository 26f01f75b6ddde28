//! The queries that were running when an evaluation failed.

use std::sync::Arc;

use solon_syntax::source::Span;

use super::brief::{collapsed, cut, fits};
use crate::program::Program;

/// A query that was running when an evaluation failed: that of a rule's body, or of a body within it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFrame {
    /// Number of the query, from 0 in the order in which queries start.
    pub query_id: u64,
    /// File, row and column of the current expression, or `None` if it was generated.
    pub location: Option<(Arc<str>, u32, u32)>,
    span: Span,
    values: Vec<(Span, String)>,
}

impl StackFrame {
    /// Creates a frame with the current expression and the values of its variables.
    pub(crate) fn new(
        query_id: u64,
        program: &Program,
        span: Span,
        values: impl Iterator<Item = (Span, String)>,
    ) -> Self {
        let within = |place: Span| {
            place.is_somewhere()
                && place.source == span.source
                && (span.start..=span.end).contains(&place.start)
                && place.end <= span.end
        };
        let mut values: Vec<(Span, String)> = values
            .filter(|(place, _)| within(*place))
            .filter_map(|(place, text)| Some((place, fits(collapsed(&text))?)))
            .collect();
        values.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
        Self {
            query_id,
            location: span.is_somewhere().then(|| program.location(span)),
            span,
            values,
        }
    }

    /// Returns the expression in one line, with the values of its variables. `source` is the text of its file.
    pub fn text(&self, source: &str) -> String {
        let mut text = String::new();
        let mut at = self.span.start;
        let slice = |from: u32, to: u32| source.get(from as usize..to as usize).unwrap_or("");
        for (place, value) in &self.values {
            // text in brackets, or within replaced text, stays unchanged
            let replaced = slice(place.start, place.end);
            if place.start < at || replaced.starts_with('(') || is_literal(replaced) {
                continue;
            }
            text.push_str(slice(at, place.start));
            text.push_str(value);
            at = place.end;
        }
        text.push_str(slice(at, self.span.end));
        cut(collapsed(&text))
    }
}

/// Returns `true` for an array, a set or an object, but not for a comprehension.
fn is_literal(text: &str) -> bool {
    if !text.starts_with(['[', '{']) {
        return false;
    }
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth = depth.saturating_sub(1),
            (None, '|') if depth == 1 => return false,
            (None, _) => {}
        }
    }
    true
}
