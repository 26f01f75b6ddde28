//! Places in source text.

use std::sync::Arc;

/// Number of a source text within one compilation; `SourceId::NONE` for nodes that no text stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

impl SourceId {
    /// The id of nodes that were generated or read from AST JSON.
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
    /// Number that spans carry.
    pub id: SourceId,
    /// File name as it appears in errors; empty for queries.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// Names a text.
    pub fn new(id: SourceId, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            id,
            name: name.into(),
            text: text.into(),
        }
    }

    /// The text a span covers; empty when the span is not of this source.
    pub fn slice(&self, span: Span) -> &str {
        if span.source != self.id {
            return "";
        }
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// The whole line (without its end) with the given 1-based number.
    pub fn line(&self, row: u32) -> &str {
        self.text
            .lines()
            .nth(row.saturating_sub(1) as usize)
            .unwrap_or("")
    }
}

/// A stretch of a source text. Rows and columns count from 1, columns in code points, offsets in bytes;
/// row 0 means "nowhere".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// Row of the first character.
    pub row: u32,
    /// Column of the first character.
    pub col: u32,
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset behind the last character.
    pub end: u32,
}

impl Span {
    /// Whether the span points at text.
    pub fn is_somewhere(self) -> bool {
        self.row != 0
    }

    /// From the start of `self` to the end of `last`.
    pub fn to_end_of(self, last: Self) -> Self {
        Self {
            end: last.end.max(self.end),
            ..self
        }
    }
}
