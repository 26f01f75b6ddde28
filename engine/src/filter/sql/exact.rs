//! Exact conditions: they keep exactly the rows for which the policy is true, for every table that matches its
//! declaration.
//!
//! In SQL, comparisons with NULL are unknown, collations fold case and pad, and each database has its own comparison of
//! different kinds. Here, the declared kind of a column decides which values it is compared with at all. NULL is tested
//! explicitly where `null` passes in Rego. Texts are compared by code point independent of their collation.

use std::cmp::Ordering;

use super::SqlWriter;
use crate::filter::column_functions::{Linear, Solved};
use crate::filter::condition::{
    ColumnName, ColumnTest, ComparisonOperator, FilterOperand, Predicate, SubstringPosition,
};
use crate::filter::mapping::{ColumnDeclaration, ColumnKind};
use crate::filter::rejection::Rejection;
use crate::value::{Repr, Value, json};

/// Conditions that are always true and always false.
pub(super) const TRUE: &str = "1 = 1";
pub(super) const FALSE: &str = "0 = 1";

/// Outcome of a test for NULL and for other values.
pub(super) struct NullAwareOutcome {
    /// Condition for values; `None` if no value passes, an empty string if all do.
    pub value: Option<String>,
    /// `true` if NULL passes the condition.
    pub null: bool,
}

