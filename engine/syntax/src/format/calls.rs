//! Writes calls and operators, with the parentheses that they need.

use crate::ast::{Term, TermKind};

use super::lines::{LineWriter, WriteStop, Written};

/// Returns the operator that a built-in is written as.
pub(super) fn infix_of(operator: &Term) -> Option<&'static str> {
    let TermKind::Ref(parts) = &operator.kind else {
        return None;
    };
    if let [name] = parts.as_slice() {
        return Some(match &**name.as_var()? {
            "assign" => ":=",
            "eq" => "=",
            "equal" => "==",
            "neq" => "!=",
            "lt" => "<",
            "lte" => "<=",
            "gt" => ">",
            "gte" => ">=",
            "plus" => "+",
            "minus" => "-",
            "mul" => "*",
            "div" => "/",
            "rem" => "%",
            "and" => "&",
            "or" => "|",
            _ => return None,
        });
    }
    is_membership(operator).then_some("in")
}

pub(super) fn is_membership(operator: &Term) -> bool {
    operator.is_operator("internal.member_2") || operator.is_operator("internal.member_3")
}

/// Returns `true` for `x in xs`. `k, x in xs` needs parentheses wherever it is a term.
fn is_pair_membership(term: &Term) -> bool {
    matches!(&term.kind, TermKind::Call(terms)
        if terms.len() == 3 && terms.first().is_some_and(|operator| operator.is_operator("internal.member_2")))
}

impl<'m> LineWriter<'m> {
    /// Writes a call that is an expression: `x in xs`, an infix operator, or a plain call.
    pub(super) fn call_expr(&mut self, terms: &'m [Term]) -> Written {
        let Some((operator, operands)) = terms.split_first() else {
            return Ok(());
        };
        if is_membership(operator) {
            return self.membership(terms, false);
        }
        let Some(infix) = infix_of(operator) else {
            return self.plain_call(terms);
        };
        match operands {
            [left, right] => {
                let joins = matches!(infix, ":=" | "=");
                let write = if joins {
                    Self::term
                } else {
                    Self::outer_operand
                };
                write(self, left)?;
                self.operator(infix);
                write(self, right)
            }
            [left, right, result] => {
                self.term(result)?;
                self.operator("=");
                self.side(left, infix, false)?;
                self.operator(infix);
                self.side(right, infix, true)
            }
            _ => Err(arity(operator, operands)),
        }
    }

    /// An operand of a call with a result, in parentheses if its operator binds less. Parsed policies have no such calls.
    fn side(&mut self, term: &'m Term, infix: &str, is_right: bool) -> Written {
        let inner = match &term.kind {
            TermKind::Call(terms) => terms.first().and_then(infix_of),
            _ => None,
        };
        let grouped = inner.is_some_and(|inner| {
            let (inner, outer) = (strength(inner), strength(infix));
            inner < outer || inner == outer && (is_right || inner == COMPARED)
        });
        if grouped {
            return self.operand(term);
        }
        self.term(term)
    }

    fn operator(&mut self, infix: &str) {
        self.write(" ");
        self.write(infix);
        self.write(" ");
    }

    pub(super) fn call(&mut self, terms: &'m [Term], parens: bool) -> Written {
        let Some((operator, operands)) = terms.split_first() else {
            return Ok(());
        };
        if is_membership(operator) {
            return self.membership(terms, true);
        }
        let Some(infix) = infix_of(operator) else {
            return self.plain_call(terms);
        };
        let [left, right] = operands else {
            return Err(arity(operator, operands));
        };
        if parens {
            self.write("(");
        }
        self.operand(left)?;
        self.operator(infix);
        self.operand(right)?;
        if parens {
            self.write(")");
        }
        Ok(())
    }

    /// Writes an operand. A membership gets parentheses, because otherwise its collection would include the operator.
    fn operand(&mut self, term: &'m Term) -> Written {
        let grouped = is_pair_membership(term);
        if grouped {
            self.write("(");
        }
        self.term_with_parens(term, term.span.row, true)?;
        if grouped {
            self.write(")");
        }
        Ok(())
    }

    /// Writes an operand of an expression's operator.
    fn outer_operand(&mut self, term: &'m Term) -> Written {
        let grouped = is_pair_membership(term);
        if grouped {
            self.write("(");
        }
        self.term(term)?;
        if grouped {
            self.write(")");
        }
        Ok(())
    }

    pub(super) fn membership(&mut self, terms: &'m [Term], parens: bool) -> Written {
        match terms {
            [_, value, domain] => {
                self.term_with_parens(value, value.span.row, true)?;
                self.operator("in");
                self.operand(domain)
            }
            [_, key, value, domain] => {
                if parens {
                    self.write("(");
                }
                self.operand(key)?;
                self.write(", ");
                self.operand(value)?;
                self.operator("in");
                self.operand(domain)?;
                if parens {
                    self.write(")");
                }
                Ok(())
            }
            [operator, operands @ ..] => Err(arity(operator, operands)),
            [] => Ok(()),
        }
    }

    fn plain_call(&mut self, terms: &'m [Term]) -> Written {
        let Some((operator, operands)) = terms.split_first() else {
            return Ok(());
        };
        match &operator.kind {
            TermKind::Ref(parts) => self.reference(parts)?,
            _ => self.term(operator)?,
        }
        self.write("(");
        self.terms(operands, None, None)?;
        self.write(")");
        Ok(())
    }
}

/// Precedence of comparisons.
const COMPARED: u8 = 2;

/// Returns the precedence of an operator; operators with a larger number bind more tightly.
fn strength(infix: &str) -> u8 {
    match infix {
        ":=" | "=" => 0,
        "in" => 1,
        "|" => 3,
        "&" => 4,
        "+" | "-" => 5,
        "*" | "/" | "%" => 6,
        _ => COMPARED,
    }
}

fn arity(operator: &Term, operands: &[Term]) -> WriteStop {
    WriteStop::Failed(format!(
        "{operator}: wrong number of operands: {}",
        operands.len()
    ))
}
