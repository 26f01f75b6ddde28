//! Checks of parsed rules: the restrictions of v1, and those on default rules.

use super::errors::Report;
use crate::ast::visit::{Descent, Visitor, Walk};
use crate::ast::{Head, Rule, Term, TermKind};

/// Keywords that a rule was written with.
#[derive(Clone, Copy, Default)]
pub(super) struct Keyword {
    pub is_if: bool,
    pub is_contains: bool,
}

/// Returns the errors that v1 reports about a rule, without its `else` chain.
pub(super) fn complaints(rule: &Rule, keyword: Keyword) -> Vec<Report> {
    let mut complaints = Vec::new();
    let mut complain = |message: String| {
        complaints.push(Report {
            span: rule.span,
            message,
        });
    };
    let head = &rule.head;
    let kind = if head.args.is_empty() {
        "rule"
    } else {
        "function"
    };
    let has_body = !rule.body.iter().all(|expr| expr.generated);
    if let (Some(name), 0..2) = (&head.name, head.reference.len())
        && is_keyword(name)
    {
        complain(format!("{name} keyword cannot be used for rule name"));
    }
    if !rule.default && !has_body && head.generated_value {
        complain(format!(
            "{kind} must have value assignment and/or body declaration"
        ));
    }
    if !rule.default && has_body && !keyword.is_if {
        complain(format!("`if` keyword is required before {kind} body"));
    }
    if head.value.is_none() && !keyword.is_contains {
        complain("`contains` keyword is required for partial set rules".to_owned());
    }
    complaints
}

/// Returns `true` for words that v1 reserves.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "package"
            | "import"
            | "as"
            | "default"
            | "else"
            | "not"
            | "some"
            | "with"
            | "null"
            | "true"
            | "false"
            | "in"
            | "every"
            | "contains"
            | "if"
    )
}

/// Reports a default rule whose value is not constant or whose arguments are not distinct variables.
pub(super) fn default_rule(head: &Head, mut complain: impl FnMut(String)) {
    let Some(value) = &head.value else {
        complain("illegal default rule (must have a value)".to_owned());
        return;
    };
    value.walk(&mut Constant {
        complain: &mut complain,
    });
    let mut names: Vec<&str> = Vec::new();
    for argument in &head.args {
        match argument.as_var() {
            Some(name) if names.contains(&&**name) => {
                complain(format!(
                    "illegal default rule (arguments cannot be repeated {name})"
                ));
            }
            Some(name) => names.push(name),
            None => complain(format!(
                "illegal default rule (arguments cannot contain {})",
                argument.kind.name()
            )),
        }
    }
}

/// Reports terms that a constant cannot contain. Comprehensions may contain any term.
struct Constant<'c> {
    complain: &'c mut dyn FnMut(String),
}

impl<'a> Visitor<'a> for Constant<'_> {
    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::ArrayComprehension(_)
            | TermKind::ObjectComprehension(_)
            | TermKind::SetComprehension(_) => Descent::Over,
            TermKind::Ref(_) | TermKind::Var(_) | TermKind::Call(_) => {
                (self.complain)(format!(
                    "illegal default rule (value cannot contain {})",
                    term.kind.name()
                ));
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}
