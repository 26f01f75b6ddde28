//! The operands of what a policy compares.

use std::borrow::Cow;

use solon_syntax::ast::{Expr, ExprKind, Name, Ref, Term, TermKind};
use solon_syntax::source::Span;

use super::column_functions::{ColumnFunction, made};
use super::condition::Column;
use super::mapping::Mappings;
use super::rejection::Rejection;
use super::target::FilterTarget;
use crate::program::constant;
use crate::value::Value;

/// What a mapping lets policies name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'n> {
    /// The columns that it lets the policy name without their tables.
    pub shorts: &'n [String],
    /// The paths below tables that it makes columns of: the table, and the steps with slashes before them.
    pub paths: &'n [(String, String)],
    /// Whether functions of columns are read.
    pub functions: bool,
    /// The references that are unknown.
    pub unknowns: &'n [Ref],
    /// Whether the kinds of all columns must be declared, and every condition is exact.
    pub exact: bool,
    /// The targets with their mappings, which may declare the kinds of columns.
    pub targets: &'n [(FilterTarget, Mappings)],
}

/// A side of an operator.
pub(super) enum Side {
    /// A column, and what is made of it.
    Column(Column, Vec<ColumnFunction>),
    /// A value.
    Value(Value),
    /// A variable.
    Var(Name),
    /// What has no value yet.
    Open,
}

pub(super) fn is_collection(value: &Value) -> bool {
    let value = value.borrow();
    value.as_array().is_some() || value.as_set().is_some() || value.as_object().is_some()
}

/// The operator of an operand, and where it stands.
pub(super) struct OperandContext<'s> {
    pub operator: &'s str,
    pub sign: Span,
    pub expr: Span,
}

impl OperandContext<'_> {
    /// What is wrong with an operand. An operator that has no place of its own is looked for where the operand is.
    fn reject(&self, what: &str, operand: &Term, own: Span) -> Rejection {
        let message = format!("{}: {what} operand: {operand}", self.operator);
        Rejection::new(message, or(self.sign, or(own, self.expr)))
    }
}

pub(super) fn side(
    term: &Term,
    at: &OperandContext<'_>,
    names: Names<'_>,
) -> Result<Side, Rejection> {
    let invalid = || Err(at.reject("invalid ref", term, span_of(term)));
    match &term.kind {
        TermKind::Call(terms) => {
            if let Some((column, through)) = made(terms, names).filter(|_| names.functions) {
                return Ok(Side::Column(column, through));
            }
            let inner = terms.first().map_or(Span::default(), span_of);
            Err(at.reject("nested call", term, inner))
        }
        TermKind::Ref(terms) => {
            column(terms, names).map_or_else(invalid, |it| Ok(Side::Column(it, Vec::new())))
        }
        TermKind::Var(name) if matches!(&**name, "input" | "data") => invalid(),
        TermKind::Var(name) => Ok(Side::Var(name.clone())),
        _ => Ok(constant(term).map_or(Side::Open, Side::Value)),
    }
}

/// The column that a reference names: `input.<table>.<column>`, `input.<short>`, or a path that a mapping makes a column of.
pub(super) fn column(terms: &[Term], names: Names<'_>) -> Option<Column> {
    let (head, steps) = terms.split_first()?;
    if head.as_var().is_none_or(|name| &**name != "input") {
        return None;
    }
    let name = |term: &Term| {
        let name = term.as_string()?;
        (!name.is_empty() && !name.contains('\0')).then(|| name.to_string())
    };
    match steps {
        [table, column] => Some(Column {
            table: Some(name(table)?),
            name: name(column)?,
        }),
        [short] => {
            let name = name(short)?;
            names
                .shorts
                .contains(&name)
                .then_some(Column { table: None, name })
        }
        [table, steps @ ..] => {
            let table = name(table)?;
            let mut path = String::new();
            for step in steps {
                path.push('/');
                path.push_str(&name(step)?);
            }
            let known = names.paths.iter();
            let known = known.filter(|(of, known)| *of == table && *known == path);
            (known.count() > 0).then_some(Column {
                table: Some(table),
                name: path,
            })
        }
        [] => None,
    }
}

/// Where a term stands, or what it begins with.
pub(super) fn span_of(term: &Term) -> Span {
    match &term.kind {
        _ if term.span.is_somewhere() => term.span,
        TermKind::Ref(terms) => terms.first().map_or(term.span, |head| head.span),
        _ => term.span,
    }
}

pub(super) fn or(place: Span, other: Span) -> Span {
    if place.is_somewhere() { place } else { other }
}

/// What is made of a column and unified with another term, `lower(input.fruits.name, "a")`, as an equation of both. Behind
/// `not` it stays: there what has no value passes, which no test of a column says.
pub(super) fn unified<'e>(expr: &'e Expr, names: Names<'_>) -> Cow<'e, Expr> {
    let terms = match &expr.kind {
        ExprKind::Call(terms) if names.functions && !expr.negated => terms,
        _ => return Cow::Borrowed(expr),
    };
    let Some((result, call)) = terms.split_last().filter(|(_, call)| call.len() > 1) else {
        return Cow::Borrowed(expr);
    };
    if made(call, names).is_none() {
        return Cow::Borrowed(expr);
    }
    let place = call.first().map_or(expr.span, |head| head.span);
    let call = Term::new(TermKind::Call(call.to_vec().into()), place);
    let mut made = expr.clone();
    made.kind = ExprKind::Call(vec![Term::operator("eq", place), call, result.clone()]);
    Cow::Owned(made)
}
