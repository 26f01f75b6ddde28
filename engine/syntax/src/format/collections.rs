//! Collections, argument lists and comprehensions.

use crate::ast::visit::{Descent, Terms, Walk};
use crate::ast::{Comprehension, Expr, Term, TermKind};
use crate::source::{SourceId, Span};
use crate::stack;

use super::brackets::closing_row;
use super::calls::infix_of;
use super::lines::{LineWriter, WriteStop, Written};

trait ListEntry: Walk {
    /// Span whose start is the element's position.
    fn start_span(&self) -> Span;

    /// Returns the row on which the element starts.
    fn row(&self) -> u32 {
        self.start_span().row
    }

    /// Returns `true` if the element contains a term without a location in OPA: a generated variable, what a program has made, or the
    /// `0` of
    /// `-x`.
    fn is_generated(&self) -> bool {
        let mut generated = false;
        self.walk(&mut Terms(|term: &Term| {
            generated = generated
                || term
                    .as_var()
                    .is_some_and(|name| name.starts_with("__local"))
                || term.span.source == SourceId::NONE
                || is_negation(term);
            if generated {
                Descent::Over
            } else {
                Descent::Into
            }
        }));
        generated
    }
}

impl ListEntry for Term {
    fn start_span(&self) -> Span {
        self.span
    }
}

impl ListEntry for (Term, Term) {
    fn start_span(&self) -> Span {
        self.0.span
    }

    fn is_generated(&self) -> bool {
        false
    }
}

impl ListEntry for Expr {
    fn start_span(&self) -> Span {
        self.span
    }
}

/// Splits a list before each element that starts on a lower row than the previous one.
fn lines<T: ListEntry>(entries: &[T]) -> Vec<&[T]> {
    let breaks = entries
        .windows(2)
        .any(|pair| matches!(pair, [one, next] if next.row() > one.row()));
    if !breaks || entries.iter().any(ListEntry::is_generated) {
        return vec![entries];
    }
    entries
        .chunk_by(|current, next| next.row() <= current.row())
        .collect()
}

/// Returns `true` for `-x`, which is `0 - x` with the location of the minus sign for the `0`.
fn is_negation(term: &Term) -> bool {
    matches!(&term.kind, TermKind::Call(terms)
        if matches!(terms.as_slice(), [operator, zero, _] if operator.span == zero.span && operator.is_operator("minus")))
}

fn is_union(term: &Term) -> bool {
    matches!(&term.kind, TermKind::Call(terms) if terms.first().and_then(infix_of) == Some("|"))
}

impl<'m> LineWriter<'m> {
    /// Returns the row on which the first bracket of a span closes.
    pub(super) fn closing(&self, span: Span, open: u8, close: u8) -> Option<u32> {
        closing_row(self.text(span), open, close).map(|rows| span.row + rows)
    }

    pub(super) fn array(&mut self, terms: &'m [Term], span: Span) -> Written {
        self.write("[");
        let close = self.closing(span, b'[', b']');
        self.list(terms, Some(span), close, Self::collected)?;
        self.write("]");
        Ok(())
    }

    pub(super) fn set(&mut self, terms: &'m [Term], span: Span) -> Written {
        if terms.is_empty() {
            self.write("set()");
            return match self.closing(span, b'(', b')') {
                Some(row) => self.comments_to(row),
                None => Ok(()),
            };
        }
        self.write("{");
        let close = self.closing(span, b'{', b'}');
        self.list(terms, Some(span), close, Self::collected)?;
        self.write("}");
        Ok(())
    }

    pub(super) fn object(&mut self, pairs: &'m [(Term, Term)], span: Span) -> Written {
        self.write("{");
        let close = self.closing(span, b'{', b'}');
        self.list(pairs, Some(span), close, |writer, (key, value)| {
            writer.collected(key)?;
            writer.write(": ");
            writer.collected(value)
        })?;
        self.write("}");
        Ok(())
    }

    /// Writes terms separated by commas. A break before the first one counts if `open` is the row of the bracket.
    pub(super) fn terms(
        &mut self,
        terms: &'m [Term],
        open: Option<Span>,
        close: Option<u32>,
    ) -> Written {
        self.list(terms, open, close, Self::element)
    }

    /// Writes an element. A union keeps its parentheses.
    fn element(&mut self, term: &'m Term) -> Written {
        let grouped = is_union(term) && self.text(term.span).starts_with('(');
        self.grouped_term(term, grouped)
    }

    /// Writes an element of a collection. A union gets parentheses, because its bar would read as that of a
    /// comprehension.
    fn collected(&mut self, term: &'m Term) -> Written {
        self.grouped_term(term, is_union(term))
    }