impl SqlWriter<'_> {
    /// Writes a test that holds for exactly the rows for which it is true in Rego.
    ///
    /// # Errors
    ///
    /// A rejection if the mapping does not declare a column of the test, or if the dialect cannot express the test exactly.
    pub(super) fn exact(&mut self, test: &ColumnTest) -> Result<(), Rejection> {
        let declaration = self.declaration(test, &test.column)?;
        let column = self.column_text(&test.column);
        let cases = match &test.predicate {
            Predicate::Compare(comparison, operand) => {
                let comparison = if test.negated {
                    comparison.opposite()
                } else {
                    *comparison
                };
                match operand {
                    FilterOperand::Value(value) => {
                        self.compare_exactly(test, declaration, &column, comparison, value)?
                    }
                    FilterOperand::Column(other) => {
                        let text = self.columns(test, declaration, &column, comparison, other)?;
                        self.text(&text);
                        return Ok(());
                    }
                }
            }
            Predicate::In(values) => self.listed(test, declaration, &column, values)?,
            Predicate::Affix(affix, part) => {
                self.affixed(test, declaration, &column, *affix, part)?
            }
            // not a comparison of a column with a constant
            Predicate::Part(..) => return self.function(test),
            Predicate::NumberText(literal) => return Err(literal.unsettled(test.span)),
            Predicate::Present => NullAwareOutcome {
                value: Some(String::new()),
                null: true,
            },
        };
        let text = cases.text(&column, declaration.nullable);
        self.text(&text);
        Ok(())
    }

    /// Returns the declaration of a column, or a rejection if the mapping has none.
    pub(super) fn declaration(
        &self,
        test: &ColumnTest,
        column: &ColumnName,
    ) -> Result<ColumnDeclaration, Rejection> {
        self.mappings.declaration(column).ok_or_else(|| {
            let name = self.mappings.name(column).segments.join(".");
            let expected = "`kind`, `nullable` and, of texts, `collation`";
            let message = format!("exact: the mapping does not declare column {name}: {expected}");
            Rejection::new(message, test.span)
        })
    }

    fn compare_exactly(
        &mut self,
        test: &ColumnTest,
        declaration: ColumnDeclaration,
        column: &str,
        comparison: ComparisonOperator,
        value: &Value,
    ) -> Result<NullAwareOutcome, Rejection> {
        if *value == Value(Repr::Null) {
            // every other value is greater than null
            return Ok(NullAwareOutcome {
                value: comparison.accepts(Ordering::Greater).then(String::new),
                null: comparison.accepts(Ordering::Equal),
            });
        }
        let null = comparison.accepts(Ordering::Less);
        let kind = ColumnKind::of_value(value);
        if kind.rank() != declaration.kind.rank() {
            let order = declaration.kind.rank().cmp(&kind.rank());
            return Ok(NullAwareOutcome {
                value: comparison.accepts(order).then(String::new),
                null,
            });
        }
        let value = if kind == ColumnKind::Text {
            self.compared_texts(test, column, comparison, value)?
        } else if declaration.kind == ColumnKind::Integer {
            let value = self.integers(test, column, Linear::IDENTITY, comparison, value)?;
            return Ok(NullAwareOutcome { value, null });
        } else {
            let literal = self.value_text(test, value, true)?;
            format!("{column} {} {literal}", comparison.sign())
        };
        Ok(NullAwareOutcome {
            value: Some(value),
            null,
        })
    }

    /// Writes the comparison of a multiple of an integer as one of the integer itself. Returns `None` if no value passes and
    /// an empty text if every value does. Every literal is within the range of the dialect's integers.
    pub(super) fn integers(
        &mut self,
        test: &ColumnTest,
        column: &str,
        linear: Linear,
        comparison: ComparisonOperator,
        value: &Value,
    ) -> Result<Option<String>, Rejection> {
        let solved = linear.solved(comparison, value, &self.dialect.integers());
        Ok(match solved {
            Some(Solved::All(all)) => all.then(String::new),
            Some(Solved::Compare(comparison, limit)) => {
                let number = json::read(limit.to_string().as_bytes());
                let number = number.map_err(|error| Rejection::new(error.to_string(), test.span));
                let literal = self.plain_number(test, &number?)?;
                Some(format!("{column} {} {literal}", comparison.sign()))
            }
            None => {
                let message = "arithmetic: compared with what is not a number";
                return Err(Rejection::new(message, test.span));
            }
        })
    }

    fn compared_texts(
        &mut self,
        test: &ColumnTest,
        column: &str,
        comparison: ComparisonOperator,
        value: &Value,
    ) -> Result<String, Rejection> {
        let literal = self.value_text(test, value, true)?;
        let comparison_text = self.dialect.exact_texts(column, comparison, &literal);
        comparison_text.map_err(|message| Rejection::new(message, test.span))
    }

    fn columns(
        &mut self,
        test: &ColumnTest,
        declaration: ColumnDeclaration,
        column: &str,
        comparison: ComparisonOperator,
        other: &ColumnName,
    ) -> Result<String, Rejection> {
        let second = self.declaration(test, other)?;
        let other = self.column_text(other);
        let (left, right) = (declaration.kind.rank(), second.kind.rank());
        let mut conditions = Vec::new();
        if left == right {
            conditions.push(if declaration.kind == ColumnKind::Text {
                let comparison_text = self.dialect.exact_texts(column, comparison, &other);
                comparison_text.map_err(|message| Rejection::new(message, test.span))?
            } else {
                format!("{column} {} {other}", comparison.sign())
            });
        } else if comparison.accepts(left.cmp(&right)) {
            conditions.push(format!("({column} IS NOT NULL AND {other} IS NOT NULL)"));
        }
        if comparison.accepts(Ordering::Equal) && declaration.nullable && second.nullable {
            conditions.push(format!("({column} IS NULL AND {other} IS NULL)"));
        }
        if comparison.accepts(Ordering::Less) && declaration.nullable {
            conditions.push(format!("({column} IS NULL AND {other} IS NOT NULL)"));
        }
        if comparison.accepts(Ordering::Greater) && second.nullable {
            conditions.push(format!("({column} IS NOT NULL AND {other} IS NULL)"));
        }
        Ok(any(&conditions))
    }

    fn listed(
        &mut self,
        test: &ColumnTest,
        declaration: ColumnDeclaration,
        column: &str,
        values: &[Value],
    ) -> Result<NullAwareOutcome, Rejection> {
        let has_null = values.contains(&Value(Repr::Null));
        let mut conditions = Vec::new();
        let is_comparable = |value: &&Value| {
            **value != Value(Repr::Null)
                && ColumnKind::of_value(value).rank() == declaration.kind.rank()
        };
        let comparison = if test.negated {
            ComparisonOperator::Ne
        } else {
            ComparisonOperator::Eq
        };
        let mut literals = Vec::new();
        let range = self.dialect.integers();
        for value in values.iter().filter(is_comparable) {
            if declaration.kind == ColumnKind::Text {
                conditions.push(self.compared_texts(test, column, comparison, value)?);
            } else if declaration.kind != ColumnKind::Integer
                // an integer column never holds other numbers
                || matches!(
                    Linear::IDENTITY.solved(ComparisonOperator::Eq, value, &range),
                    Some(Solved::Compare(..))
                )
            {
                literals.push(self.value_text(test, value, true)?);
            }
        }
        if !literals.is_empty() {
            let not = if test.negated { "NOT " } else { "" };
            conditions.push(format!("{not}{column} IN ({})", literals.join(", ")));
        }
        let value = match (test.negated, conditions.is_empty()) {
            (true, true) => Some(String::new()),
            (false, true) => None,
            (true, false) => Some(all(&conditions)),
            (false, false) => Some(any(&conditions)),
        };
        Ok(NullAwareOutcome {
            value,
            null: has_null != test.negated,
        })
    }

    fn affixed(
        &mut self,
        test: &ColumnTest,
        declaration: ColumnDeclaration,
        column: &str,
        affix: SubstringPosition,
        part: &str,
    ) -> Result<NullAwareOutcome, Rejection> {
        // only text contains substrings
        let value = if declaration.kind == ColumnKind::Text {
            let not = if test.negated { "NOT " } else { "" };
            Some(match self.search(test, column, affix, part)? {
                Some(search) => format!("{not}{search}"),
                None => format!("{not}{}", self.like_exactly(test, column, affix, part)?),
            })
        } else {
            test.negated.then(String::new)
        };
        Ok(NullAwareOutcome {
            value,
            null: test.negated,
        })
    }

    /// Returns a substring test with `LIKE`, by code point. A rejection if the dialect has no literal for the pattern.
    pub(super) fn like_exactly(
        &mut self,
        test: &ColumnTest,
        column: &str,
        affix: SubstringPosition,
        part: &str,
    ) -> Result<String, Rejection> {
        let pattern = self.dialect.pattern(affix, part);
        let literal = self.pattern_text(test, &pattern)?;
        let (column, literal) = self.dialect.exact_sides(column, &literal);
        Ok(format!("{column} LIKE {literal}{}", pattern.escape))
    }
}

impl NullAwareOutcome {
    /// Returns the condition for a column. A column that is not nullable needs no test for NULL.
    pub(super) fn text(self, column: &str, nullable: bool) -> String {
        match (self.value.as_deref(), self.null, nullable) {
            (None, true, true) => format!("{column} IS NULL"),
            (None, ..) => FALSE.to_owned(),
            (Some(""), false, true) => format!("{column} IS NOT NULL"),
            (Some(""), ..) => TRUE.to_owned(),
            (Some(value), true, true) => format!("({value} OR {column} IS NULL)"),
            (Some(value), ..) => value.to_owned(),
        }
    }
}

/// Returns the disjunction of conditions: false if there are none.
pub(super) fn any(conditions: &[String]) -> String {
    match conditions {
        [] => FALSE.to_owned(),
        [condition] => condition.clone(),
        ways => format!("({})", ways.join(" OR ")),
    }
}

/// Returns the conjunction of conditions, of which there must be at least one.
pub(super) fn all(conditions: &[String]) -> String {
    match conditions {
        [condition] => condition.clone(),
        ways => format!("({})", ways.join(" AND ")),
    }
}
