//! Strings, raw strings and template strings.

use super::characters::is_plain;
use super::{Kind, Lexer, OpenTemplate, Start};

impl Lexer<'_> {
    pub(super) fn string(&mut self, start: Start) {
        self.bump();
        loop {
            match self.peek() {
                None | Some(b'\n') => {
                    self.pending.push("non-terminated string");
                    break;
                }
                Some(b'"') => {
                    self.bump();
                    break;
                }
                Some(b'\\') => self.escape(false),
                Some(_) => self.pass(|byte| byte != b'"' && byte != b'\\'),
            }
        }
        self.push(start, Kind::String, 0);
    }

    /// Advances over a character and all following plain ones for which `fits` returns `true`.
    fn pass(&mut self, fits: impl Fn(u8) -> bool) {
        self.bump();
        self.run(|byte| fits(byte) && is_plain(byte));
    }

    /// Advances over an escape sequence. The digits of `\u` are checked when the text is decoded.
    fn escape(&mut self, template: bool) {
        self.bump();
        match self.peek() {
            Some(b'\\' | b'"' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.bump(),
            Some(b'{') if template => self.bump(),
            Some(b'u') => {
                for _ in 0..4 {
                    if self.peek().is_some() {
                        self.bump();
                    }
                }
            }
            _ => self.pending.push("illegal escape sequence"),
        }
    }

    pub(super) fn raw_string(&mut self, start: Start) {
        self.bump();
        loop {
            match self.peek() {
                None => {
                    self.pending.push("non-terminated string");
                    break;
                }
                Some(b'`') => {
                    self.bump();
                    break;
                }
                Some(_) => self.pass(|byte| byte != b'`'),
            }
        }
        self.push(start, Kind::RawString, 0);
    }

    /// Reads a part of a template string, up to its end or the next expression.
    pub(super) fn template_part(&mut self, start: Start, raw: bool, link: u32) {
        let (part, end) = if raw {
            (Kind::RawTemplatePart, Kind::RawTemplateEnd)
        } else {
            (Kind::TemplatePart, Kind::TemplateEnd)
        };
        let quote = if raw { b'`' } else { b'"' };
        let kind = loop {
            match self.peek() {
                None => {
                    self.pending.push("non-terminated string");
                    break part;
                }
                Some(b'\n') if !raw => {
                    self.pending.push("non-terminated string");
                    break part;
                }
                Some(byte) if byte == quote => {
                    self.bump();
                    break end;
                }
                Some(b'{') => {
                    self.bump();
                    self.templates.push(OpenTemplate { raw, braces: 0 });
                    break part;
                }
                Some(b'\\') if !raw => self.escape(true),
                Some(b'\\') => {
                    self.bump();
                    if self.peek() == Some(b'{') {
                        self.bump();
                    }
                }
                Some(_) => self.bump(),
            }
        };
        self.push(start, kind, link);
    }

    /// Returns `true` if a closing brace here ends an expression of a template string.
    pub(super) fn ends_template_expression(&self) -> bool {
        self.templates
            .last()
            .is_some_and(|template| template.braces == 0)
    }

    /// Continues with the template string whose expression just ended.
    pub(super) fn resume_template(&mut self) {
        if let Some(template) = self.templates.pop() {
            let start = self.start(false, false);
            self.template_part(start, template.raw, 1);
        }
    }
}
