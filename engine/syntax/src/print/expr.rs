//! Displays expressions and bodies as Rego.

use std::fmt::{self, Display};

use super::term::{write_call, write_list};
use crate::ast::{Every, Expr, ExprKind, Logical, Not, SomeDecl, TermKind, With};
use crate::stack;

/// Displays a body: its expressions, joined by `; `.
pub fn display_body(body: &[Expr]) -> DisplayBody<'_> {
    DisplayBody(body)
}

/// Displays a body. Returned by [`display_body`].
#[derive(Clone, Copy, Debug)]
pub struct DisplayBody<'a>(&'a [Expr]);

impl fmt::Display for DisplayBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, expr) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            expr.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("not ")?;
        }
        self.kind.fmt(f)?;
        for with in &self.with {
            f.write_str(" ")?;
            with.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for ExprKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Term(term) => term.fmt(f),
            Self::Call(terms) => match terms.as_slice() {
                [operator, left, right] if operator.is_operator("eq") => {
                    write!(f, "{left} = {right}")
                }
                terms => write_call(f, terms),
            },
            Self::Some(some) => some.fmt(f),
            Self::Every(every) => every.fmt(f),
            Self::Not(not) => not.fmt(f),
            Self::And(logical) => write_logical(f, logical, Operator::And),
            Self::Or(logical) => write_logical(f, logical, Operator::Or),
        }
    }
}

impl fmt::Display for SomeDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("some ")?;
        if let [membership] = self.symbols.as_slice()
            && let TermKind::Call(terms) = &membership.kind
        {
            match terms.as_slice() {
                [_, element, domain] => return write!(f, "{element} in {domain}"),
                [_, key, element, domain] => return write!(f, "{key}, {element} in {domain}"),
                _ => {}
            }
        }
        write_list(f, &self.symbols)
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every ")?;
        if let Some(key) = &self.key {
            key.fmt(f)?;
            f.write_str(", ")?;
        }
        self.value.fmt(f)?;
        f.write_str(" in ")?;
        self.domain.fmt(f)?;
        f.write_str(" { ")?;
        display_body(&self.body).fmt(f)?;
        f.write_str(" }")
    }
}

impl fmt::Display for Not {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not ")?;
        let (open, close) = match self.body.as_slice() {
            [only] if !self.explicit_body => {
                let grouped = matches!(only.kind, ExprKind::And(_) | ExprKind::Or(_))
                    || !only.with.is_empty();
                if grouped { ("(", ")") } else { ("", "") }
            }
            _ => ("{", "}"),
        };
        f.write_str(open)?;
        display_body(&self.body).fmt(f)?;
        f.write_str(close)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

fn write_logical(f: &mut fmt::Formatter<'_>, logical: &Logical, operator: Operator) -> fmt::Result {
    stack::level(|| write_operand(f, &logical.lhs, logical.explicit_lhs, operator, Side::Left))?;
    f.write_str(match operator {
        Operator::And => " and ",
        Operator::Or => " or ",
    })?;
    write_operand(f, &logical.rhs, logical.explicit_rhs, operator, Side::Right)
}

fn write_operand(
    f: &mut fmt::Formatter<'_>,
    body: &[Expr],
    explicit: bool,
    operator: Operator,
    side: Side,
) -> fmt::Result {
    let (open, close) = match body {
        [only] if !explicit => {
            let grouped = match only.kind {
                ExprKind::Or(_) => operator == Operator::And || side == Side::Right,
                ExprKind::And(_) => operator == Operator::And && side == Side::Right,
                _ => false,
            };
            if grouped || !only.with.is_empty() {
                ("(", ")")
            } else {
                ("", "")
            }
        }
        _ => ("{ ", " }"),
    };
    f.write_str(open)?;
    display_body(body).fmt(f)?;
    f.write_str(close)
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {} as {}", self.target, self.value)
    }
}
