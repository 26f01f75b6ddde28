//! Columns as keys of base documents, where a number selects the key that is its text.
//!
//! Partial evaluation leaves `json.marshal(input.fruits.id, "100")` for a column that is the number written as `100`.
//! Rows have no texts of numbers, so the kind of the column decides: an integer has only one text, and other kinds are
//! not numbers. Without a declared kind, SQL compares as the database does, and the string that is compared as well
//! equals that number.

use solon_syntax::ast::{Expr, ExprKind, TermKind};
use solon_syntax::source::Span;

use super::condition::{ColumnTest, ComparisonOperator, FilterCondition, FilterOperand, Predicate};
use super::mapping::{ColumnKind, Mappings};
use super::operand::{MappedNames, column, is_collection, or, span_of};
use super::rejection::Rejection;
use super::target::FilterTarget;
use crate::partial::NUMBER_TEXT;
use crate::program::constant;
use crate::value::{NumberBuf, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct NumberLiteral {
    pub text: String,
    pub number: Value,
}

impl NumberLiteral {
    /// Parses a JSON number; `None` for other texts.
    fn of_text(text: &str) -> Option<Self> {
        Some(Self {
            text: text.to_owned(),
            number: Value::number(NumberBuf::parse(text)?),
        })
    }

    /// Returns the error for a condition that is written before [`resolve_literals`] has decided its tests.
    pub(super) fn unsettled(&self, span: Span) -> Rejection {
        Rejection::new(format!("text \"{}\" of a number", self.text), span)
    }

    /// Returns `true` for a text that an integer column may have.
    fn is_integer(&self) -> bool {
        let parsed = self.text.parse::<i128>();
        parsed.is_ok_and(|integer| integer.to_string() == self.text)
    }
}

/// Reads the test that a column is a number with a certain text. Returns `None` for other expressions.
pub(super) fn number_text_test(expr: &Expr, names: MappedNames<'_>) -> Option<ColumnTest> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    let [operator, operand, text] = terms.as_slice() else {
        return None;
    };
    let TermKind::Ref(path) = &operand.kind else {
        return None;
    };
    if !operator.is_operator(NUMBER_TEXT) || !expr.with.is_empty() {
        return None;
    }
    Some(ColumnTest {
        column: column(path, names)?,
        functions: Vec::new(),
        predicate: Predicate::NumberText(NumberLiteral::of_text(text.as_string()?)?),
        negated: expr.negated,
        span: or(span_of(operator), expr.span),
    })
}

/// Returns `Some` if an expression tests the text of a constant: `true` if it holds. Two lookups with one key leave
/// such tests.
pub(super) fn constant_result(expr: &Expr) -> Option<bool> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    let [operator, operand, text] = terms.as_slice() else {
        return None;
    };
    if !operator.is_operator(NUMBER_TEXT) || !expr.with.is_empty() {
        return None;
    }
    let (value, text) = (constant(operand)?, text.as_string()?);
    (NumberLiteral::of_text(text).is_some() && !is_collection(&value)).then(|| {
        let number = value.borrow().as_number();
        let is_written = number.is_some_and(|number| *number.to_string() == **text);
        is_written != expr.negated
    })
}

/// Returns the condition for a target: tests of texts of numbers become comparisons, or are decided.
///
/// # Errors
///
/// Columns whose numbers have no definite text.
pub fn resolve_literals(
    condition: &FilterCondition,
    target: FilterTarget,
    mappings: &Mappings,
) -> Result<FilterCondition, Rejection> {
    let FilterCondition::Any(bodies) = condition else {
        return Ok(condition.clone());
    };
    let mut resolved = Vec::with_capacity(bodies.len());
    for body in bodies {
        if let Some(tests) = settled_body(body, target, mappings)? {
            resolved.push(tests);
        }
    }
    Ok(FilterCondition::any_of(resolved))
}

/// Returns `None` for a body that never holds.
fn settled_body(
    body: &[ColumnTest],
    target: FilterTarget,
    mappings: &Mappings,
) -> Result<Option<Vec<ColumnTest>>, Rejection> {
    let mut tests = Vec::with_capacity(body.len());
    for test in body {
        let Predicate::NumberText(literal) = &test.predicate else {
            tests.push(test.clone());
            continue;
        };
        if equals_number(test, literal, target, mappings)? {
            let number = FilterOperand::Value(literal.number.clone());
            tests.push(ColumnTest {
                predicate: Predicate::Compare(ComparisonOperator::Eq, number),
                ..test.clone()
            });
        } else if !test.negated {
            return Ok(None);
        }
    }
    Ok(Some(tests))
}

/// Returns `true` if a column has the text whenever it equals the number, and `false` if it never has the text.
fn equals_number(
    test: &ColumnTest,
    literal: &NumberLiteral,
    target: FilterTarget,
    mappings: &Mappings,
) -> Result<bool, Rejection> {
    let declaration = mappings.declaration(&test.column);
    Ok(match declaration.map(|declaration| declaration.kind) {
        Some(ColumnKind::Integer) => literal.is_integer(),
        Some(ColumnKind::Text | ColumnKind::Boolean) => false,
        Some(ColumnKind::Decimal) => {
            let message = format!(
                "decimal column `{}` as the key \"{}\" of `data`: expected a column of integers or texts",
                test.column.name, literal.text
            );
            return Err(Rejection::new(message, test.span));
        }
        // other texts of the number may only exclude rows
        None => !target.is_sql() && (literal.is_integer() || test.negated),
    })
}