    fn grouped_term(&mut self, term: &'m Term, grouped: bool) -> Written {
        if grouped {
            self.write("(");
        }
        self.term(term)?;
        if grouped {
            self.write(")");
        }
        Ok(())
    }

    /// Returns `true` if a line break precedes the first occurrence of an entry's text in the text around it.
    fn is_below(&self, enclosing: Span, entry: Span) -> bool {
        let text = self.text(enclosing);
        let entry = self.text(entry);
        text.find(entry)
            .and_then(|offset| text.get(..offset))
            .is_some_and(|before| before.contains('\n'))
    }

    fn list<T: ListEntry>(
        &mut self,
        entries: &'m [T],
        open: Option<Span>,
        close: Option<u32>,
        write: impl Fn(&mut Self, &'m T) -> Written,
    ) -> Written {
        let lines = lines(entries);
        let breaks_after_bracket = entries
            .first()
            .is_some_and(|first| open.is_some_and(|open| self.is_below(open, first.start_span())));
        let several = breaks_after_bracket || lines.len() > 1;
        if lines.len() <= 1 && self.has_comment_between(open.map(|open| open.row), close) {
            return Err(WriteStop::Comment);
        }
        if several {
            self.delay = true;
            self.start_indented();
        }
        let count = lines.len();
        for (line_index, line) in lines.into_iter().enumerate() {
            for (entry_index, entry) in line.iter().enumerate() {
                if entry_index > 0 {
                    self.write(", ");
                }
                write(self, entry)?;
            }
            if several {
                self.write(",");
                self.end_line();
                if line_index + 1 < count {
                    self.start_line();
                }
            }
        }
        if let Some(row) = close {
            self.comments_to(row)?;
        }
        if several {
            self.end_indented();
        }
        Ok(())
    }

    /// Returns `true` if a comment has a row of its own between two brackets. A list without line breaks has no line
    /// for it.
    fn has_comment_between(&self, open: Option<u32>, close: Option<u32>) -> bool {
        match (open, close, self.pending()) {
            (Some(open), Some(close), Some(comment)) => {
                (open + 1..close).contains(&comment.span.row)
            }
            _ => false,
        }
    }

    pub(super) fn comprehension(
        &mut self,
        kind: &TermKind,
        inner: &'m Comprehension,
        span: Span,
        open_row: u32,
    ) -> Written {
        let (open, close) = match kind {
            TermKind::ArrayComprehension(_) => ('[', ']'),
            _ => ('{', '}'),
        };
        self.out.push(open);
        let row = match &inner.key {
            Some(key) => {
                self.term(key)?;
                self.write(": ");
                open_row
            }
            None => {
                if inner.head.span.row > open_row {
                    self.end_line();
                    self.start_line();
                }
                inner.head.span.row
            }
        };
        let parens = matches!(inner.head.kind, TermKind::Call(_))
            && self.text(inner.head.span).starts_with('(');
        let head_row = inner
            .key
            .as_ref()
            .map_or(inner.head.span.row, |key| key.span.row);
        match (&inner.key, &inner.head.kind) {
            // like OPA, takes the value for one that starts on the row of the outer bracket
            (
                Some(_),
                TermKind::ArrayComprehension(value)
                | TermKind::SetComprehension(value)
                | TermKind::ObjectComprehension(value),
            ) => {
                self.comments_to(head_row)?;
                let head = &inner.head;
                stack::level(|| self.comprehension(&head.kind, value, head.span, open_row))?;
            }
            _ => self.term_with_parens(&inner.head, head_row, parens)?,
        }
        self.write(" |");
        let end = self.closing(span, open as u8, close as u8);
        self.nested_body(&inner.body, row, end)?;
        self.out.push(close);
        Ok(())
    }

    /// Writes a body on the current line if it starts on `row` and has no line breaks, and otherwise on separate lines.
    pub(super) fn nested_body(
        &mut self,
        body: &'m [Expr],
        row: u32,
        close: Option<u32>,
    ) -> Written {
        let one_line =
            lines(body).len() == 1 && body.first().is_some_and(|first| first.row() == row);
        if one_line {
            self.write(" ");
            for (index, expr) in body.iter().enumerate() {
                if index > 0 {
                    self.write("; ");
                }
                self.expr(expr)?;
            }
            return match close {
                Some(row) => self.comments_to(row),
                None => Ok(()),
            };
        }
        self.end_line();
        self.level += 1;
        let result = self.body(body);
        let result = result.and_then(|()| match close {
            Some(row) => self.comments_to(row),
            None => Ok(()),
        });
        self.level = self.level.saturating_sub(1);
        result?;
        self.start_line();
        Ok(())
    }
}
