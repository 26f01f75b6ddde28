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
    let mut rejections: Vec<Rejection> = Vec::new();
    for choice in choices {
        let alternatives: Vec<ReadableWay<'_>> = choice
            .ways
            .iter()
            .map(|alternative| ReadableWay::of_way(alternative, names))
            .collect();
        let rivals = Rivals::group(&alternatives);
        for (index, alternative) in alternatives.iter().enumerate() {
            let rivals_after = rivals
                .conflicting_with(alternative)
                .iter()
                .filter(|other| **other > index);
            let mut rivals_after = rivals_after.filter_map(|other| alternatives.get(*other));
            let Some(other) = rivals_after.find(|other| may_conflict(alternative, other)) else {
                continue;
            };
            let message = format!(
                "rules may conflict for a row: values {} and {}",
                alternative.value, other.value
            );
            let rejection = Rejection::new(message, other.way.span);
            if !rejections.contains(&rejection) {
                rejections.push(rejection);
            }
        }
    }
    rejections
}

/// Index of the ways that may conflict with each other. Ways that all require a value of one column conflict only with
/// ways that require the same value, so that a thousand rules need no quadratic comparison.
struct Rivals<'w> {
    column: Option<&'w ColumnName>,
    groups: BTreeMap<Option<&'w Value>, Vec<usize>>,
}

impl<'w> Rivals<'w> {
    fn group(alternatives: &'w [ReadableWay<'_>]) -> Self {
        let first = alternatives
            .first()
            .map_or(&[][..], |alternative| alternative.tests.as_slice());
        let mut columns = first.iter().map(|test| &test.column);
        let column = columns.find(|column| {
            alternatives
                .iter()
                .all(|alternative| alternative.required_value(column).is_some())
        });
        let mut groups: BTreeMap<Option<&Value>, Vec<usize>> = BTreeMap::new();
        let constant = alternatives
            .first()
            .and_then(|alternative| alternative.constant.as_ref());
        if constant.is_some()
            && alternatives
                .iter()
                .all(|alternative| alternative.constant.as_ref() == constant)
        {
            return Self { column, groups };
        }
        for (index, alternative) in alternatives.iter().enumerate() {
            let value = column.and_then(|column| alternative.required_value(column));
            groups.entry(value).or_default().push(index);
        }
        Self { column, groups }
    }

    /// Returns the indices of the ways that may conflict with `alternative`, including its own.
    fn conflicting_with(&self, alternative: &'w ReadableWay<'_>) -> &[usize] {
        let value = self
            .column
            .and_then(|column| alternative.required_value(column));
        self.groups.get(&value).map_or(&[], Vec::as_slice)
    }
}

/// A way to get a value, with the tests that could be read.
struct ReadableWay<'w> {
    way: &'w Way,
    value: Term,
    constant: Option<Value>,
    keys: Vec<Option<Value>>,
    tests: Vec<ColumnTest>,
}

impl<'w> ReadableWay<'w> {
    fn of_way(alternative: &'w Way, names: MappedNames<'_>) -> Self {
        // tests that cannot be read do not exclude anything
        let names = MappedNames {
            functions: false,
            ..names
        };
        let defined = definitions(&alternative.body);
        let mut body = alternative.body.clone();
        let mut value = alternative.value.clone();
        if !defined.is_empty() {
            body.walk_mut(&mut Substitution(&defined));
            value.walk_mut(&mut Substitution(&defined));
        }
        let tests = body.iter();
        let tests = tests.filter_map(|expr| read(expr, &body, names).ok());
        Self {
            way: alternative,
            constant: constant(&value),
            value,
            keys: alternative.keys.iter().map(constant).collect(),
            tests: tests.collect(),
        }
    }

    /// Returns the only value of a column that passes, or `None` if several may.
    fn required_value(&self, column: &ColumnName) -> Option<&Value> {
        self.tests.iter().find_map(|test| match &test.predicate {
            Predicate::Compare(ComparisonOperator::Eq, FilterOperand::Value(value))
                if !test.negated && test.column == *column =>
            {
                Some(value)
            }
            Predicate::NumberText(literal) if !test.negated && test.column == *column => {
                Some(&literal.number)
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
        let Some(replacement) = term.as_var().and_then(|name| self.0.get(name)) else {
            return Descent::Into;
        };
        term.kind = replacement.kind.clone();
        Descent::Over
    }
}

fn may_conflict(first: &ReadableWay<'_>, second: &ReadableWay<'_>) -> bool {
    // a variable may have another value in each solution
    let same_value = match (&first.constant, &second.constant) {
        (Some(left), Some(right)) => left == right,
        _ => first.value == second.value && !has_variables(&first.value),
    };
    if same_value {
        return false;
    }
    let mut keys = first.keys.iter().zip(&second.keys);
    if keys.any(|(left, right)| left.is_some() && right.is_some() && left != right) {
        return false;
    }
    let excluded = |test: &ColumnTest| {
        second
            .tests
            .iter()
            .any(|rival_test| excludes(test, rival_test))
    };
    !first.tests.iter().any(excluded)
}

/// Returns `true` if no row passes both tests.
fn excludes(first: &ColumnTest, second: &ColumnTest) -> bool {
    if first.column != second.column {
        return false;
    }
    if first.predicate == second.predicate && first.negated != second.negated {
        return true;
    }
    if let (Predicate::NumberText(first_literal), Predicate::NumberText(second_literal)) =
        (&first.predicate, &second.predicate)
        && !first.negated
        && !second.negated
    {
        return first_literal != second_literal;
    }
    if let (Some(candidates), _) | (_, Some(candidates)) = (values(first), values(second)) {
        let passes_both =
            |value| first.passes(value) != Some(false) && second.passes(value) != Some(false);
        return !candidates.into_iter().any(passes_both);
    }
    match (as_comparison(first), as_comparison(second)) {
        (Some((first, low)), Some((second, high))) if low == high => {
            !(first.accepts(Ordering::Less) && second.accepts(Ordering::Less)
                || first.accepts(Ordering::Equal) && second.accepts(Ordering::Equal)
                || first.accepts(Ordering::Greater) && second.accepts(Ordering::Greater))
        }
        (Some((first, FilterOperand::Value(low))), Some((second, FilterOperand::Value(high)))) => {
            let is_upper_bound =
                |comparison| matches!(comparison, ComparisonOperator::Lt | ComparisonOperator::Lte);
            let is_lower_bound =
                |comparison| matches!(comparison, ComparisonOperator::Gt | ComparisonOperator::Gte);
            is_upper_bound(first) && is_lower_bound(second) && low < high
                || is_lower_bound(first) && is_upper_bound(second) && high < low
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
        (Predicate::NumberText(literal), false) => Some(vec![literal.number.borrow()]),
        (Predicate::In(values), false) => Some(values.iter().map(|value| value.borrow()).collect()),
        _ => None,
    }
}

/// Returns the comparison that a test is equivalent to, or `None` for other tests.
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
