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
    pub unknowns: &'n [Ref],
    /// `true` if the kinds of all columns must be declared and every condition is exact.
    pub exact: bool,
    /// Targets with their mappings, which may declare the kinds of columns.
    pub targets: &'n [(FilterTarget, Mappings)],
}

pub(super) enum Side {
    Column(ColumnName, Vec<ColumnFunction>),
    Value(Value),
    Var(Name),
    /// A term without a known value.
    Open,
}

/// Returns `true` if a value is an array, a set or an object.
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
    fn reject(&self, problem: &str, operand: &Term, span: Span) -> Rejection {
        let message = format!("{}: {problem} operand: {operand}", self.operator);
        Rejection::new(message, or(self.sign, or(span, self.expr)))
    }
}

/// Reads an operand: a column with the functions applied to it, a variable, a constant, or [`Side::Open`] for any other
/// term.
///
/// # Errors
///
/// A rejection of a reference that is not a column, and of a call that is not a function of a column.
pub(super) fn side(
    term: &Term,
    context: &OperandContext<'_>,
    names: MappedNames<'_>,
) -> Result<Side, Rejection> {
    let invalid = || Err(context.reject("invalid ref", term, span_of(term)));
    match &term.kind {
        TermKind::Call(terms) => {
            if let Some((column, functions)) =
                read_functions(terms, names).filter(|_| names.functions)
            {
                return Ok(Side::Column(column, functions));
            }
            let inner = terms.first().map_or(Span::default(), span_of);
            Err(context.reject("nested call", term, inner))
        }
        TermKind::Ref(terms) => column(terms, names).map_or_else(invalid, |column_name| {
            Ok(Side::Column(column_name, Vec::new()))
        }),
        TermKind::Var(name) if matches!(&**name, "input" | "data") => invalid(),
        TermKind::Var(name) => Ok(Side::Var(name.clone())),
        _ => Ok(constant(term).map_or(Side::Open, Side::Value)),
    }
}

/// Returns the column that a reference names: `input.<table>.<column>`, `input.<short>`, or a path that a mapping makes a
/// column. Returns `None` for any other reference, and for names that are empty or contain NUL.
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
            let matching = names.paths.iter();
            let matching = matching
                .filter(|(table_path, column_path)| *table_path == table && *column_path == path);
            (matching.count() > 0).then_some(ColumnName {
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

/// Returns `span` if it is a location, otherwise `other`.
pub(super) fn or(span: Span, other: Span) -> Span {
    if span.is_somewhere() { span } else { other }
}

/// Rewrites a call with an output operand, `lower(input.fruits.name, "a")`, as an equation. Under `not` it stays: there
/// an undefined call passes, which no test of a column expresses.
pub(super) fn as_equation<'e>(expr: &'e Expr, names: MappedNames<'_>) -> Cow<'e, Expr> {
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
    let span = call.first().map_or(expr.span, |head| head.span);
    let call = Term::new(TermKind::Call(call.to_vec().into()), span);
    let mut equation = expr.clone();
    equation.kind = ExprKind::Call(vec![Term::operator("eq", span), call, result.clone()]);
    Cow::Owned(equation)
}
