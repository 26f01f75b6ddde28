//! Writes heads of rules.

use crate::ast::visit::{Descent, Terms, Walk};
use crate::ast::{Head, Rule, Term, TermKind};

use super::calls::infix_of;
use super::lines::{LineWriter, Written};

impl<'m> LineWriter<'m> {
    pub(super) fn head(&mut self, rule: &'m Rule, is_else: bool, constant: bool) -> Written {
        let head = &rule.head;
        if is_else {
            self.write("else");
        } else {
            self.head_reference(head)?;
            if !head.args.is_empty() {
                self.write("(");
                let close = self.closing(head.span, b'(', b')');
                self.terms(&head.args, Some(head.span), close)?;
                self.write(")");
            }
            if let (Some(key), None) = (&head.key, &head.value) {
                if self.style.contains {
                    self.write(" contains ");
                    self.term(key)?;
                } else {
                    self.write("[");
                    self.term(key)?;
                    self.write("]");
                }
            }
        }
        self.value(rule, is_else, constant)
    }

    fn head_reference(&mut self, head: &'m Head) -> Written {
        match head.reference.as_slice() {
            [name, key] if !self.style.ref_heads => {
                if let Some(name) = name.as_var() {
                    self.write(name);
                }
                self.write("[");
                self.head_key(key)?;
                self.write("]");
                Ok(())
            }
            reference => self.reference(reference),
        }
    }

    fn value(&mut self, rule: &'m Rule, is_else: bool, constant: bool) -> Written {
        let head = &rule.head;
        let Some(value) = &head.value else {
            return Ok(());
        };
        let is_true = matches!(value.kind, TermKind::Boolean(true));
        let has_key = head.key.is_some() && !is_else;
        if is_true && !has_key && !constant && !rule.default {
            return Ok(());
        }
        // an implied value has the span of its head
        let implied = is_true && value.span == head.span && !is_else;
        if implied && !(constant && self.style.v1 && head.args.is_empty()) {
            return Ok(());
        }
        self.write(if head.assign || self.style.v1 {
            " := "
        } else {
            " = "
        });
        self.head_value(value, head, is_else)
    }

    fn head_value(&mut self, value: &'m Term, head: &Head, is_else: bool) -> Written {
        if head.generated_value {
            self.write("true");
            return Ok(());
        }
        let row = if is_else {
            head.span.row
        } else {
            value.span.row
        };
        self.term_at(value, row)
    }

    /// Writes the key of a two-part head in the notation of [`crate::print`]. Operators have no such notation that
    /// parses.
    fn head_key(&mut self, key: &'m Term) -> Written {
        if calls_operator(key) {
            return self.term(key);
        }
        let text = key.to_string();
        self.write(&text);
        Ok(())
    }
}

fn calls_operator(term: &Term) -> bool {
    let mut occurs = false;
    term.walk(&mut Terms(|term: &Term| {
        occurs = occurs
            || matches!(&term.kind, TermKind::Call(terms) if terms.first().is_some_and(|operator| infix_of(operator).is_some()));
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}
