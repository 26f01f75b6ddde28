//! Tokenizes documents.

use super::ast::{Comments, SourcePosition, SourceText};
use crate::bug::bug;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphqlTokenKind {
    Invalid,
    End,
    /// A sign, by its first byte, which is unique.
    Punctuation(u8),
    Name,
    Int,
    Float,
    String,
    Block,
}

impl GraphqlTokenKind {
    /// Returns the kind as messages spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "<Invalid>",
            Self::End => "<EOF>",
            Self::Punctuation(sign) => sign_text(sign),
            Self::Name => "Name",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::String => "String",
            Self::Block => "BlockString",
        }
    }
}

/// Returns the sign that starts with a byte.
pub fn sign_text(first: u8) -> &'static str {
    match first {
        b'!' => "!",
        b'$' => "$",
        b'&' => "&",
        b'(' => "(",
        b')' => ")",
        b'.' => "...",
        b':' => ":",
        b'=' => "=",
        b'@' => "@",
        b'[' => "[",
        b']' => "]",
        b'{' => "{",
        b'|' => "|",
        b'}' => "}",
        _ => bug!("a sign that there is not"),
    }
}

#[derive(Clone, Debug)]
pub struct GraphqlToken<'a> {
    pub kind: GraphqlTokenKind,
    /// Name, digits, or content of a string.
    pub text: SourceText<'a>,
    /// Position. For strings that of the content, for invalid tokens that of the error.
    pub position: SourcePosition,
    /// Comments between the previous token and this one, not attached to either.
    pub comments: Comments<'a>,
    pub last_comment: SourcePosition,
}

pub struct GraphqlLexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    /// Byte position and column from which columns are counted.
    column_origin: (usize, u32),
    /// `true` if each byte is one column.
    ascii: bool,
}

impl<'a> GraphqlLexer<'a> {
    /// Returns a lexer at the start of a source. Positions are cheaper if it is ASCII.
    pub fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            line: 1,
            column_origin: (0, 1),
            ascii: source.is_ascii(),
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Returns the position of a byte. Invariant: calls have ascending offsets.
    fn position(&mut self, offset: usize) -> SourcePosition {
        let (from, column) = self.column_origin;
        let distance = if self.ascii {
            offset.saturating_sub(from)
        } else {
            let distance = self.source.get(from..offset).unwrap_or_default();
            distance.chars().count()
        };
        let distance = u32::try_from(distance).unwrap_or(u32::MAX);
        let column = column.saturating_add(distance);
        self.column_origin = (offset, column);
        SourcePosition {
            line: self.line,
            column,
        }
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.column_origin = (self.at, 1);
    }

