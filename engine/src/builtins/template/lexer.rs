//! Tokens of Go's templates: text, and actions between `{{` and `}}`.

use crate::bug::Within;
use crate::value::display;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateTokenKind {
    /// An error message. It is the last token.
    Error,
    End,
    Text,
    LeftDelimiter,
    RightDelimiter,
    Space,
    Assign,
    Declare,
    Pipe,
    LeftParen,
    RightParen,
    Char,
    Identifier,
    Field,
    Variable,
    Bool,
    Number,
    Complex,
    CharConstant,
    String,
    RawString,
    Dot,
    /// `if`, `range` and other keywords.
    Keyword,
}

#[derive(Clone, Debug)]
pub struct TemplateToken {
    pub kind: TemplateTokenKind,
    pub text: String,
    /// Byte offset.
    pub at: usize,
    pub line: usize,
}

const KEYWORDS: [&str; 11] = [
    "block", "break", "continue", "define", "else", "end", "if", "range", "nil", "template", "with",
];

/// Reads tokens from left to right.
pub struct TemplateLexer<'t> {
    text: &'t str,
    at: usize,
    start: usize,
    line: usize,
    start_line: usize,
    parens: usize,
    inside: bool,
    done: bool,
    tokens: Vec<TemplateToken>,
}

/// Returns the tokens of a template. The last one is an end or an error.
pub fn tokens(text: &str) -> Vec<TemplateToken> {
    let mut lexer = TemplateLexer {
        text,
        at: 0,
        start: 0,
        line: 1,
        start_line: 1,
        parens: 0,
        inside: false,
        done: false,
        tokens: Vec::new(),
    };
    while !lexer.done {
        if lexer.inside {
            lexer.action();
        } else {
            lexer.plain();
        }
    }
    lexer.tokens
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphabetic() || c.is_numeric()
}

/// Formats a character for messages: `U+007D '}'`.
fn describe_char(c: char) -> String {
    let code = u32::from(c);
    if matches!(c, ' '..='~') || display::is_print(c) {
        format!("U+{code:04X} '{c}'")
    } else {
        format!("U+{code:04X}")
    }
}

