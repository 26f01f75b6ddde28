//! Writes rules and their `else` chains.

use crate::ast::{Expr, ExprKind, Rule, TermKind};

use super::brackets::{closing_row, closing_row_after};
use super::lines::{LineWriter, RuleMode, WriteStop, Written};

/// Returns `true` if the body is only `true`, explicit or implied.
pub(super) fn is_constant(rule: &Rule) -> bool {
    matches!(
        rule.body.as_slice(),
        [Expr { kind: ExprKind::Term(term), negated: false, with, .. }]
            if with.is_empty() && matches!(term.kind, TermKind::Boolean(true))
    ) && rule.else_rule.is_none()
}

impl<'m> LineWriter<'m> {
    pub(super) fn rules(&mut self, rules: &[&'m Rule]) -> Written {
        let mut rules = rules.iter().peekable();
        while let Some(rule) = rules.next() {
            let modes = self
                .modes
                .get(self.starts.len())
                .copied()
                .unwrap_or_default();
            self.starts.push(self.out.len());
            self.ignoring_comments(|writer| writer.comments_to(rule.span.row))?;
            let mut last = rule;
            match modes {
                RuleMode::Formatted => self.ignoring_comments(|writer| writer.rule(rule))?,
                RuleMode::CommentsAbove => {
                    // a comment on the first row of the rule comes first
                    self.comments_before(rule.span.end);
                    self.ignoring_comments(|writer| writer.rule(rule))?;
                }
                RuleMode::Verbatim => {
                    self.start_line();
                    let mut span = rule.span;
                    // further bodies with the same head
                    while let Some(next) =
                        rules.next_if(|next| self.text(next.span).starts_with('{'))
                    {
                        self.starts.push(self.out.len());
                        span.end = next.span.end;
                        last = next;
                    }
                    let start = self.progress();
                    self.copy_source(start, span);
                }
            }
            let adjoins = rules.peek().is_some_and(|next| {
                next.span.row == last.span.row + 1
                    && self.is_one_liner(last)
                    && self.is_one_liner(next)
            });
            if !adjoins {
                self.blank_line();
            } else if self.inline {
                self.end_line();
            }
        }
        Ok(())
    }

    /// Calls `write` and returns its result. A stop at a comment is not an error here: the caller copies the part from the source.
    /// Other stops are returned.
    pub(super) fn ignoring_comments(
        &mut self,
        write: impl FnOnce(&mut Self) -> Written,
    ) -> Written {
        match write(self) {
            Err(WriteStop::Comment) => Ok(()),
            outcome => outcome,
        }
    }

    /// Returns `true` if adjacent rules need no blank line between them and this rule.
    fn is_one_liner(&self, rule: &Rule) -> bool {
        rule.body.len() <= 1
            && !rule.default
            && rule.else_rule.is_none()
            && self.style.uses_if()
            && (self.style.contains || rule.head.value.is_some())
            && !is_bare_set(&rule.body)
    }

    fn rule(&mut self, rule: &'m Rule) -> Written {
        self.start_line();
        if rule.default {
            self.write("default ");
        }
        let mut member = Some(rule);
        let mut is_else = false;
        while let Some(rule) = member {
            let braces = self.member(rule, is_else)?;
            member = rule.else_rule.as_deref();
            if let Some(next) = member {
                self.else_start(rule, next, braces)?;
                is_else = true;
            }
        }
        Ok(())
    }

    /// Writes a rule without its `else` chain. Returns `true` if it ends with a brace.
    fn member(&mut self, rule: &'m Rule, is_else: bool) -> Result<bool, WriteStop> {
        let constant = is_constant(rule);
        self.body_follows = !constant;
        let outcome = self.head(rule, is_else, constant);
        self.body_follows = false;
        let unexpected = matches!(outcome, Err(WriteStop::Comment));
        self.ignoring_comments(|_| outcome)?;
        if constant {
            return Ok(false);
        }
        let partial_set = rule.head.value.is_none() && !self.style.contains;
        if self.style.uses_if() && !partial_set {
            self.write(" if");
            if let [expr] = rule.body.as_slice()
                && expr.span.row == self.last_row(rule.head.span)
                && !is_bare_set(&rule.body)
            {
                self.write(" ");
                self.expr(expr)?;
                return Ok(false);
            }
        }
        if unexpected && self.has_comments() {
            self.write(" { ");
        } else {
            self.write(" {");
            self.end_line();
        }
        self.level += 1;
        self.body(&rule.body)?;
        let closing = self.closing_row(rule);
        if let Some(row) = closing {
            self.ignoring_comments(|writer| writer.comments_to(row))?;
        }
        self.end_indented();
        self.write("}");
        Ok(true)
    }

    /// Returns the row of the brace that ends the body.
    fn closing_row(&self, rule: &Rule) -> Option<u32> {
        let text = self.text(rule.span);
        let rows = if !rule.head.args.is_empty() {
            closing_row_after(text, (b'(', b')'), b'{', b'}')
        } else if rule.head.key.is_some() {
            closing_row_after(text, (b'[', b']'), b'{', b'}')
        } else {
            closing_row(text, b'{', b'}')
        };
        rows.map(|rows| rule.span.row + rows)
    }

    /// Starts the line of an `else`, or continues the line of the brace before it.
    fn else_start(&mut self, rule: &'m Rule, next: &'m Rule, braces: bool) -> Written {
        let row = next.span.row;
        let line = self
            .text(rule.span)
            .split('\n')
            .nth(row.saturating_sub(rule.span.row) as usize);
        let inline = braces
            && row > rule.span.row
            && line.is_some_and(|line| !line.trim_start().starts_with("else"));
        let commented = self.before_end.is_some()
            || self
                .pending()
                .is_some_and(|comment| comment.span.row < next.head.span.row);
        if inline && !commented {
            self.write(" ");
        } else {
            self.blank_line();
            self.start_line();
        }
        self.ignoring_comments(|writer| writer.comments_to(next.head.span.row))?;
        if commented && !inline {
            self.start_line();
        }
        Ok(())
    }
}

fn is_bare_set(body: &[Expr]) -> bool {
    matches!(
        body,
        [Expr { kind: ExprKind::Term(term), negated: false, .. }] if matches!(term.kind, TermKind::Set(_))
    )
}
