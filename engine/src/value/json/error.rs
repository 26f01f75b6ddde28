//! JSON errors, with the messages of Go's decoder.

use std::fmt;

use crate::value::display::write_escaped;
use crate::value::number::NumberError;

/// A failure at a byte offset, before line and column are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fail {
    pub kind: JsonErrorKind,
    pub offset: usize,
}

impl Fail {
    /// Returns `true` for invalid JSON, and `false` for JSON that is rejected.
    pub fn is_syntax(&self) -> bool {
        !matches!(self.kind, JsonErrorKind::Number(_))
    }

    /// Maps the offset to the text before invalid UTF-8 was replaced.
    pub fn in_original(self, text: &[u8]) -> Self {
        let (mut replaced, mut original) = (0, 0);
        for chunk in text.utf8_chunks() {
            let valid = chunk.valid().len();
            if self.offset < replaced + valid {
                break;
            }
            replaced += valid;
            original += valid;
            for _ in chunk.invalid() {
                let width = char::REPLACEMENT_CHARACTER.len_utf8();
                if self.offset < replaced + width {
                    return Self {
                        offset: original,
                        ..self
                    };
                }
                replaced += width;
                original += 1;
            }
        }
        Self {
            offset: original + self.offset.saturating_sub(replaced),
            ..self
        }
    }
}

/// An error of invalid or rejected JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    kind: JsonErrorKind,
    byte: u8,
    offset: usize,
    line: usize,
    column: usize,
}

/// Reason of the error, without its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text ends within a document.
    End,
    /// An unexpected character, with the context of the parser.
    Character(&'static str),
    /// An unexpected character within `true`, `false` or `null`, with the expected one.
    Literal(&'static str, char),
    /// A number out of range.
    Number(NumberError),
}

/// Context of [`JsonErrorKind::Character`] if a text is nested deeper than
/// [`limits::VALUE_NESTING`](crate::limits::VALUE_NESTING).
pub const TOO_DEEP: &str = "exceeded max depth";

impl JsonError {
    pub(super) fn new(fail: Fail, text: &[u8]) -> Self {
        let before = text.get(..fail.offset).unwrap_or(text);
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = before.get(start..).unwrap_or(b"");
        Self {
            kind: fail.kind,
            byte: text.get(fail.offset).copied().unwrap_or(0),
            offset: fail.offset,
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            // continuation bytes belong to the previous character
            column: line.iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1,
        }
    }

    /// Returns the reason, for callers that need no message.
    pub fn kind(&self) -> JsonErrorKind {
        self.kind
    }

    /// Returns the offset of the error in bytes, from 0.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the line of the error, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the character in the line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            JsonErrorKind::End => f.write_str("unexpected end of JSON input"),
            JsonErrorKind::Number(error) => write!(f, "invalid number: {error}"),
            JsonErrorKind::Character(context) => {
                write_character(self.byte, f)?;
                write!(f, " {context}")
            }
            JsonErrorKind::Literal(literal, expected) => {
                write_character(self.byte, f)?;
                write!(f, " in literal {literal} (expecting '{expected}')")
            }
        }
    }
}

fn write_character(byte: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("invalid character '")?;
    match byte {
        b'\'' => f.write_str("\\'")?,
        b'\\' => f.write_str("\\\\")?,
        // Go formats single bytes here
        byte => write_escaped(char::from(byte), f)?,
    }
    f.write_str("'")
}

impl std::error::Error for JsonError {}
