//! Text to tokens, in one pass over the bytes.
//!
//! The lexer never fails: invalid text becomes an illegal token with a separate error, because the grammar decides
//! whether a token is ever reached. Keywords that need an import are marked as such and stay words until the grammar
//! enables them. Template strings are split here, by counting braces.

mod characters;
mod strings;
mod text;
mod token;

use std::collections::HashMap;
use std::sync::Arc;

use self::characters::{is_digit, is_letter, is_plain, is_plain_name};
pub(crate) use self::text::{decode_string, decode_template};
pub(crate) use self::token::{Inside, Kind, Token};
use crate::ast::Comment;
use crate::source::{Source, Span};

/// Number of bytes of a text in which it has about one more distinct word.
const BYTES_PER_NAME: usize = 24;

/// Maximum number of words for which memory is reserved before they are read.
const RESERVED_NAMES: usize = 1024;

/// Error message for invalid UTF-8.
pub(crate) const ILLEGAL_UTF8: &str = "illegal utf-8 character";

pub(crate) struct Lexed {
    /// Tokens. The last one is the end of the file.
    pub tokens: Vec<Token>,
    /// Distinct words of the text.
    pub names: Vec<Arc<str>>,
    pub comments: Vec<Comment>,
    /// Errors of illegal tokens with the token's index, in order.
    pub errors: Vec<(usize, &'static str)>,
}

/// Tokenizes a text, which must be shorter than 4 GiB. The grammar checks the length.
pub(crate) fn lex(source: &Source) -> Lexed {
    lex_repaired(source, &[])
}

/// Tokenizes a text that was decoded from invalid UTF-8. `illegal` contains the offsets of the replacement characters,
/// in order.
pub(crate) fn lex_repaired(source: &Source, illegal: &[usize]) -> Lexed {
    let mut lexer = Lexer::new(source, illegal);
    while lexer.token() {}
    lexer.done
}

/// A template string whose end has not been reached.
struct OpenTemplate {
    raw: bool,
    /// Number of braces opened since the expression began.
    braces: u32,
}

struct Lexer<'a> {
    source: &'a Source,
    text: &'a str,
    bytes: &'a [u8],
    /// Offset of the next byte.
    at: usize,
    row: u32,
    /// Offset of the line's first byte.
    line: usize,
    /// Number of continuation bytes of characters on this line.
    continued: usize,
    name_indexes: HashMap<&'a str, u32, foldhash::fast::FixedState>,
    templates: Vec<OpenTemplate>,
    /// Token indexes of unclosed opening brackets.
    open: Vec<usize>,
    /// Offsets of characters that replace invalid bytes of the file.
    illegal: &'a [usize],
    /// Errors of the token being read.
    pending: Vec<&'static str>,
    done: Lexed,
}

#[derive(Clone, Copy)]
struct Start {
    at: usize,
    row: u32,
    col: u32,
    spaced: bool,
    newline: bool,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a Source, illegal: &'a [usize]) -> Self {
        let text: &str = &source.text;
        let mut lexer = Self {
            source,
            text,
            bytes: text.as_bytes(),
            at: 0,
            row: 1,
            line: 0,
            continued: 0,
            name_indexes: HashMap::with_capacity_and_hasher(
                (text.len() / BYTES_PER_NAME).min(RESERVED_NAMES),
                foldhash::fast::FixedState::default(),
            ),
            templates: Vec::new(),
            open: Vec::new(),
            illegal,
            pending: Vec::new(),
            done: Lexed {
                tokens: Vec::with_capacity(text.len() / 4 + 2),
                names: Vec::new(),
                comments: Vec::new(),
                errors: Vec::new(),
            },
        };
        if text.starts_with('\u{feff}') {
            lexer.at = 3;
            // the byte order mark counts as one column
            lexer.continued = 2;
        }
        lexer.report_next();
        lexer
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn col(&self) -> u32 {
        short(self.at - self.line - self.continued) + 1
    }

    /// Advances by one byte of a character and counts line ends.
    fn step(&mut self) {
        match self.peek() {
            Some(b'\n') => {
                self.row += 1;
                self.line = self.at + 1;
                self.continued = 0;
            }
            Some(byte) if byte & 0xC0 == 0x80 => self.continued += 1,
            _ => {}
        }
        self.at += 1;
    }

