//! Tokens of JSON, by position in the text.

use super::error::{Fail, JsonErrorKind};
use crate::bug::Within as _;
use crate::value::Number;
use crate::value::number::parse::{NumberSyntax, check};

/// A position in a text.
pub(super) struct JsonLexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonLexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of bytes read.
    pub fn read(&self) -> usize {
        self.at
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the first byte of the next token, or `None` at the end.
    #[inline]
    pub fn token(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Skips the byte that [`Self::token`] returned.
    #[inline]
    pub fn bump(&mut self) {
        self.at += 1;
    }

    /// Returns the error for an unexpected character or end.
    #[cold]
    pub fn unexpected(&self, context: &'static str) -> Fail {
        self.fail(JsonErrorKind::Character(context))
    }

    #[cold]
    fn fail(&self, kind: JsonErrorKind) -> Fail {
        let kind = if self.at < self.text.len() {
            kind
        } else {
            JsonErrorKind::End
        };
        Fail {
            kind,
            offset: self.at,
        }
    }

    /// Reads `true`, `false` or `null`. Fails at the first character that differs.
    #[inline]
    pub fn literal(&mut self, literal: &'static str) -> Result<(), Fail> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(b"");
        if rest.starts_with(literal.as_bytes()) {
            self.at += literal.len();
            return Ok(());
        }
        for expected in literal.chars() {
            if self.peek().map(char::from) != Some(expected) {
                return Err(self.fail(JsonErrorKind::Literal(literal, expected)));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a number. Fails if the text does not start with one. The caller checks its size and the byte that follows.
    #[inline]
    pub fn number(&mut self) -> Result<Number<'t>, Fail> {
        let rest = self.text.get(self.at..).unwrap_or("");
        let Some(syntax) = NumberSyntax::scan(rest.as_bytes()) else {
            return Err(self.bad_number());
        };
        let start = self.at;
        self.at += syntax.length;
        if let Some(number) = syntax.small() {
            return Ok(number);
        }
        Ok(Number::Text(self.text.within(start..self.at)))
    }

    /// Checks that the number just read is within the limits. The error has its offset.
    pub fn check(&self, number: &str) -> Result<(), Fail> {
        check(number).map_err(|error| Fail {
            kind: JsonErrorKind::Number(error),
            offset: self.at - number.len(),
        })
    }

    #[cold]
    fn bad_number(&mut self) -> Fail {
        self.at += usize::from(self.peek() == Some(b'-'));
        if !self.digits() {
            return self.unexpected("in numeric literal");
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.digits() {
                return self.unexpected("after decimal point in numeric literal");
            }
        }
        self.at += usize::from(matches!(self.peek(), Some(b'e' | b'E')));
        self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
        self.unexpected("in exponent of numeric literal")
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads a string without escapes, starting at its opening quote. Otherwise reads nothing.
    #[inline]
    pub fn plain_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        self.at = start;
        self.run();
        if self.peek() == Some(b'"') {
            let text = self.text.get(start..self.at);
            self.at += 1;
            return text;
        }
        self.at = start - 1;
        None
    }

    /// Reads a string with escapes, starting at its opening quote. Fails at an escape or a character that is not valid.
    #[cold]
    pub fn escaped_string(&mut self) -> Result<String, Fail> {
        self.at += 1;
        let mut start = self.at;
        self.run();
        let mut out = String::new();
        loop {
            out.push_str(self.text.within(start..self.at));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    out.push(c);
                }
                _ => return Err(self.unexpected("in string literal")),
            }
            start = self.at;
            self.run();
        }
    }

    /// Skips to the next quote, backslash, control character or the end.
    #[inline]
    fn run(&mut self) {
        const ONES: u64 = u64::MAX / 255;
        const HIGHS: u64 = ONES << 7;
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
        let bytes = self.text.as_bytes();
        while let Some(chunk) = bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let word = u64::from_le_bytes(*chunk);
            let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
            let stops = control
                | zero(word ^ (ONES * u64::from(b'"')))
                | zero(word ^ (ONES * u64::from(b'\\')));
            // the lowest flag is exact, higher ones may be carries
            if stops != 0 {
                self.at += stops.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while self
            .peek()
            .is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
        {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<char, Fail> {
        let c = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Reads the digits of a `\u` escape, and its second half for a surrogate pair.
    fn unicode(&mut self) -> Result<char, Fail> {
        let unit = self.hex()?;
        if let 0xd800..0xdc00 = unit
            && self
                .text
                .as_bytes()
                .get(self.at..)
                .is_some_and(|rest| rest.starts_with(b"\\u"))
        {
            let back = self.at;
            self.at += 2;
            let low = self.hex()?;
            if let 0xdc00..0xe000 = low {
                let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Fail> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