    fn skip_while(&mut self, test: impl Fn(u8) -> bool) {
        let rest = self.source.as_bytes().get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| !test(*byte));
        self.at += end.unwrap_or(rest.len());
    }

    /// Skips ignored characters. Returns the comments, and the position of the last one.
    fn skip_ignored(&mut self) -> (Comments<'a>, SourcePosition) {
        let mut comments = Comments::default();
        let mut last = SourcePosition::default();
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t' | b',') => self.at += 1,
                Some(b'\n') => {
                    self.at += 1;
                    self.new_line();
                }
                Some(b'\r') => {
                    self.at += 1;
                    self.new_line();
                    if self.byte(0) == Some(b'\n') {
                        // counts as a column of the new line, as in OPA
                        self.at += 1;
                    }
                }
                Some(b'#') => {
                    let start = self.at;
                    last = self.position(start);
                    self.at += 1;
                    self.skip_while(is_printed);
                    let comment = self.source.get(start..self.at).unwrap_or_default();
                    comments.0.push(SourceText::Borrowed(comment));
                }
                Some(_) if self.rest().starts_with('\u{feff}') => self.at += 3,
                _ => return (comments, last),
            }
        }
    }

    /// Returns the next token. Invalid text becomes a token.
    pub fn next(&mut self) -> GraphqlToken<'a> {
        let (comments, last_comment) = self.skip_ignored();
        GraphqlToken {
            comments,
            last_comment,
            ..self.read()
        }
    }

    fn read(&mut self) -> GraphqlToken<'a> {
        let position = self.position(self.at);
        let start = self.at;
        let Some(first) = self.byte(0) else {
            return self.token(GraphqlTokenKind::End, start, position);
        };
        let length = match first {
            b'!' | b'$' | b'&' | b'(' | b')' | b':' | b'=' | b'@' | b'[' | b']' | b'{' | b'|'
            | b'}' => 1,
            b'.' if self.rest().starts_with("...") => 3,
            b'_' | b'A'..=b'Z' | b'a'..=b'z' => {
                self.skip_while(|b| b == b'_' || b.is_ascii_alphanumeric());
                return self.token(GraphqlTokenKind::Name, start, position);
            }
            b'-' | b'0'..=b'9' => return self.number(start, position),
            b'"' if self.rest().starts_with("\"\"\"") => return self.block(),
            b'"' => return self.string(),
            _ => return self.invalid(),
        };
        self.at += length;
        GraphqlToken {
            kind: GraphqlTokenKind::Punctuation(first),
            text: SourceText::Borrowed(""),
            position,
            comments: Comments::default(),
            last_comment: SourcePosition::default(),
        }
    }

    fn token(
        &self,
        kind: GraphqlTokenKind,
        start: usize,
        position: SourcePosition,
    ) -> GraphqlToken<'a> {
        GraphqlToken {
            kind,
            text: SourceText::Borrowed(self.source.get(start..self.at).unwrap_or_default()),
            position,
            comments: Comments::default(),
            last_comment: SourcePosition::default(),
        }
    }

    fn invalid(&mut self) -> GraphqlToken<'a> {
        GraphqlToken {
            kind: GraphqlTokenKind::Invalid,
            text: SourceText::Borrowed(""),
            position: self.position(self.at),
            comments: Comments::default(),
            last_comment: SourcePosition::default(),
        }
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        self.skip_while(|b| b.is_ascii_digit());
        self.at > start
    }

    fn number(&mut self, start: usize, position: SourcePosition) -> GraphqlToken<'a> {
        let mut kind = GraphqlTokenKind::Int;
        if self.byte(0) == Some(b'-') {
            self.at += 1;
        }
        if self.byte(0) == Some(b'0') {
            self.at += 1;
            if self.byte(0).is_some_and(|b| b.is_ascii_digit()) {
                return self.invalid();
            }
        } else if !self.digits() {
            return self.invalid();
        }
        if self.byte(0) == Some(b'.') {
            self.at += 1;
            kind = GraphqlTokenKind::Float;
            if !self.digits() {
                return self.invalid();
            }
        }
        if matches!(self.byte(0), Some(b'e' | b'E')) {
            self.at += 1;
            kind = GraphqlTokenKind::Float;
            if matches!(self.byte(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.digits() {
                return self.invalid();
            }
        }
        self.token(kind, start, position)
    }

    fn string(&mut self) -> GraphqlToken<'a> {
        self.at += 1;
        let position = self.position(self.at);
        let start = self.at;
        let mut decoded: Option<String> = None;
        loop {
            let from = self.at;
            self.skip_while(|b| b != b'"' && b != b'\\' && is_printed(b));
            let plain = self.source.get(from..self.at).unwrap_or_default();
            if let Some(text) = &mut decoded {
                text.push_str(plain);
            }
            match self.byte(0) {
                Some(b'"') => break,
                Some(b'\\') => {
                    let before = self.source.get(start..self.at).unwrap_or_default();
                    let text = decoded.get_or_insert_with(|| before.to_owned());
                    self.at += 1;
                    let Some((character, length)) = escape(self.source, self.at) else {
                        return self.invalid();
                    };
                    text.push(character);
                    self.at += length;
                }
                _ => return self.invalid(),
            }
        }
        let mut token = self.token(GraphqlTokenKind::String, start, position);
        self.at += 1;
        if let Some(decoded) = decoded {
            token.text = SourceText::Owned(decoded);
        }
        token
    }

    fn ends_block(&self) -> bool {
        let rest = self.rest();
        rest.starts_with("\"\"\"") && !rest.starts_with("\"\"\"\"")
    }

    fn block(&mut self) -> GraphqlToken<'a> {
        self.at += 3;
        let position = self.position(self.at);
        let mut raw = String::new();
        loop {
            let from = self.at;
            self.skip_while(|b| b != b'"' && b != b'\\' && is_printed(b));
            raw.push_str(self.source.get(from..self.at).unwrap_or_default());
            match self.byte(0) {
                // the last three quotes of a run close the string
                Some(b'"') if self.ends_block() => break,
                Some(b'\\') if self.rest().starts_with("\\\"\"\"") => {
                    raw.push_str("\"\"\"");
                    self.at += 4;
                }
                Some(b'\n' | b'\r') => {
                    raw.push('\n');
                    let pair = self.rest().starts_with("\r\n");
                    self.at += if pair { 2 } else { 1 };
                    self.new_line();
                }
                Some(byte @ (b'"' | b'\\')) => {
                    raw.push(char::from(byte));
                    self.at += 1;
                }
                _ => return self.invalid(),
            }
        }
        self.at += 3;
        GraphqlToken {
            kind: GraphqlTokenKind::Block,
            text: SourceText::Owned(without_indent(&raw)),
            position,
            comments: Comments::default(),
            last_comment: SourcePosition::default(),
        }
    }
}

