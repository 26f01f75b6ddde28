//! Syntax errors: messages about a token, with the source line.

use serde_json::json;

use super::stream::{Failure, Stream};
use crate::lexer::Kind;
use crate::source::{Code, Diagnostic, Source, Span};

/// An error that may still be withdrawn.
#[derive(Clone, PartialEq)]
pub(super) struct Report {
    pub span: Span,
    pub message: String,
}

impl Report {
    pub(super) fn into_diagnostic(self, source: &Source) -> Diagnostic {
        let (line, index) = line_around(&source.text, self.span.start as usize);
        let trimmed = line.trim_start_matches('\t');
        let indent = index.saturating_sub(line.len() - trimmed.len());
        Diagnostic {
            details: vec![trimmed.to_owned(), format!("{}^", " ".repeat(indent))],
            details_json: Some(json!({ "line": line, "idx": index })),
            ..Diagnostic::at_span(Code::Parse, source, self.span, self.message)
        }
    }
}

/// Returns the line that contains an offset, and the offset of its last non-blank byte up to there.
fn line_around(text: &str, offset: usize) -> (&str, usize) {
    let bytes = text.as_bytes();
    let byte = |index: usize| bytes.get(index).copied().unwrap_or(b'\n');
    let is_end = |index: usize| matches!(byte(index), b'\r' | b'\n');
    let mut offset = offset.min(bytes.len().saturating_sub(1));
    // 0x85 and 0xA0 are blank in Latin-1
    while offset > 0 && matches!(byte(offset), b'\t'..=b'\r' | b' ' | 0x85 | 0xA0) {
        offset -= 1;
    }
    let mut begin = offset;
    while begin > 0 && !is_end(begin) {
        begin -= 1;
    }
    if is_end(begin) {
        begin += 1;
    }
    let mut end = offset;
    while end < bytes.len() && !is_end(end) {
        end += 1;
    }
    let begin = begin.min(end);
    (
        text.get(begin..end).unwrap_or(""),
        offset.saturating_sub(begin),
    )
}

impl<'a> Stream<'a> {
    /// Reports the current token as unexpected.
    pub(super) fn unexpected(self) -> Failure<'a> {
        self.complain_of(None)
    }

    /// Reports the current token as unexpected, with a note on what is expected.
    pub(super) fn expected(self, note: &str) -> Failure<'a> {
        self.complain_of(Some(note))
    }

    fn complain_of(self, note: Option<&str>) -> Failure<'a> {
        let kind = self.kind();
        let message = match note {
            _ if kind == Kind::Illegal => "illegal token".to_owned(),
            Some(note) => format!("unexpected {} {}: {note}", kind.name(), class(kind)),
            None => format!("unexpected {} {}", kind.name(), class(kind)),
        };
        self.session.report(self.span(), message);
        self.failure()
    }

    /// Reports an error at a span other than the current token.
    pub(super) fn complain(self, span: Span, message: impl Into<String>) -> Failure<'a> {
        self.session.report(span, message);
        self.failure()
    }

    /// Returns the span of the blank character directly after the previous token. A comment is skipped.
    pub(super) fn space_before(self) -> Span {
        let Some(before) = self
            .index()
            .checked_sub(1)
            .map(|index| self.session.token(index))
        else {
            return self.session.span_of(&self.token());
        };
        let mut span = self.session.span_of(&before);
        let token_text = self.session.text(before.start, before.end);
        let gap = self.session.text(before.end, self.token().start);
        let comment = if gap.starts_with('#') {
            gap.find('\n').unwrap_or(gap.len())
        } else {
            0
        };
        let comment = gap.get(..comment).unwrap_or("");
        for c in token_text.chars().chain(comment.chars()) {
            advance(&mut span, c);
        }
        span.end = span.start + 1;
        if gap
            .get(comment.len()..)
            .is_some_and(|rest| rest.starts_with('\n'))
        {
            span.row += 1;
            span.col = 0;
        }
        span
    }
}

fn advance(span: &mut Span, c: char) {
    span.start += u32::try_from(c.len_utf8()).unwrap_or(1);
    if c == '\n' {
        span.row += 1;
        span.col = 1;
    } else {
        span.col += 1;
    }
}

fn class(kind: Kind) -> &'static str {
    if kind.is_keyword() {
        "keyword"
    } else {
        "token"
    }
}
