//! Texts in locations, where they differ from the source text of the span.

use std::borrow::Cow;

use super::sink::Sink;
use super::write::Writer;
use crate::ast::{Term, TermKind};
use crate::print::quote;
use crate::source::{SourceId, Span};

/// Writes the location of a term. A negative number has the text of its sign only, and a reference into a bracket
/// begins at the end of the bracket. References inside METADATA blocks have no source text and show their own notation.
#[inline(never)]
pub(super) fn write_term_location<S: Sink>(out: &mut Writer<'_, S>, term: &Term) {
    match &term.kind {
        TermKind::Ref(_) if term.span.source != SourceId::NONE => {
            let display_span = term.display_span(|span| out.slice(span));
            if display_span == term.span {
                out.location(term.span);
            } else {
                let text = out.slice(display_span).to_owned();
                out.located(term.span, Some(&text));
            }
        }
        TermKind::Number(text) if text.starts_with('-') => out.located(term.span, Some("-")),
        TermKind::String(text) if term.span.source == SourceId::NONE => {
            out.located(term.span, Some(&source_spelling(text, term.span)));
        }
        other if term.span.source == SourceId::NONE => {
            out.located(term.span, Some(&other.to_string()));
        }
        _ => out.location(term.span),
    }
}

/// Returns the source spelling of a string, given the length of its span: bare after a dot, or in quotes.
fn source_spelling(text: &str, span: Span) -> Cow<'_, str> {
    let length = span.end.saturating_sub(span.start) as usize;
    let quoted = quote(text);
    if length == text.len() {
        text.into()
    } else if length != quoted.len() && length == text.len() + 2 {
        format!("`{text}`").into()
    } else {
        quoted.into()
    }
}

/// Returns the text of a METADATA block: its head, and each line below it after `# `.
pub(super) fn block_text(block: &str) -> String {
    let mut text = "# METADATA".to_owned();
    for line in block.lines().skip(1) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.strip_prefix('#').unwrap_or(line);
        text.push_str("\n# ");
        text.push_str(line.strip_prefix(' ').unwrap_or(line));
    }
    text
}

impl<S: Sink> Writer<'_, S> {
    /// Returns the text of a span if locations are enabled, and otherwise an empty text.
    pub(super) fn slice(&self, span: Span) -> &str {
        let sources = self.options.locations.into_iter().flatten();
        let source = sources.clone().find(|source| source.id == span.source);
        source.map_or("", |source| source.slice(span))
    }
}
