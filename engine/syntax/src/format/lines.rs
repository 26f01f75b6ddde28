//! The output: lines, indentation and the pending comments.

use crate::ast::Comment;
use crate::source::{Source, Span};

use super::style::Style;

/// The reason why a part of the text was not written.
pub(super) enum WriteStop {
    /// Two comments would end one line. The smallest enclosing term or head is copied from the source.
    Comment,
    /// The tree cannot be written as text.
    Failed(String),
}

pub(super) type Written = Result<(), WriteStop>;

/// Possible end of a copied part of the source. The comment on its last row is written with it or stays pending.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    length: usize,
    next: usize,
}

pub(super) struct LineWriter<'m> {
    pub source: &'m Source,
    /// Sources of parts that a program took from other modules.
    pub others: &'m [Source],
    pub style: Style,
    pub out: String,
    pub level: usize,
    /// `true` between the start of a line and its end.
    pub inline: bool,
    /// Comment to write at the end of the current line.
    pub before_end: Option<&'m Comment>,
    /// Defers `before_end` to the line after the current one.
    pub delay: bool,
    /// `true` if a body follows the head that is being written. A comment on the last row of a copied part then belongs
    /// to the first line of the body.
    pub body_follows: bool,
    /// Offset of each rule in the output.
    pub starts: Vec<usize>,
    /// Rules that are not formatted normally.
    pub modes: &'m [RuleMode],
    comments: Vec<&'m Comment>,
    next: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RuleMode {
    #[default]
    Formatted,
    /// Copied from the source.
    Verbatim,
    /// Formatted, with the comments inside it moved above it.
    CommentsAbove,
}

impl<'m> LineWriter<'m> {
    pub(super) fn new(
        source: &'m Source,
        style: Style,
        comments: &'m [Comment],
        modes: &'m [RuleMode],
    ) -> Self {
        Self {
            source,
            others: &[],
            style,
            out: String::with_capacity(source.text.len() + source.text.len() / 8),
            level: 0,
            inline: false,
            before_end: None,
            delay: false,
            body_follows: false,
            starts: Vec::new(),
            modes,
            comments: comments.iter().collect(),
            next: 0,
        }
    }

    // text and lines

    pub(super) fn write(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn start_line(&mut self) {
        self.inline = true;
        self.indent();
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n('\t', self.level));
    }

    pub(super) fn end_line(&mut self) {
        self.inline = false;
        if !self.delay
            && let Some(comment) = self.before_end.take()
        {
            self.write(" ");
            self.write_comment(comment);
        }
        self.delay = false;
        self.write("\n");
    }

    /// Ends the current line, if any, and leaves a blank line after it.
    pub(super) fn blank_line(&mut self) {
        if self.inline {
            self.end_line();
        }
        self.write("\n");
    }

    /// Ends the line of an opening bracket. A comment there moves to the end of the next line.
    pub(super) fn start_indented(&mut self) {
        self.end_line();
        self.level += 1;
        self.start_line();
    }

    pub(super) fn end_indented(&mut self) {
        self.level = self.level.saturating_sub(1);
        self.start_line();
    }

    // comments

    fn write_comment(&mut self, comment: &Comment) {
        self.write("#");
        self.write(comment.text.trim_end_matches(is_blank));
    }

    fn comment_line(&mut self, comment: &Comment) {
        if !self.inline {
            self.start_line();
        }
        self.write_comment(comment);
        self.end_line();
    }

    pub(super) fn pending(&self) -> Option<&'m Comment> {
        self.comments.get(self.next).copied()
    }

    pub(super) fn has_comments(&self) -> bool {
        self.next < self.comments.len()
    }

    /// Writes the comments above a row and retains the comment on the row for the end of the line.
    pub(super) fn comments_to(&mut self, row: u32) -> Written {
        let mut last: Option<u32> = None;
        let mut is_annotation = false;
        while let Some(comment) = self.pending()
            && comment.span.row < row
        {
            let starts_annotation = comment.text.trim_start().starts_with("METADATA");
            if last.is_some_and(|last| comment.span.row > last + 1) {
                self.blank_line();
                is_annotation = false;
            } else if is_annotation && starts_annotation {
                // like OPA, separates adjacent annotations
                self.blank_line();
            }
            is_annotation |= starts_annotation;
            self.comment_line(comment);
            last = Some(comment.span.row);
            self.next += 1;
        }
        if last.is_some_and(|last| row > last + 1) {
            self.blank_line();
        }
        if let Some(comment) = self.pending()
            && comment.span.row == row
        {
            self.next += 1;
            if self.before_end.is_some() {
                return Err(WriteStop::Comment);
            }
            self.before_end = Some(comment);
        }
        Ok(())
    }

    /// Removes and returns the comments that end one of the rows.
    pub(super) fn take_comments_on(&mut self, rows: &[u32]) -> Vec<Option<&'m Comment>> {
        rows.iter()
            .map(|row| {
                let index = self
                    .comments
                    .iter()
                    .skip(self.next)
                    .position(|comment| comment.span.row == *row)?;
                Some(self.comments.remove(self.next + index))
            })
            .collect()
    }

    /// Writes a comment at the end of the current line.
    pub(super) fn trailing(&mut self, comment: &Comment) {
        self.write(" ");
        self.write_comment(comment);
    }

    /// Writes all remaining comments, each on its own line.
    pub(super) fn rest_of_comments(&mut self) {
        let mut wrote = false;
        while let Some(comment) = self.pending() {
            self.comment_line(comment);
            self.next += 1;
            wrote = true;
        }
        if wrote {
            self.write("\n");
        }
    }

    /// Writes the pending comment of the current line, and the comments that start before an offset, each on its own
    /// line.
    pub(super) fn comments_before(&mut self, offset: u32) {
        if let Some(comment) = self.before_end.take() {
            self.comment_line(comment);
        }
        while let Some(comment) = self.pending()
            && comment.span.start < offset
        {
            self.comment_line(comment);
            self.next += 1;
        }
    }

    // copies of the source

    pub(super) fn progress(&self) -> Progress {
        Progress {
            length: self.out.len(),
            next: self.next,
        }
    }

    /// Replaces the output since `start` by the source text of a span. A comment after the span stays at the end of its
    /// line.
    pub(super) fn copy_source(&mut self, start: Progress, span: Span) {
        self.out.truncate(start.length);
        self.next = start.next;
        let range = span.start..span.end;
        // a comment that an inner copy took is pending again
        let pending = self.pending().map(|comment| comment.span.start);
        self.before_end.take_if(|comment| {
            let start = comment.span.start;
            range.contains(&start) || pending.is_some_and(|pending| start >= pending)
        });
        let source = self.source;
        let text = source.slice(span);
        self.write(text);
        while self
            .pending()
            .is_some_and(|comment| comment.span.start < span.end)
        {
            self.next += 1;
        }
        let last = span.row + newlines(text);
        if self.before_end.is_none()
            && !self.body_follows
            && let Some(comment) = self.pending()
            && comment.span.row == last
        {
            self.before_end = Some(comment);
            self.next += 1;
        }
    }

    /// Returns the source text of a span. The text is empty if the span has no known source.
    pub(super) fn text(&self, span: Span) -> &'m str {
        let mut sources = self.others.iter();
        let other = sources.find(|other| other.id == span.source);
        other.unwrap_or(self.source).slice(span)
    }

    /// Returns the row on which the text of a span ends.
    pub(super) fn last_row(&self, span: Span) -> u32 {
        span.row + newlines(self.text(span))
    }
}

/// Returns `true` for characters that are trimmed from the end of a comment.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

pub(super) fn newlines(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
