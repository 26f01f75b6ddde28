//! Finds METADATA blocks among the comments and parses each of them.

use std::fmt::Write;

use serde_json::json;

use super::decode::{Fields, decode};
use super::fields::annotation;
use super::yaml;
use crate::ast::{Annotation, Comment};
use crate::dialect::ParseOptions;
use crate::source::{Code, Diagnostic, Source, Span};

/// A parsed block, with the scope that its author gave.
pub(super) struct Block {
    pub annotation: Annotation,
    /// Scope as written. Empty if the block has no scope.
    pub scope: String,
}

/// Groups the comments of each block: a comment that begins with `METADATA`, and the comments directly below it. All of
/// them start in the first column.
pub(super) fn find(comments: &[Comment]) -> Vec<&[Comment]> {
    let mut blocks = Vec::new();
    let mut rest = comments;
    while let Some((first, tail)) = rest.split_first() {
        let mut length = 0;
        if begins_block(first) {
            let mut row = first.span.row;
            length = tail
                .iter()
                .take_while(|comment| {
                    row += 1;
                    comment.span.row == row && comment.span.col == 1 && !begins_block(comment)
                })
                .count();
            blocks.push(rest.get(..=length).unwrap_or_default());
        }
        rest = tail.get(length..).unwrap_or_default();
    }
    blocks
}

fn begins_block(comment: &Comment) -> bool {
    comment.span.col == 1 && comment.text.trim_start().starts_with("METADATA")
}

/// Parses a block. The error has the location of the line that OPA reports.
pub(super) fn read(
    block: &[Comment],
    source: &Source,
    options: &ParseOptions,
) -> Result<Block, Diagnostic> {
    let Some((first, lines)) = block.split_first() else {
        return Err(Diagnostic::at_span(
            Code::Parse,
            source,
            Span::default(),
            "expected METADATA block",
        ));
    };
    let mut text = String::new();
    for line in lines {
        text.push_str(line.text.strip_prefix(' ').unwrap_or(&line.text));
        text.push('\n');
    }
    if text.trim().is_empty() {
        return Err(reject(
            first,
            source,
            "expected METADATA block, found whitespace".to_owned(),
        ));
    }
    let fields = yaml::parse(&text)
        .and_then(|root| root.map_or(Ok(Fields::default()), |root| decode(&root)));
    let mut fields = fields.map_err(|error| {
        // OPA counts lines from the first line below the head or one less, because it reads one line too far down, at
        // most to the last line.
        let line = lines
            .get(error.line.min(lines.len().saturating_sub(1)))
            .unwrap_or(first);
        reject(line, source, format!("{}{}", error.message, hints(lines)))
    })?;
    let scope = std::mem::take(&mut fields.scope);
    let span = lines
        .last()
        .map_or(first.span, |last| first.span.to_end_of(last.span));
    let annotation =
        annotation(fields, span, options).map_err(|problem| reject(first, source, problem))?;
    Ok(Block { annotation, scope })
}

fn reject(comment: &Comment, source: &Source, message: String) -> Diagnostic {
    let line = source.slice(comment.span).trim_end_matches('\r');
    Diagnostic {
        details: vec![line.to_owned(), "^".to_owned()],
        details_json: Some(json!({ "line": line, "idx": 0 })),
        ..Diagnostic::at_span(Code::Parse, source, comment.span, message)
    }
}

/// Points at colons that are not followed by a blank, the most common mistake.
fn hints(lines: &[Comment]) -> String {
    let mut out = String::new();
    for line in lines {
        let mut symbols = Vec::new();
        let mut parts = line.text.split(':').skip(1).peekable();
        while let Some(part) = parts.next() {
            match part.chars().next() {
                None if parts.peek().is_none() => {}
                Some(' ' | '\t') => break,
                // Two colons in a row: OPA decodes the empty text between them.
                first => symbols.push(quote_char(first.unwrap_or(char::REPLACEMENT_CHARACTER))),
            }
        }
        if !symbols.is_empty() {
            let _ = write!(
                out,
                "\n  Hint: on line {}, symbol(s) [{}] immediately following a key/value separator ':' is not a legal \
                 yaml space character",
                line.span.row,
                symbols.join(" ")
            );
        }
    }
    out
}

/// Formats a character in single quotes, in ASCII.
fn quote_char(c: char) -> String {
    match c {
        '\'' => "'\\''".to_owned(),
        '\\' => "'\\\\'".to_owned(),
        ' '..='~' => format!("'{c}'"),
        '\0'..='\x7f' => format!("'\\x{:02x}'", u32::from(c)),
        '\u{80}'..='\u{ffff}' => format!("'\\u{:04x}'", u32::from(c)),
        _ => format!("'\\U{:08x}'", u32::from(c)),
    }
}