    /// Advances by one character. Errors of the next character are recorded immediately, so that they belong to the
    /// token before the invalid character.
    fn bump(&mut self) {
        self.step();
        while self.peek().is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.step();
        }
        self.report_next();
    }

    /// Advances while `fits` returns `true`. It must do so for plain characters ([`is_plain`]) only.
    #[inline]
    fn run(&mut self, fits: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !fits(*byte));
        let length = length.unwrap_or(rest.len());
        if length > 0 {
            self.at += length;
            self.report_next();
        }
    }

    #[inline]
    fn report_next(&mut self) {
        if let Some(0 | 0xEF) = self.peek() {
            self.report_unusual();
        }
    }

    /// Records the errors of the next character, which is not allowed in all places.
    #[cold]
    fn report_unusual(&mut self) {
        match self.peek() {
            Some(0) => self.pending.push("illegal null character"),
            Some(0xEF) if self.at > 0 && self.rest().starts_with('\u{feff}') => {
                self.pending.push("illegal byte-order mark");
            }
            Some(0xEF) if self.illegal.binary_search(&self.at).is_ok() => {
                self.pending.push(ILLEGAL_UTF8);
            }
            _ => {}
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Returns the location of the next token. The end of a line counts as column 0 of the next line, the end of the
    /// text has the column of its last character.
    fn start(&self, spaced: bool, newline: bool) -> Start {
        let (row, col) = match self.peek() {
            Some(b'\n') => (self.row + 1, 0),
            Some(_) => (self.row, self.col()),
            None => (self.row, self.col() - 1),
        };
        Start {
            at: self.at,
            row,
            col,
            spaced,
            newline,
        }
    }

    fn push(&mut self, start: Start, kind: Kind, link: u32) {
        let index = self.done.tokens.len();
        let kind = if self.pending.is_empty() {
            kind
        } else {
            let errors = self.pending.drain(..).map(|error| (index, error));
            self.done.errors.extend(errors);
            Kind::Illegal
        };
        self.done.tokens.push(Token {
            kind,
            spaced: start.spaced,
            newline: start.newline,
            inside: Inside::default(),
            start: short(start.at),
            end: short(self.at),
            row: start.row,
            col: start.col,
            link,
        });
    }

    /// Reads blanks, comments and one token. Returns `false` at the end.
    fn token(&mut self) -> bool {
        let (mut spaced, mut newline) = (false, false);
        let start = loop {
            let start = self.start(spaced, newline);
            match self.peek() {
                Some(b'\n') => {
                    self.bump();
                    newline = true;
                }
                Some(b' ' | b'\t' | b'\r') => self.run(|byte| matches!(byte, b' ' | b'\t' | b'\r')),
                Some(b'#') => self.comment(start),
                _ => break start,
            }
            if !self.pending.is_empty() {
                self.push(start, Kind::Illegal, 0);
                return true;
            }
            spaced = true;
        };
        let Some(byte) = self.peek() else {
            self.end_of_file(start);
            return false;
        };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
            b'0'..=b'9' => self.number(start),
            b'"' => self.string(start),
            b'`' => self.raw_string(start),
            _ => self.symbol(start, byte),
        }
        true
    }

    /// Adds the end of the file. It begins before the end of the text if the last character has several bytes, because
    /// errors show it there.
    fn end_of_file(&mut self, start: Start) {
        let width = self.text.chars().next_back().map_or(1, char::len_utf8);
        let end = (self.bytes.len() + 1).saturating_sub(width);
        self.at = end;
        self.push(Start { at: end, ..start }, Kind::Eof, 0);
    }

    fn comment(&mut self, start: Start) {
        self.run(is_plain);
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.bump();
            self.run(is_plain);
        }
        let text = self
            .text
            .get(start.at + 1..self.at)
            .unwrap_or("")
            .trim_end_matches('\r');
        let span = Span {
            source: self.source.id,
            row: start.row,
            col: start.col,
            start: short(start.at),
            end: short(self.at),
        };
        self.done.comments.push(Comment {
            text: text.into(),
            span,
        });
    }

    fn name_characters(&mut self) {
        self.run(is_plain_name);
        // most words end with plain characters
        while self.peek().is_some_and(|byte| !byte.is_ascii())
            && self
                .next_char()
                .is_some_and(|c| is_letter(c) || is_digit(c))
        {
            self.bump();
            self.run(is_plain_name);
        }
    }

    fn word(&mut self, start: Start) {
        self.name_characters();
        let word = self.text.get(start.at..self.at).unwrap_or("");
        if let Some(strange) = self.next_char().filter(|c| !c.is_ascii()) {
            return self.strange_word(start, word, strange);
        }
        let next = short(self.done.names.len());
        let link = *self.name_indexes.entry(word).or_insert(next);
        if link == next {
            self.done.names.push(word.into());
        }
        self.push(start, Kind::of_word(word), link);
    }

    /// Adds a word that is directly followed by a character that words cannot contain. Such a word is never a keyword,
    /// and errors show it with that character cut off, as OPA does.
    fn strange_word(&mut self, start: Start, word: &str, strange: char) {
        let cut_off = "\u{fffd}".repeat(strange.len_utf8() - 1);
        let link = short(self.done.names.len());
        self.done.names.push(format!("{word}{cut_off}").into());
        self.push(start, Kind::Ident, link);
    }

    fn next_char(&self) -> Option<char> {
        match self.peek()? {
            byte @ ..0x80 => Some(char::from(byte)),
            _ => self.rest().chars().next(),
        }
    }

    fn number(&mut self, start: Start) {
        self.digits();
        if self.peek() == Some(b'.') {
            self.bump();
            if !self.digits() {
                self.pending.push("expected fraction");
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.bump();
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.bump();
            }
            if !self.digits() {
                self.pending.push("expected exponent");
            }
        }
        if self.next_char().is_some_and(is_letter) {
            self.pending.push("illegal number format");
            self.name_characters();
        }
        // the parser rejects a number that is directly followed by a non-ASCII character
        let link = u32::from(self.next_char().is_some_and(|c| !c.is_ascii()));
        self.push(start, Kind::Number, link);
    }

    fn digits(&mut self) -> bool {
        let from = self.at;
        self.run(|byte| byte.is_ascii_digit());
        self.at > from
    }

    fn symbol(&mut self, start: Start, first: u8) {
        self.bump();
        let kind = match first {
            b'[' => Kind::LBracket,
            b']' => Kind::RBracket,
            b'{' => Kind::LBrace,
            b'}' => Kind::RBrace,
            b'(' => Kind::LParen,
            b')' => Kind::RParen,
            b',' => Kind::Comma,
            b':' => self.either(b'=', Kind::Assign, Kind::Colon),
            b'+' => Kind::Plus,
            b'-' => Kind::Minus,
            b'*' => Kind::Times,
            b'/' => Kind::Divide,
            b'%' => Kind::Remainder,
            b'&' => Kind::Ampersand,
            b'|' => Kind::Pipe,
            b'=' => self.either(b'=', Kind::Equal, Kind::Unify),
            b'>' => self.either(b'=', Kind::GreaterEqual, Kind::Greater),
            b'<' => self.either(b'=', Kind::LessEqual, Kind::Less),
            b'!' => {
                let kind = self.either(b'=', Kind::NotEqual, Kind::Illegal);
                if kind == Kind::Illegal {
                    self.pending.push("illegal ! character");
                }
                kind
            }
            b';' => Kind::Semicolon,
            b'.' => Kind::Dot,
            b'$' => {
                if let Some(quote @ (b'"' | b'`')) = self.peek() {
                    self.bump();
                    return self.template_part(start, quote == b'`', 0);
                }
                self.pending.push("illegal $ character");
                Kind::Illegal
            }
            0xC2 if self
                .text
                .get(start.at..)
                .is_some_and(|rest| rest.starts_with('\u{a0}')) =>
            {
                self.pending
                    .push("illegal non-breaking space character, use a regular space instead");
                Kind::Illegal
            }
            _ => Kind::Illegal,
        };
        if kind == Kind::RBrace && self.ends_template_expression() {
            self.push(start, kind, 0);
            return self.resume_template();
        }
        self.bracket(kind);
        self.push(start, kind, 0);
    }

    fn either(&mut self, second: u8, long: Kind, short: Kind) -> Kind {
        if self.peek() == Some(second) {
            self.bump();
            long
        } else {
            short
        }
    }

    /// Pairs brackets and records separators in the enclosing bracket.
    fn bracket(&mut self, kind: Kind) {
        let index = self.done.tokens.len();
        match kind {
            Kind::LBracket | Kind::LBrace | Kind::LParen => {
                self.open.push(index);
                if kind == Kind::LBrace
                    && let Some(template) = self.templates.last_mut()
                {
                    template.braces += 1;
                }
            }
            Kind::RBracket | Kind::RBrace | Kind::RParen => {
                if kind == Kind::RBrace
                    && let Some(template) = self.templates.last_mut()
                {
                    template.braces -= 1;
                }
                if let Some(&last) = self.open.last()
                    && let Some(token) = self.done.tokens.get_mut(last)
                    && token.kind.closing() == Some(kind)
                {
                    token.link = short(index);
                    self.open.pop();
                }
            }
            Kind::Comma => self.note(Inside::COMMA),
            Kind::Colon => self.note(Inside::COLON),
            Kind::Pipe => self.note(Inside::PIPE),
            _ => {}
        }
    }

    fn note(&mut self, separator: Inside) {
        if let Some(&last) = self.open.last()
            && let Some(token) = self.done.tokens.get_mut(last)
        {
            token.inside.insert(separator);
        }
    }
}

/// Converts an offset. It fits, because longer texts are rejected before tokenizing.
fn short(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
