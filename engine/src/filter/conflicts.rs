//! Rules that may give one row several values. Evaluation fails for such a row, so no filter may keep it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut as _};
use solon_syntax::ast::{Body, Name, Term, TermKind};

use super::check::read;
use super::condition::{ColumnName, ColumnTest, ComparisonOperator, FilterOperand, Predicate};
use super::operand::MappedNames;
use super::rejection::Rejection;
use crate::partial::{Choice, Way, has_variables};
use crate::program::constant;
use crate::value::{Value, ValueRef};

/// Rejects choices between values that are not known to exclude each other.
pub fn conflicts(choices: &[Choice], names: MappedNames<'_>) -> Vec<Rejection> {
    let mut refusals: Vec<Rejection> = Vec::new();
    for choice in choices {
        let ways: Vec<ReadableWay<'_>> = choice
            .ways
            .iter()
            .map(|way| ReadableWay::of_way(way, names))
            .collect();
        let rivals = Rivals::among(&ways);
        for (at, way) in ways.iter().enumerate() {
            let others = rivals
                .conflicting_with(way)
                .iter()
                .filter(|other| **other > at);
            let mut others = others.filter_map(|other| ways.get(*other));
            let Some(other) = others.find(|other| may_conflict(way, other)) else {
                continue;
            };
            let message = format!(
                "rules may conflict for a row: values {} and {}",
                way.value, other.value
            );
            let refusal = Rejection::new(message, other.way.span);
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }
    refusals
}

/// Index of the ways that may conflict with each other. Ways that all require a value of one column conflict only with
/// ways that require the same value, so that a thousand rules need no quadratic comparison.
struct Rivals<'w> {
    column: Option<&'w ColumnName>,
    groups: BTreeMap<Option<&'w Value>, Vec<usize>>,
}

impl<'w> Rivals<'w> {
    fn among(ways: &'w [ReadableWay<'_>]) -> Self {
        let first = ways.first().map_or(&[][..], |way| way.tests.as_slice());
        let mut columns = first.iter().map(|test| &test.column);
        let column =
            columns.find(|column| ways.iter().all(|way| way.required_value(column).is_some()));
        let mut groups: BTreeMap<Option<&Value>, Vec<usize>> = BTreeMap::new();
        let same = ways.first().and_then(|way| way.constant.as_ref());
        if same.is_some() && ways.iter().all(|way| way.constant.as_ref() == same) {
            return Self { column, groups };
        }
        for (at, way) in ways.iter().enumerate() {
            let value = column.and_then(|column| way.required_value(column));
            groups.entry(value).or_default().push(at);
        }
        Self { column, groups }
    }

    /// Returns the indices of the ways that may conflict with `way`, including its own.
    fn conflicting_with(&self, way: &'w ReadableWay<'_>) -> &[usize] {
        let value = self.column.and_then(|column| way.required_value(column));
        self.groups.get(&value).map_or(&[], Vec::as_slice)
    }
}

/// A way to get a value, with the tests that could be read.
struct ReadableWay<'w> {
    way: &'w Way,
    value: Term,
    /// The value, if it is constant.
    constant: Option<Value>,
    keys: Vec<Option<Value>>,
    tests: Vec<ColumnTest>,
}

impl<'w> ReadableWay<'w> {
    fn of_way(way: &'w Way, names: MappedNames<'_>) -> Self {
        // tests that cannot be read do not exclude anything
        let names = MappedNames {
            functions: false,
            ..names
        };
        let defined = definitions(&way.body);
        let mut body = way.body.clone();
        let mut value = way.value.clone();
        if !defined.is_empty() {
            body.walk_mut(&mut Substitution(&defined));
            value.walk_mut(&mut Substitution(&defined));
        }
        let tests = body.iter();
        let tests = tests.filter_map(|expr| read(expr, &body, names).ok());
        Self {
            way,
            constant: constant(&value),
            value,
            keys: way.keys.iter().map(constant).collect(),
            tests: tests.collect(),
        }
    }

    /// Returns the only value of a column that passes.
    fn required_value(&self, column: &ColumnName) -> Option<&Value> {
        self.tests.iter().find_map(|test| match &test.predicate {
            Predicate::Compare(ComparisonOperator::Eq, FilterOperand::Value(value))
                if !test.negated && test.column == *column =>
            {
                Some(value)
            }
            Predicate::NumberText(written) if !test.negated && test.column == *column => {
                Some(&written.number)
            }
            _ => None,
        })
    }
}

