//! Writes terms and references.

use crate::ast::{Template, TemplatePart, Term, TermKind};
use crate::print::{quote, write_key};
use crate::source::SourceId;
use crate::stack;

use super::lines::{LineWriter, WriteStop, Written};

impl<'m> LineWriter<'m> {
    pub(super) fn term(&mut self, term: &'m Term) -> Written {
        self.term_at(term, term.span.row)
    }

    /// Writes a term as if it were on `row`, or copies it if a comment prevents that.
    pub(super) fn term_at(&mut self, term: &'m Term, row: u32) -> Written {
        if !self.has_comments() {
            return self.term_with_parens(term, row, false);
        }
        let start = self.progress();
        let level = self.level;
        match self.term_with_parens(term, row, false) {
            Err(WriteStop::Comment) => {
                self.level = level;
                self.copy_source(start, term.span);
                Err(WriteStop::Comment)
            }
            outcome => outcome,
        }
    }

    pub(super) fn term_with_parens(&mut self, term: &'m Term, row: u32, parens: bool) -> Written {
        stack::level(|| self.term_here(term, row, parens))
    }

    fn term_here(&mut self, term: &'m Term, row: u32, parens: bool) -> Written {
        self.comments_to(row)?;
        if !self.inline {
            self.start_line();
        }
        match &term.kind {
            TermKind::Null => self.write("null"),
            TermKind::Boolean(value) => self.write(if *value { "true" } else { "false" }),
            TermKind::Number(text) => self.write(text),
            TermKind::String(text) => self.string(term, text),
            TermKind::Var(name) => self.variable(name),
            TermKind::Ref(terms) => self.reference(terms)?,
            TermKind::Array(terms) => self.array(terms, term.span)?,
            TermKind::Object(pairs) => self.object(pairs, term.span)?,
            TermKind::Set(terms) => self.set(terms, term.span)?,
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                self.comprehension(&term.kind, inner, term.span, term.span.row)?;
            }
            TermKind::Call(terms) => self.call(terms, parens)?,
            TermKind::Template(template) => self.template(template, term.span.start)?,
        }
        if !self.inline {
            self.start_line();
        }
        Ok(())
    }

    fn string(&mut self, term: &'m Term, value: &str) {
        let text = self.text(term.span);
        let text = text.trim_start_matches('(').trim_end_matches(')').trim();
        if text.starts_with(['"', '`']) && text.ends_with(['"', '`']) {
            self.write(text);
        } else {
            self.write(&quote(value));
        }
    }

    fn variable(&mut self, name: &str) {
        self.write(if name.starts_with('$') { "_" } else { name });
    }

    pub(super) fn reference(&mut self, terms: &'m [Term]) -> Written {
        let Some((head, operands)) = terms.split_first() else {
            return Ok(());
        };
        let parens =
            matches!(head.kind, TermKind::Call(_)) && self.text(head.span).starts_with('(');
        self.term_with_parens(head, head.span.row, parens)?;
        self.operands(operands)
    }

    /// Writes the operands of a reference: `.name` for names, otherwise in brackets.
    pub(super) fn operands(&mut self, operands: &'m [Term]) -> Written {
        for operand in operands {
            match &operand.kind {
                TermKind::String(key) => self.key(operand, key),
                TermKind::Var(name) => {
                    self.write("[");
                    self.variable(name);
                    self.write("]");
                }
                _ => {
                    self.write("[");
                    self.term(operand)?;
                    self.write("]");
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, term: &Term, key: &str) {
        if is_name(key) && self.may_follow_point(term, key) {
            self.write(".");
            self.write(key);
        } else {
            self.write("[");
            self.write(&quote(key));
            self.write("]");
        }
    }

    fn may_follow_point(&self, term: &Term, key: &str) -> bool {
        !is_keyword(key)
            || (self.style.keywords_in_refs
                && term.span.source != SourceId::NONE
                && !self.text(term.span).starts_with('"'))
    }

    /// Writes a template string: text as in the source, expressions formatted.
    fn template(&mut self, template: &'m Template, start: u32) -> Written {
        let delimiter = if template.multi_line { "`" } else { "\"" };
        self.write("$");
        self.write(delimiter);
        for part in &template.parts {
            match part {
                TemplatePart::Term(Term {
                    kind: TermKind::String(_),
                    span,
                }) if !self.text(*span).starts_with(['"', '`']) => {
                    let text = self.text(*span);
                    let opening = if span.start == start { 2 } else { 0 };
                    let text = text.get(opening..text.len().saturating_sub(1));
                    self.write(text.unwrap_or_default());
                }
                TemplatePart::Term(term) => {
                    self.write("{");
                    self.term(term)?;
                    self.write("}");
                }
                TemplatePart::Expr(expr) => {
                    self.write("{");
                    self.level += 1;
                    let outcome = self.expr(expr);
                    self.level = self.level.saturating_sub(1);
                    outcome?;
                    self.write("}");
                }
            }
        }
        self.write(delimiter);
        Ok(())
    }
}

fn is_name(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns `true` for words that cannot follow a dot in a reference.
fn is_keyword(word: &str) -> bool {
    let mut plain = String::new();
    let _ = write_key(&mut plain, word);
    !plain.starts_with('.')
}
