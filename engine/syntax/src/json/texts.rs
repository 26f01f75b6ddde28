//! The texts that places show, where they are not simply what stands there.

use std::borrow::Cow;

use super::sink::Sink;
use super::write::Writer;
use crate::ast::{Term, TermKind};
use crate::print::quote;
use crate::source::{SourceId, Span};

/// A negative number shows the text of its sign only, and a reference into a bracket begins where that ends. References
/// inside METADATA blocks stand in no source; they show their own text.
#[inline(never)]
pub(super) fn write_term_location<S: Sink>(out: &mut Writer<'_, S>, term: &Term) {
    match &term.kind {
        TermKind::Ref(_) if term.span.source != SourceId::NONE => {
            let shown = term.display_span(|span| out.slice(span));
            if shown == term.span {
                out.location(term.span);
            } else {
                let text = out.slice(shown).to_owned();
                out.located(term.span, Some(&text));
            }
        }
        TermKind::Number(text) if text.starts_with('-') => out.located(term.span, Some("-")),
        TermKind::String(text) if term.span.source == SourceId::NONE => {
            out.located(term.span, Some(&spelled(text, term.span)));
        }
        other if term.span.source == SourceId::NONE => {
            out.located(term.span, Some(&other.to_string()));
        }
        _ => out.location(term.span),
    }
}

/// A string as it was written, which its length tells: bare behind a point, or in quotes.
fn spelled(text: &str, span: Span) -> Cow<'_, str> {
    let written = span.end.saturating_sub(span.start) as usize;
    let quoted = quote(text);
    if written == text.len() {
        text.into()
    } else if written != quoted.len() && written == text.len() + 2 {
        format!("`{text}`").into()
    } else {
        quoted.into()
    }
}

/// The text of a METADATA block: its head, and each line below it behind `# `.
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
    /// The text of a span, if places are asked for.
    pub(super) fn slice(&self, span: Span) -> &str {
        let sources = self.options.locations.into_iter().flatten();
        let source = sources.clone().find(|source| source.id == span.source);
        source.map_or("", |source| source.slice(span))
    }
}