/// Returns the variables that equations of a body define by terms without variables.
fn definitions(body: &Body) -> BTreeMap<Name, Term> {
    let mut names = BTreeMap::new();
    for expr in body
        .iter()
        .filter(|expr| !expr.negated && expr.with.is_empty())
    {
        let Some([left, right]) = expr.operands_of("eq") else {
            continue;
        };
        for (name, term) in [(left, right), (right, left)] {
            let Some(name) = name.as_var().filter(|_| has_variables(name)) else {
                continue;
            };
            if matches!(term.kind, TermKind::Ref(_)) && !has_variables(term) {
                names.entry(name.clone()).or_insert_with(|| term.clone());
            }
        }
    }
    names
}

/// Replaces variables by their definitions.
struct Substitution<'n>(&'n BTreeMap<Name, Term>);

impl VisitorMut for Substitution<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        let Some(stands) = term.as_var().and_then(|name| self.0.get(name)) else {
            return Descent::Into;
        };
        term.kind = stands.kind.clone();
        Descent::Over
    }
}

fn may_conflict(one: &ReadableWay<'_>, other: &ReadableWay<'_>) -> bool {
    // a variable may have another value in each solution
    let same = match (&one.constant, &other.constant) {
        (Some(one), Some(other)) => one == other,
        _ => one.value == other.value && !has_variables(&one.value),
    };
    if same {
        return false;
    }
    let mut keys = one.keys.iter().zip(&other.keys);
    if keys.any(|(one, other)| one.is_some() && other.is_some() && one != other) {
        return false;
    }
    let excluded = |test: &ColumnTest| other.tests.iter().any(|other| excludes(test, other));
    !one.tests.iter().any(excluded)
}

/// Returns `true` if no row passes both tests.
fn excludes(one: &ColumnTest, other: &ColumnTest) -> bool {
    if one.column != other.column {
        return false;
    }
    if one.predicate == other.predicate && one.negated != other.negated {
        return true;
    }
    if let (Predicate::NumberText(first), Predicate::NumberText(second)) =
        (&one.predicate, &other.predicate)
        && !one.negated
        && !other.negated
    {
        return first != second;
    }
    if let (Some(few), _) | (_, Some(few)) = (values(one), values(other)) {
        let both = |value| one.passes(value) != Some(false) && other.passes(value) != Some(false);
        return !few.into_iter().any(both);
    }
    match (as_comparison(one), as_comparison(other)) {
        (Some((first, low)), Some((second, high))) if low == high => {
            !(first.accepts(Ordering::Less) && second.accepts(Ordering::Less)
                || first.accepts(Ordering::Equal) && second.accepts(Ordering::Equal)
                || first.accepts(Ordering::Greater) && second.accepts(Ordering::Greater))
        }
        (Some((first, FilterOperand::Value(low))), Some((second, FilterOperand::Value(high)))) => {
            let below =
                |comparison| matches!(comparison, ComparisonOperator::Lt | ComparisonOperator::Lte);
            let above =
                |comparison| matches!(comparison, ComparisonOperator::Gt | ComparisonOperator::Gte);
            below(first) && above(second) && low < high
                || above(first) && below(second) && high < low
        }
        _ => false,
    }
}

/// Returns the only values that pass, if they can be enumerated.
fn values(test: &ColumnTest) -> Option<Vec<ValueRef<'_>>> {
    match (&test.predicate, test.negated) {
        (Predicate::Compare(ComparisonOperator::Eq, FilterOperand::Value(value)), false)
        | (Predicate::Compare(ComparisonOperator::Ne, FilterOperand::Value(value)), true) => {
            Some(vec![value.borrow()])
        }
        (Predicate::NumberText(written), false) => Some(vec![written.number.borrow()]),
        (Predicate::In(values), false) => Some(values.iter().map(|value| value.borrow()).collect()),
        _ => None,
    }
}

/// Returns the comparison that a test is equivalent to.
fn as_comparison(test: &ColumnTest) -> Option<(ComparisonOperator, &FilterOperand)> {
    let Predicate::Compare(comparison, operand) = &test.predicate else {
        return None;
    };
    let comparison = if test.negated {
        comparison.opposite()
    } else {
        *comparison
    };
    Some((comparison, operand))
}
