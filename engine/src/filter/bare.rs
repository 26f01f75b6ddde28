//! Columns as expressions, `input.fruits.organic`, and columns read by `object.get(input.fruits, "organic", d)`.
//!
//! In SQL the kind of such a column must be declared: most databases treat 0 as false, but it is a number, which is
//! true in Rego. Interpreters of UCAST distinguish booleans from numbers.
//!
//! A row has all of its columns, so `object.get` never returns its default, and a column as an expression fails only
//! for `false`: NULL is `null`, which is not `false`. OPA rejects both, so both are read only if
//! [`Names::functions`] is set.

use std::borrow::Cow;

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut as _};
use solon_syntax::ast::{Body, Expr, ExprKind, Ref, Term, TermKind};

use super::check::is_alone;
use super::mapping::ColumnKind;
use super::operand::{MappedNames, column, span_of};

/// Returns an expression with the columns that `object.get` reads as references, and one that is a column as its comparison
/// with `false`. Other expressions are returned as they are.
pub(super) fn as_comparison<'e>(expr: &'e Expr, names: MappedNames<'_>) -> Cow<'e, Expr> {
    if !names.functions || !expr.with.is_empty() {
        return Cow::Borrowed(expr);
    }
    let mut rewritten = expr.clone();
    rewritten.walk_mut(&mut Lookups(names));
    if let ExprKind::Call(terms) = &rewritten.kind {
        match lookup_of_call(terms, names) {
            Some((reference, [])) => rewritten.kind = ExprKind::Term(reference),
            Some((reference, [value])) => {
                let span = span_of(&reference);
                let equation = vec![Term::operator("eq", span), reference, value.clone()];
                rewritten.kind = ExprKind::Call(equation);
            }
            _ => {}
        }
    }
    if let ExprKind::Term(term) = &rewritten.kind
        && is_unknown_column(term, names)
        && has_kind(term, names)
    {
        let span = span_of(term);
        // `not` makes it an equation, which targets without negation accept
        let operator = if rewritten.negated { "eq" } else { "neq" };
        let no = Term::new(TermKind::Boolean(false), span);
        rewritten.kind = ExprKind::Call(vec![Term::operator(operator, span), term.clone(), no]);
        rewritten.negated = false;
    }
    Cow::Owned(rewritten)
}

/// Returns `true` for an equation of a row or a column with a generated variable that is used nowhere else. It holds for
/// every row.
pub(super) fn is_presence(expr: &Expr, body: &Body, names: MappedNames<'_>) -> bool {
    let is_alone = |term: &Term| {
        let name = term.as_var().filter(|name| name.starts_with("__local"));
        name.is_some_and(|name| is_alone(name, body))
    };
    let is_there = |term: &Term| match &term.kind {
        TermKind::Ref(path) => {
            covers(names.unknowns, path) && (path.len() == 2 || column(path, names).is_some())
        }
        _ => false,
    };
    let operands = expr.operands_of("eq");
    names.functions
        && !expr.negated
        && expr.with.is_empty()
        && operands.is_some_and(|operands| match operands {
            [left, right] => is_alone(left) && is_there(right) || is_alone(right) && is_there(left),
            _ => false,
        })
}

/// Returns the column that a call of `object.get` reads, and the operands after its arguments.
fn lookup_of_call<'t>(terms: &'t [Term], names: MappedNames<'_>) -> Option<(Term, &'t [Term])> {
    let [operator, object, key, _, rest @ ..] = terms else {
        return None;
    };
    if !operator.is_operator("object.get") {
        return None;
    }
    let mut path: Ref = match &object.kind {
        TermKind::Ref(path) => path.clone(),
        TermKind::Var(_) => vec![object.clone()],
        _ => return None,
    };
    match &key.kind {
        TermKind::Array(steps) => path.extend(steps.iter().cloned()),
        _ => path.push(key.clone()),
    }
    let reference = Term::new(TermKind::Ref(path), operator.span);
    is_unknown_column(&reference, names).then_some((reference, rest))
}

/// Returns `true` for a reference to a column of an unknown row. Columns of known input are values.
fn is_unknown_column(term: &Term, names: MappedNames<'_>) -> bool {
    let TermKind::Ref(path) = &term.kind else {
        return false;
    };
    covers(names.unknowns, path) && column(path, names).is_some()
}

/// Returns `true` if every SQL target declares the column's kind. With `exact`, each kind has its own condition;
/// otherwise only boolean columns compare with `false` as in Rego, and other kinds are rejected.
fn has_kind(term: &Term, names: MappedNames<'_>) -> bool {
    let TermKind::Ref(path) = &term.kind else {
        return false;
    };
    let Some(column) = column(path, names) else {
        return false;
    };
    let mut targets = names.targets.iter().filter(|(target, _)| target.is_sql());
    targets.all(|(_, mappings)| {
        let declaration = mappings.declaration(&column);
        names.exact
            || declaration.is_some_and(|declaration| declaration.kind == ColumnKind::Boolean)
    })
}

/// Returns `true` if a reference is unknown as a whole: an unknown is a prefix of it.
fn covers(unknowns: &[Ref], path: &[Term]) -> bool {
    unknowns.iter().any(|unknown| path.starts_with(unknown))
}

/// Replaces the calls of `object.get` within terms.
struct Lookups<'n>(MappedNames<'n>);

impl VisitorMut for Lookups<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        let TermKind::Call(terms) = &term.kind else {
            return Descent::Into;
        };
        let Some((reference, [])) = lookup_of_call(terms, self.0) else {
            return Descent::Into;
        };
        term.kind = reference.kind;
        Descent::Over
    }
}