impl<'t> TemplateLexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.within(self.at..)
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.skip(c.len_utf8());
        Some(c)
    }

    fn skip(&mut self, bytes: usize) {
        let end = self.at + bytes;
        let skipped_text = self.text.within(self.at..end);
        self.line += skipped_text.matches('\n').count();
        self.at = end;
    }

    fn accept(&mut self, set: &str) -> bool {
        let accepted = self.peek().is_some_and(|c| set.contains(c));
        if accepted {
            self.next();
        }
        accepted
    }

    fn accept_run(&mut self, set: &str) {
        while self.accept(set) {}
    }

    fn ignore(&mut self) {
        self.start = self.at;
        self.start_line = self.line;
    }

    fn emit(&mut self, kind: TemplateTokenKind) {
        let text = self.text.within(self.start..self.at);
        self.tokens.push(TemplateToken {
            kind,
            text: text.to_owned(),
            at: self.start,
            line: self.start_line,
        });
        self.ignore();
    }

    fn fail(&mut self, message: impl Into<String>) {
        self.tokens.push(TemplateToken {
            kind: TemplateTokenKind::Error,
            text: message.into(),
            at: self.start,
            line: self.start_line,
        });
        self.done = true;
    }

    /// Reads text up to the next action.
    fn plain(&mut self) {
        let rest = self.rest();
        let Some(length) = rest.find("{{") else {
            self.skip(rest.len());
            if self.at > self.start {
                self.emit(TemplateTokenKind::Text);
            }
            self.emit(TemplateTokenKind::End);
            self.done = true;
            return;
        };
        let (text, rest) = rest.split_at(length);
        let mut after_delimiter = rest.chars().skip(2);
        let trims =
            after_delimiter.next() == Some('-') && after_delimiter.next().is_some_and(is_space);
        let trimmed = if trims {
            text.trim_end_matches(is_space)
        } else {
            text
        };
        self.skip(trimmed.len());
        if self.at > self.start {
            self.emit(TemplateTokenKind::Text);
        }
        self.skip(text.len() - trimmed.len());
        self.ignore();
        let marker = if trims { 2 } else { 0 };
        if rest
            .get(2 + marker..)
            .is_some_and(|rest| rest.starts_with("/*"))
        {
            self.skip(2 + marker);
            self.ignore();
            self.comment();
            return;
        }
        self.skip(2);
        self.emit(TemplateTokenKind::LeftDelimiter);
        self.skip(marker);
        self.ignore();
        self.parens = 0;
        self.inside = true;
    }

    fn comment(&mut self) {
        self.skip(2);
        let Some(length) = self.rest().find("*/") else {
            self.fail("unclosed comment");
            return;
        };
        self.skip(length + 2);
        let Some(trims) = self.at_right_delimiter() else {
            self.fail("comment ends before closing delimiter");
            return;
        };
        self.skip(if trims { 4 } else { 2 });
        if trims {
            self.trim_start();
        }
        self.ignore();
    }

    fn trim_start(&mut self) {
        let rest = self.rest();
        self.skip(rest.len() - rest.trim_start_matches(is_space).len());
    }

    /// Checks for the end of an action. Returns whether it trims the text after it.
    fn at_right_delimiter(&self) -> Option<bool> {
        let rest = self.rest();
        let trimming = rest
            .strip_prefix(is_space)
            .is_some_and(|rest| rest.starts_with("-}}"));
        if trimming {
            return Some(true);
        }
        rest.starts_with("}}").then_some(false)
    }

    fn right_delimiter(&mut self, trims: bool) {
        if trims {
            self.skip(2);
            self.ignore();
        }
        self.skip(2);
        self.emit(TemplateTokenKind::RightDelimiter);
        if trims {
            self.trim_start();
            self.ignore();
        }
        self.inside = false;
    }

    /// Reads a token of an action.
    fn action(&mut self) {
        if let Some(trims) = self.at_right_delimiter() {
            if self.parens == 0 {
                self.right_delimiter(trims);
            } else {
                self.fail("unclosed left paren");
            }
            return;
        }
        let Some(c) = self.next() else {
            self.fail("unclosed action");
            return;
        };
        match c {
            c if is_space(c) => {
                while self.peek().is_some_and(is_space) && self.at_right_delimiter().is_none() {
                    self.next();
                }
                self.emit(TemplateTokenKind::Space);
            }
            '=' => self.emit(TemplateTokenKind::Assign),
            ':' if self.next() == Some('=') => self.emit(TemplateTokenKind::Declare),
            ':' => self.fail("expected :="),
            '|' => self.emit(TemplateTokenKind::Pipe),
            '"' => self.scan_quoted('"', TemplateTokenKind::String, "unterminated quoted string"),
            '\'' => self.scan_quoted(
                '\'',
                TemplateTokenKind::CharConstant,
                "unterminated character constant",
            ),
            '`' => match self.rest().find('`') {
                Some(length) => {
                    self.skip(length + 1);
                    self.emit(TemplateTokenKind::RawString);
                }
                None => self.fail("unterminated raw quoted string"),
            },
            '$' => self.name(TemplateTokenKind::Variable),
            '.' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                self.name(TemplateTokenKind::Field);
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.at -= 1;
                self.number();
            }
            c if is_word(c) => self.identifier(),
            '(' => {
                self.emit(TemplateTokenKind::LeftParen);
                self.parens += 1;
            }
            ')' if self.parens == 0 => self.fail("unexpected right paren"),
            ')' => {
                self.emit(TemplateTokenKind::RightParen);
                self.parens -= 1;
            }
            ' '..='~' => self.emit(TemplateTokenKind::Char),
            c => self.fail(format!(
                "unrecognized character in action: {}",
                describe_char(c)
            )),
        }
    }

    fn scan_quoted(&mut self, quote: char, kind: TemplateTokenKind, unterminated: &str) {
        loop {
            match self.next() {
                Some('\\') if self.peek().is_some_and(|c| c != '\n') => _ = self.next(),
                None | Some('\\' | '\n') => return self.fail(unterminated),
                Some(c) if c == quote => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    /// Returns `true` if a name may end here.
    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(c) => is_space(c) || self.rest().starts_with("}}"),
        }
    }

    /// Reads the name after a dot or a dollar sign.
    fn name(&mut self, kind: TemplateTokenKind) {
        if self.at_terminator() {
            let kind_of_name = if kind == TemplateTokenKind::Field {
                TemplateTokenKind::Dot
            } else {
                kind
            };
            self.emit(kind_of_name);
            return;
        }
        if self.scan_word() {
            self.emit(kind);
        }
    }

    /// Reads a word. If it is followed by an invalid character, adds an error and returns `false`.
    fn scan_word(&mut self) -> bool {
        while self.peek().is_some_and(is_word) {
            self.next();
        }
        if self.at_terminator() {
            return true;
        }
        let c = self.peek().unwrap_or_default();
        self.fail(format!("bad character {}", describe_char(c)));
        false
    }

    fn identifier(&mut self) {
        if !self.scan_word() {
            return;
        }
        let text = self.text.within(self.start..self.at);
        self.emit(match text {
            "true" | "false" => TemplateTokenKind::Bool,
            _ if KEYWORDS.contains(&text) => TemplateTokenKind::Keyword,
            _ => TemplateTokenKind::Identifier,
        });
    }

    fn number(&mut self) {
        let sound = self.scan_number();
        let complex = sound && self.peek().is_some_and(|c| c == '+' || c == '-');
        let sound = sound && (!complex || self.scan_number());
        let text = self.text.within(self.start..self.at);
        if !sound || complex && !text.ends_with('i') {
            self.fail(format!("bad number syntax: {}", super::quote_text(text)));
            return;
        }
        self.emit(if complex {
            TemplateTokenKind::Complex
        } else {
            TemplateTokenKind::Number
        });
    }

    fn scan_number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        self.accept("+-");
        let (mut digits, mut exponent) = (DECIMAL, "eE");
        if self.accept("0") {
            if self.accept("xX") {
                (digits, exponent) = ("0123456789abcdefABCDEF_", "pP");
            } else if self.accept("oO") {
                (digits, exponent) = ("01234567_", "");
            } else if self.accept("bB") {
                (digits, exponent) = ("01_", "");
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run(DECIMAL);
        }
        self.accept("i");
        if self.peek().is_some_and(is_word) {
            self.next();
            return false;
        }
        true
    }
}