/// Returns `true` for bytes that strings and comments may contain unescaped.
fn is_printed(byte: u8) -> bool {
    byte >= b' ' || byte == b'\t'
}

/// Returns the character of an escape, and the length of the escape without its backslash.
fn escape(source: &str, offset: usize) -> Option<(char, usize)> {
    let character = match source.as_bytes().get(offset)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' if source.as_bytes().get(offset + 1) == Some(&b'{') => {
            let rest = source.get(offset + 2..)?;
            let digits = rest.get(..rest.find('}')?)?;
            let character = char::from_u32(code_unit(digits, BRACED_DIGITS)?)?;
            return Some((character, 3 + digits.len()));
        }
        b'u' => {
            let code = code_unit(source.get(offset + 1..offset + 5)?, 4)?;
            if let 0xd800..0xdc00 = code
                && let Some(second) = source.get(offset + 5..offset + 11)
                && let Some(digits) = second.strip_prefix("\\u")
                && let Some(low @ 0xdc00..0xe000) = code_unit(digits, 4)
            {
                let combined = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                return Some((char::from_u32(combined)?, 11));
            }
            // an unpaired surrogate
            return Some((
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                5,
            ));
        }
        _ => return None,
    };
    Some((character, 1))
}

/// Maximum number of digits of an escape in braces, including leading zeros.
const BRACED_DIGITS: usize = 8;

/// Parses 1 to `max_digits` hexadecimal digits.
fn code_unit(digits: &str, max_digits: usize) -> Option<u32> {
    let digit = |b: u8| b.is_ascii_hexdigit();
    let good = (1..=max_digits).contains(&digits.len()) && digits.bytes().all(digit);
    u32::from_str_radix(digits, 16).ok().filter(|_| good)
}

/// Returns the content of a block string without the common indentation of its lines, except for the first line, and
/// without empty lines at both ends.
fn without_indent(raw: &str) -> String {
    let indent_of = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_blank = |line: &&str| indent_of(line) == line.len();
    let mut lines: Vec<&str> = raw.split('\n').collect();
    let non_blank = lines.iter().filter(|line| !is_blank(line));
    let shared = non_blank.map(|line| indent_of(line)).min().unwrap_or(0);
    for line in lines.iter_mut().skip(1) {
        *line = line.get(shared..).unwrap_or_default();
    }
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    let leading = lines.iter().take_while(|line| is_blank(line)).count();
    lines.drain(..leading);
    lines.join("\n")
}
