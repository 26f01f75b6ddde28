//! Writes `and`, `or` and the composite `not`.

use crate::ast::{Body, Expr, ExprKind, Logical, Not};
use crate::source::Span;
use crate::stack;

use super::lines::{LineWriter, Written, newlines};

#[derive(Clone, Copy, PartialEq, Eq)]
enum LogicOperator {
    And,
    Or,
}

impl LogicOperator {
    fn text(self) -> &'static str {
        match self {
            Self::And => " and",
            Self::Or => " or",
        }
    }

    fn from_expr(expr: &Expr) -> Option<(Self, &Logical)> {
        match &expr.kind {
            ExprKind::And(logical) => Some((Self::And, logical)),
            ExprKind::Or(logical) => Some((Self::Or, logical)),
            _ => None,
        }
    }
}

struct ChainOperand<'m> {
    body: &'m Body,
    explicit: bool,
    /// `true` for the right operand of its connective.
    right: bool,
}

impl<'m> LineWriter<'m> {
    pub(super) fn logical(&mut self, expr: &'m Expr) -> Written {
        let Some((operator, _)) = LogicOperator::from_expr(expr) else {
            return Ok(());
        };
        let mut operands = Vec::new();
        let mut current = expr;
        while let Some((operator_of_expr, logical)) = LogicOperator::from_expr(current) {
            if operator_of_expr != operator
                || (!std::ptr::eq(current, expr) && !current.with.is_empty())
            {
                break;
            }
            operands.push(ChainOperand {
                body: &logical.rhs,
                explicit: logical.explicit_rhs,
                right: true,
            });
            match logical.lhs.as_slice() {
                [leftmost]
                    if !logical.explicit_lhs
                        && leftmost.with.is_empty()
                        && LogicOperator::from_expr(leftmost)
                            .is_some_and(|(nested, _)| nested == operator) =>
                {
                    current = leftmost;
                }
                _ => {
                    operands.push(ChainOperand {
                        body: &logical.lhs,
                        explicit: logical.explicit_lhs,
                        right: false,
                    });
                    break;
                }
            }
        }
        operands.reverse();
        let mut indented = false;
        let mut from = expr.span.start;
        let mut end: Option<u32> = None;
        for operand in operands {
            let Some(first) = operand.body.first() else {
                continue;
            };
            let row = if operand.explicit {
                first
                    .span
                    .row
                    .saturating_sub(self.brace_before(from, first).rows)
            } else {
                first.span.row
            };
            if let Some(end) = end {
                self.write(operator.text());
                if row > end {
                    if !indented {
                        indented = true;
                        self.level += 1;
                    }
                    self.end_line();
                    self.start_line();
                } else {
                    self.write(" ");
                }
            }
            self.operand_of(&operand, operator, from)?;
            let last = operand.body.last().unwrap_or(first).span;
            (from, end) = if operand.explicit {
                self.brace_after(last)
            } else {
                (last.end, Some(self.last_row(last)))
            };
        }
        if indented {
            self.level = self.level.saturating_sub(1);
        }
        Ok(())
    }

    /// Returns the brace that opens the body of an expression, searched from the offset `from`.
    fn brace_before(&self, from: u32, first: &Expr) -> Brace {
        let before = self
            .source
            .text
            .get(from as usize..first.span.start as usize);
        let before = before.unwrap_or_default();
        let offset = position_of(before, b'{').unwrap_or(before.len());
        Brace {
            start: from + u32::try_from(offset).unwrap_or(0),
            rows: before.get(offset..).map_or(0, newlines),
        }
    }

    /// Returns the end and the row of the brace that closes a body, given the span of the body's last expression.
    fn brace_after(&self, last: Span) -> (u32, Option<u32>) {
        let after = self
            .source
            .text
            .get(last.end as usize..)
            .unwrap_or_default();
        let offset = position_of(after, b'}').unwrap_or(0);
        let rows = after.get(..offset).map_or(0, newlines);
        (
            last.end + u32::try_from(offset).unwrap_or(0),
            Some(self.last_row(last) + rows),
        )
    }

    fn operand_of(
        &mut self,
        operand: &ChainOperand<'m>,
        operator: LogicOperator,
        from: u32,
    ) -> Written {
        if operand.explicit {
            return self.braces(operand.body, from);
        }
        let Some(expr) = operand.body.first() else {
            return Ok(());
        };
        let grouped = match LogicOperator::from_expr(expr) {
            Some((LogicOperator::Or, _)) => operator == LogicOperator::And || operand.right,
            Some((LogicOperator::And, _)) => operator == LogicOperator::And && operand.right,
            None => false,
        } || !expr.with.is_empty()
            || self.starts_with_brace(expr);
        self.group(expr, grouped)
    }

    /// Returns `true` if an operand would parse as a body without parentheses.
    fn starts_with_brace(&self, expr: &Expr) -> bool {
        if expr.negated
            || matches!(expr.kind, ExprKind::Not(_))
            || LogicOperator::from_expr(expr).is_some()
        {
            return false;
        }
        let text = self.text(expr.span);
        text.trim_start_matches(|c: char| c == '(' || c.is_whitespace())
            .starts_with('{')
    }

    fn group(&mut self, expr: &'m Expr, parens: bool) -> Written {
        if parens {
            self.write("(");
        }
        stack::level(|| self.expr(expr))?;
        if parens {
            self.write(")");
        }
        Ok(())
    }

    pub(super) fn not(&mut self, not: &'m Not, expr: &'m Expr) -> Written {
        self.write("not ");
        if not.explicit_body {
            return self.braces(&not.body, expr.span.start);
        }
        let Some(inner) = not.body.first() else {
            return Ok(());
        };
        let grouped = LogicOperator::from_expr(inner).is_some()
            || !inner.with.is_empty()
            || inner.negated
            || matches!(inner.kind, ExprKind::Not(_))
            || self.text_after_not(inner).starts_with('{');
        self.group(inner, grouped)
    }

    /// Returns the text that an implicit `not` negates. Its expression has the location of the whole negation.
    fn text_after_not(&self, inner: &Expr) -> &'m str {
        let text = self.text(inner.span);
        text.strip_prefix("not")
            .unwrap_or(text)
            .trim_start_matches(|c: char| c == '(' || c.is_whitespace())
    }

    /// Writes a body in braces, on one line if it was on one line in the source.
    fn braces(&mut self, body: &'m Body, from: u32) -> Written {
        let Some(first) = body.first() else {
            return Ok(());
        };
        let brace = self.brace_before(from, first);
        let text = self
            .source
            .text
            .get(brace.start as usize..)
            .unwrap_or_default();
        let row = first.span.row.saturating_sub(brace.rows);
        let close = super::brackets::closing_row(text, b'{', b'}').map(|rows| row + rows);
        self.write("{");
        let one_line = body.iter().all(|expr| expr.span.row == row);
        self.nested_body(body, row, close)?;
        if one_line {
            self.write(" ");
        }
        self.write("}");
        Ok(())
    }
}

struct Brace {
    start: u32,
    /// Rows from the brace to the start of the body's text.
    rows: u32,
}

/// Returns the first position of a byte outside of comments.
fn position_of(text: &str, target: u8) -> Option<usize> {
    let mut comment = false;
    text.bytes().position(|byte| {
        match byte {
            b'\n' => comment = false,
            b'#' => comment = true,
            _ => {}
        }
        byte == target && !comment
    })
}
