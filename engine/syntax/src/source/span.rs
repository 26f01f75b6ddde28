//! Source texts and spans in them, by byte offset, row and column.

use std::sync::Arc;

/// Number of a source text within one compilation. `SourceId::NONE` is for nodes without source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

impl SourceId {
    /// Id of nodes that were generated or decoded from AST JSON.
    pub const NONE: Self = Self(u32::MAX);
}

impl Default for SourceId {
    fn default() -> Self {
        Self::NONE
    }
}

/// A named text: a module file or a query.
#[derive(Clone, Debug)]
pub struct Source {
    /// Number that spans refer to.
    pub id: SourceId,
    /// File name in errors. Empty for queries.
    pub name: Arc<str>,
    /// The whole text. Offsets of spans are byte offsets in it.
    pub text: Arc<str>,
}

impl Source {
    /// Returns a source. The caller keeps `id` unique among the sources of a compilation.
    pub fn new(id: SourceId, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            id,
            name: name.into(),
            text: text.into(),
        }
    }

    /// Returns the text of a span, or an empty text if the span is in another source.
    pub fn slice(&self, span: Span) -> &str {
        if span.source != self.id {
            return "";
        }
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Returns the line with the given number (from 1), without its line end.
    pub fn line(&self, row: u32) -> &str {
        self.text
            .lines()
            .nth(row.saturating_sub(1) as usize)
            .unwrap_or("")
    }
}

/// A range of a source text. Rows and columns count from 1, columns in code points, offsets in bytes. Row 0 means that
/// the location is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The source, or [`SourceId::NONE`].
    pub source: SourceId,
    /// Row of the first character.
    pub row: u32,
    /// Column of the first character.
    pub col: u32,
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset after the last character.
    pub end: u32,
}

impl Span {
    /// Returns `true` if the span refers to a text.
    pub fn is_somewhere(self) -> bool {
        self.row != 0
    }

    /// Returns the span from the start of `self` to the end of `last`. Both must be in one source.
    pub fn to_end_of(self, last: Self) -> Self {
        Self {
            end: last.end.max(self.end),
            ..self
        }
    }
}
