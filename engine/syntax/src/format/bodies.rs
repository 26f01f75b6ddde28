//! Bodies, expressions, declarations and modifiers.

use crate::ast::{Every, Expr, ExprKind, SomeDecl, TermKind, With};
use crate::stack;

use super::lines::{LineWriter, Written};

impl<'m> LineWriter<'m> {
    pub(super) fn body(&mut self, body: &'m [Expr]) -> Written {
        if let Some(first) = body.first() {
            self.ignoring_comments(|writer| writer.comments_to(first.span.row))?;
        }
        let mut last: Option<&Expr> = None;
        for expr in body {
            if last.is_some_and(|last| expr.span.row > self.last_row(last.span) + 1) {
                self.blank_line();
            }
            self.start_line();
            self.ignoring_comments(|writer| writer.expr(expr))?;
            self.end_line();
            last = Some(expr);
        }
        Ok(())
    }

    pub(super) fn expr(&mut self, expr: &'m Expr) -> Written {
        stack::level(|| self.expr_here(expr))
    }

    fn expr_here(&mut self, expr: &'m Expr) -> Written {
        self.comments_to(expr.span.row)?;
        if !self.inline {
            self.start_line();
        }
        if expr.negated {
            self.write("not ");
        }
        match &expr.kind {
            ExprKind::Some(some) => self.some(some)?,
            ExprKind::Every(every) => self.every(every)?,
            ExprKind::Call(terms) => self.call_expr(terms)?,
            ExprKind::Term(term) => self.term(term)?,
            ExprKind::Not(not) => self.not(not, expr)?,
            ExprKind::And(_) | ExprKind::Or(_) => self.logical(expr)?,
        }
        self.modifiers(expr)
    }

    fn modifiers(&mut self, expr: &'m Expr) -> Written {
        let mut indented = false;
        let mut row = None;
        let mut result = Ok(());
        for with in &expr.with {
            let on_same_row = match row {
                Some(row) => with.span.row == row,
                None => with.span.row <= self.row_before(with),
            };
            row = Some(with.span.row);
            if !on_same_row {
                if !indented {
                    indented = true;
                    self.level += 1;
                }
                self.end_line();
                self.start_line();
            }
            result = self.modifier(with, on_same_row);
        }
        if indented {
            self.level = self.level.saturating_sub(1);
        }
        result
    }

    /// Returns the row on which the text before a modifier ends.
    fn row_before(&self, with: &With) -> u32 {
        let before = self
            .source
            .text
            .get(..with.span.start as usize)
            .unwrap_or_default();
        let blank = before.len() - before.trim_end().len();
        let newlines = before
            .get(before.len() - blank..)
            .map_or(0, super::lines::newlines);
        with.span.row.saturating_sub(newlines)
    }

    fn modifier(&mut self, with: &'m With, on_same_row: bool) -> Written {
        self.comments_to(with.span.row)?;
        if on_same_row {
            self.write(" ");
        }
        self.write("with ");
        self.term(&with.target)?;
        self.write(" as ");
        self.term(&with.value)
    }

    fn some(&mut self, some: &'m SomeDecl) -> Written {
        self.comments_to(some.span.row)?;
        self.write("some ");
        let mut row = some.span.row;
        let last = some.symbols.len().saturating_sub(1);
        for (index, term) in some.symbols.iter().enumerate() {
            if let TermKind::Call(terms) = &term.kind {
                self.membership(terms, false)?;
                continue;
            }
            if term.span.row > row {
                self.end_line();
                self.start_line();
                self.write("\t");
                row = term.span.row;
            } else if index > 0 {
                self.write(" ");
            }
            self.term(term)?;
            if index < last {
                self.write(",");
            }
        }
        Ok(())
    }

    fn every(&mut self, every: &'m Every) -> Written {
        self.comments_to(every.span.row)?;
        self.write("every ");
        if let Some(key) = &every.key {
            self.term(key)?;
            self.write(", ");
        }
        self.term(&every.value)?;
        self.write(" in ");
        self.term(&every.domain)?;
        self.write(" {");
        let row = every.span.row;
        let close = self.closing(every.span, b'{', b'}');
        self.nested_body(&every.body, row, close)?;
        if let [only] = every.body.as_slice()
            && only.span.row == row
            && self.others.is_empty()
        {
            self.write(" ");
        }
        self.write("}");
        Ok(())
    }
}
