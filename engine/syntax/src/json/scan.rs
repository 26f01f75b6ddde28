//! JSON parser without recursion, for documents of any depth.

use std::borrow::Cow;

use super::document::{Document, Error, NESTING};

impl<'a> Document<'a> {
    /// Parses a text without recursion.
    pub(super) fn parse(text: &'a str) -> Result<Self, Error> {
        let mut reader = JsonScanner { text, at: 0 };
        let mut open: Vec<OpenValue<'a>> = Vec::new();
        loop {
            let mut value = match reader.token()? {
                JsonToken::Begin(container) => {
                    if open.len() >= NESTING {
                        return Err(Self::too_deep());
                    }
                    if !reader.closes(&container) {
                        open.push(reader.key_for(container)?);
                        continue;
                    }
                    container.close()
                }
                JsonToken::Value(value) => value,
            };
            // closes the containers that end here, then continues with the open one
            loop {
                let Some(mut container) = open.pop() else {
                    return reader.end().map(|()| value);
                };
                container.push(value);
                reader.skip_blanks();
                if reader.eat(',') {
                    open.push(reader.key_for(container)?);
                    break;
                }
                if !reader.closes(&container) {
                    return Err(reader.unexpected(container.expects()));
                }
                value = container.close();
            }
        }
    }
}

/// An array or object whose end has not been reached.
enum OpenValue<'a> {
    Array(Vec<Document<'a>>),
    /// Members, and the key of the next member.
    Object(Vec<(Cow<'a, str>, Document<'a>)>, Cow<'a, str>),
}

impl<'a> OpenValue<'a> {
    fn push(&mut self, value: Document<'a>) {
        match self {
            Self::Array(elements) => elements.push(value),
            Self::Object(members, key) => members.push((std::mem::take(key), value)),
        }
    }

    fn close(self) -> Document<'a> {
        match self {
            Self::Array(elements) => Document::Array(elements),
            Self::Object(members, _) => Document::Object(members),
        }
    }

    fn end(&self) -> char {
        match self {
            Self::Array(_) => ']',
            Self::Object(..) => '}',
        }
    }

    fn expects(&self) -> &'static str {
        match self {
            Self::Array(_) => "`,` or `]`",
            Self::Object(..) => "`,` or `}`",
        }
    }
}

enum JsonToken<'a> {
    Begin(OpenValue<'a>),
    Value(Document<'a>),
}

struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonScanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn eat(&mut self, expected: char) -> bool {
        let matches = self.rest().starts_with(expected);
        if matches {
            self.at += expected.len_utf8();
        }
        matches
    }

    /// Consumes the end of a container, if it comes next.
    fn closes(&mut self, container: &OpenValue<'_>) -> bool {
        self.skip_blanks();
        self.eat(container.end())
    }

    fn unexpected(&self, expected: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let actual = match self.rest().chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end".to_owned(),
        };
        Error::new(format!(
            "line {line}, column {column}: expected {expected}, found {actual}"
        ))
    }

    fn end(&mut self) -> Result<(), Error> {
        self.skip_blanks();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.unexpected("the end"))
        }
    }

    /// Parses the key that an object needs before its next value.
    fn key_for(&mut self, container: OpenValue<'a>) -> Result<OpenValue<'a>, Error> {
        let OpenValue::Object(members, _) = container else {
            return Ok(container);
        };
        self.skip_blanks();
        if !self.eat('"') {
            return Err(self.unexpected("a key"));
        }
        let key = self.string()?;
        self.skip_blanks();
        if !self.eat(':') {
            return Err(self.unexpected("`:`"));
        }
        Ok(OpenValue::Object(members, key))
    }

    fn token(&mut self) -> Result<JsonToken<'a>, Error> {
        self.skip_blanks();
        let value = match self.rest().chars().next() {
            Some('{') => {
                self.at += 1;
                return Ok(JsonToken::Begin(OpenValue::Object(
                    Vec::new(),
                    Cow::Borrowed(""),
                )));
            }
            Some('[') => {
                self.at += 1;
                return Ok(JsonToken::Begin(OpenValue::Array(Vec::new())));
            }
            Some('"') => {
                self.at += 1;
                Document::String(self.string()?)
            }
            Some('-' | '0'..='9') => Document::Number(Cow::Borrowed(self.number()?)),
            _ => self.word()?,
        };
        Ok(JsonToken::Value(value))
    }

    fn word(&mut self) -> Result<Document<'a>, Error> {
        for (word, value) in [
            ("null", Document::Null),
            ("true", Document::Boolean(true)),
            ("false", Document::Boolean(false)),
        ] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("a value"))
    }

    fn digits(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        let count = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        self.at += count;
        if count == 0 {
            Err(self.unexpected("a digit"))
        } else {
            Ok(())
        }
    }

    fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        self.eat('-');
        if !self.eat('0') {
            self.digits()?;
        }
        if self.eat('.') {
            self.digits()?;
        }
        if self.eat('e') || self.eat('E') {
            let _ = self.eat('+') || self.eat('-');
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Parses a string after its opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let end = rest
                .find(|c: char| c == '"' || c == '\\' || c < ' ')
                .unwrap_or(rest.len());
            let (plain, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.at += plain.len();
            if text.is_empty() {
                text = Cow::Borrowed(plain);
            } else {
                text.to_mut().push_str(plain);
            }
            match tail.chars().next() {
                Some('"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some('\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    text.to_mut().push(c);
                }
                _ => return Err(self.unexpected("the end of the string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let c = match self.rest().chars().next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('u') => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        Ok(c)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self
            .rest()
            .get(..4)
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Parses the digits after `\u`. An unpaired surrogate becomes U+FFFD.
    fn code_point(&mut self) -> Result<char, Error> {
        let Some(high) = self.hex() else {
            return Err(self.unexpected("four hexadecimal digits"));
        };
        if let 0xd800..0xdc00 = high {
            let start = self.at;
            if self.eat('\\')
                && self.eat('u')
                && let Some(low @ 0xdc00..0xe000) = self.hex()
            {
                let pair = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = start;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}
