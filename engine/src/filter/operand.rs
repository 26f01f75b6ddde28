//! Operands of comparisons in a policy.

use std::borrow::Cow;

use solon_syntax::ast::{Expr, ExprKind, Name, Ref, Term, TermKind};
use solon_syntax::source::Span;

use super::column_functions::{ColumnFunction, read_functions};
use super::condition::ColumnName;
use super::mapping::Mappings;
use super::rejection::Rejection;
use super::target::FilterTarget;
use crate::program::constant;
use crate::value::Value;

/// Names that policies may use, given the mappings.
#[derive(Clone, Copy, Debug, Default)]
pub struct MappedNames<'n> {
    /// Columns that the policy may name without their tables.
    pub shorts: &'n [String],
    /// Paths below tables that are columns: the table, and the steps, each with a leading slash.
    pub paths: &'n [(String, String)],
    /// `true` if functions of columns are read.
    pub functions: bool,
    /// Unknown references.
    pub unknowns: &'n [Ref],
    /// `true` if the kinds of all columns must be declared and every condition is exact.
    pub exact: bool,
    /// Targets with their mappings, which may declare the kinds of columns.
    pub targets: &'n [(FilterTarget, Mappings)],
}

/// An operand of a comparison.
pub(super) enum Side {
    /// A column, and the functions applied to it.
    Column(ColumnName, Vec<ColumnFunction>),
    /// A value.
    Value(Value),
    /// A variable.
    Var(Name),
    /// A term without a known value.
    Open,
}

pub(super) fn is_collection(value: &Value) -> bool {
    let value = value.borrow();
    value.as_array().is_some() || value.as_set().is_some() || value.as_object().is_some()
}

/// Context of an operand: its operator and source location.
pub(super) struct OperandContext<'s> {
    pub operator: &'s str,
    pub sign: Span,
    pub expr: Span,
}

impl OperandContext<'_> {
    /// Returns the rejection of an operand. If the operator has no location, uses the one of the operand.
    fn reject(&self, what: &str, operand: &Term, own: Span) -> Rejection {
        let message = format!("{}: {what} operand: {operand}", self.operator);
        Rejection::new(message, or(self.sign, or(own, self.expr)))
    }
}

pub(super) fn side(
    term: &Term,
    at: &OperandContext<'_>,
    names: MappedNames<'_>,
) -> Result<Side, Rejection> {
    let invalid = || Err(at.reject("invalid ref", term, span_of(term)));
    match &term.kind {
        TermKind::Call(terms) => {
            if let Some((column, through)) =
                read_functions(terms, names).filter(|_| names.functions)
            {
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

/// Returns the column that a reference names: `input.<table>.<column>`, `input.<short>`, or a path that a mapping makes
/// a column.
pub(super) fn column(terms: &[Term], names: MappedNames<'_>) -> Option<ColumnName> {
    let (head, steps) = terms.split_first()?;
    if head.as_var().is_none_or(|name| &**name != "input") {
        return None;
    }
    let name = |term: &Term| {
        let name = term.as_string()?;
        (!name.is_empty() && !name.contains('\0')).then(|| name.to_string())
    };
    match steps {
        [table, column] => Some(ColumnName {
            table: Some(name(table)?),
            name: name(column)?,
        }),
        [short] => {
            let name = name(short)?;
            names
                .shorts
                .contains(&name)
                .then_some(ColumnName { table: None, name })
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
            (known.count() > 0).then_some(ColumnName {
                table: Some(table),
                name: path,
            })
        }
        [] => None,
    }
}

/// Returns the location of a term. A reference without a location has that of its head.
pub(super) fn span_of(term: &Term) -> Span {
    match &term.kind {
        _ if term.span.is_somewhere() => term.span,
        TermKind::Ref(terms) => terms.first().map_or(term.span, |head| head.span),
        _ => term.span,
    }
}

pub(super) fn or(span: Span, other: Span) -> Span {
    if span.is_somewhere() { span } else { other }
}

/// Rewrites a call with an output operand, `lower(input.fruits.name, "a")`, as an equation. Under `not` it stays: there
/// an undefined call passes, which no test of a column expresses.
pub(super) fn unified<'e>(expr: &'e Expr, names: MappedNames<'_>) -> Cow<'e, Expr> {
    let terms = match &expr.kind {
        ExprKind::Call(terms) if names.functions && !expr.negated => terms,
        _ => return Cow::Borrowed(expr),
    };
    let Some((result, call)) = terms.split_last().filter(|(_, call)| call.len() > 1) else {
        return Cow::Borrowed(expr);
    };
    if read_functions(call, names).is_none() {
        return Cow::Borrowed(expr);
    }
    let place = call.first().map_or(expr.span, |head| head.span);
    let call = Term::new(TermKind::Call(call.to_vec().into()), place);
    let mut made = expr.clone();
    made.kind = ExprKind::Call(vec![Term::operator("eq", place), call, result.clone()]);
    Cow::Owned(made)
}
