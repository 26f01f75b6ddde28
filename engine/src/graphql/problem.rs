//! Errors of documents.

use std::fmt::{self, Write};

use super::ast::SourcePosition;

/// First error of a document, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphqlError {
    /// Message, without the position.
    pub message: String,
    /// Position. Zeros in a tree without a source.
    pub position: SourcePosition,
}

impl GraphqlError {
    /// Returns an error at a position, which need not have a source.
    pub fn new(message: String, position: SourcePosition) -> Self {
        Self { message, position }
    }
}

impl fmt::Display for GraphqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, position } = self;
        if position.has_source() {
            write!(f, "{message} in GraphQL string at location {position}")
        } else {
            write!(f, "GraphQL parse error: input: {message}")
        }
    }
}

/// All errors of a query, in the order in which they are found.
#[derive(Clone, Debug)]
pub struct Problems(pub Vec<GraphqlError>);

impl From<GraphqlError> for Problems {
    fn from(problem: GraphqlError) -> Self {
        Self(vec![problem])
    }
}

/// Formats one error per line, after its position. As in OPA, the position of the first one is at the end.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.first().map(|first| first.position);
        let source_position = first.filter(|first| first.has_source());
        let mut text = String::new();
        for GraphqlError { message, position } in &self.0 {
            if text.is_empty() && source_position.is_some() {
                // the first position
            } else if position.has_source() {
                write!(text, "input:{position}: ")?;
            } else {
                text.push_str("input: ");
            }
            writeln!(text, "{message}")?;
        }
        match source_position {
            Some(source_position) => {
                let text = text.strip_suffix(".\n").unwrap_or(&text);
                write!(f, "{text} in GraphQL string at location {source_position}")
            }
            None => write!(f, "GraphQL parse error: {text}"),
        }
    }
}

/// Quotes a text, with escapes for characters that are not printable.
pub fn quote(text: &str) -> String {
    let mut text_in_quotes = String::with_capacity(text.len() + 2);
    text_in_quotes.push('"');
    for character in text.chars() {
        match character {
            '"' => text_in_quotes.push_str("\\\""),
            '\\' => text_in_quotes.push_str("\\\\"),
            '\n' => text_in_quotes.push_str("\\n"),
            '\r' => text_in_quotes.push_str("\\r"),
            '\t' => text_in_quotes.push_str("\\t"),
            '\u{8}' => text_in_quotes.push_str("\\b"),
            '\u{c}' => text_in_quotes.push_str("\\f"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => {
                let _ = write!(text_in_quotes, "\\x{:02x}", u32::from(c));
            }
            c => text_in_quotes.push(c),
        }
    }
    text_in_quotes.push('"');
    text_in_quotes
}
