//! Conditions on functions of columns, and on texts that are columns. OPA has no SQL for these, so all of them keep
//! exactly the rows for which the policy is true: texts are compared by code point independent of their collation. A
//! function of NULL is undefined: it is evaluated before the `not` of its comparison, so rows without a value do not
//! pass.

use super::SqlWriter;
use super::exact::{FALSE, NullAwareOutcome, TRUE, all, any};
use crate::filter::column_functions::{ColumnFunction, Linear, letters};
use crate::filter::condition::{
    ColumnTest, ComparisonOperator, FilterOperand, Predicate, SubstringPosition,
};
use crate::filter::mapping::ColumnKind;
use crate::filter::rejection::Rejection;

impl SqlWriter<'_> {
    /// Writes a test of a function of a column, or of a text that contains the column.
    ///
    /// # Errors
    ///
    /// A rejection if `exact` needs a declaration that the mapping lacks, or if the dialect has no such function.
    pub(super) fn function(&mut self, test: &ColumnTest) -> Result<(), Rejection> {
        let reject = |message: String| Rejection::new(message, test.span);
        let declaration = if self.exact {
            Some(self.declaration(test, &test.column)?)
        } else {
            None
        };
        let nullable = declaration.is_none_or(|declaration| declaration.nullable);
        let column = self.column_text(&test.column);
        let kind = declaration.map(|declaration| declaration.kind);
        let undefined = NullAwareOutcome {
            value: None,
            null: false,
        };
        let condition = match (test.functions.last(), &test.predicate) {
            (Some(ColumnFunction::Linear(linear)), predicate) => match kind {
                Some(ColumnKind::Integer) => {
                    let value = self.solve(test, &column, *linear, predicate)?;
                    NullAwareOutcome { value, null: false }
                }
                Some(ColumnKind::Text | ColumnKind::Boolean) => undefined,
                Some(ColumnKind::Decimal) | None => {
                    let message =
                        "arithmetic: the column must be declared an integer, with `exact`";
                    return Err(reject(message.to_owned()));
                }
            },
            (_, Predicate::Part(..)) if kind.is_some_and(|kind| kind != ColumnKind::Text) => {
                NullAwareOutcome {
                    value: test.negated.then(String::new),
                    null: test.negated,
                }
            }
            _ if kind.is_some_and(|kind| kind != ColumnKind::Text) => undefined,
            (_, Predicate::Part(affix, text)) => {
                let text = self.part(test, &column, nullable, *affix, text)?;
                self.text(&text);
                return Ok(());
            }
            (last, predicate) => {
                let side = self.apply_functions(test, &column)?;
                let value = if last.is_some_and(ColumnFunction::is_number) {
                    self.numbers(test, &side, predicate)?
                } else {
                    self.texts(test, &side, predicate)?
                };
                NullAwareOutcome { value, null: false }
            }
        };
        let text = condition.text(&column, nullable);
        self.text(&text);
        Ok(())
    }

    /// Applies the functions of a test to a column.
    ///
    /// # Errors
    /// The dialect has no equal function.
    fn apply_functions(&self, test: &ColumnTest, column: &str) -> Result<String, Rejection> {
        let reject = |message: String| Rejection::new(message, test.span);
        let unsupported =
            |step: &ColumnFunction| reject(format!("{}: not said by this dialect", step.word()));
        let mut text = self.dialect.bytes(column);
        for step in &test.functions {
            match step {
                ColumnFunction::Trim(ends, set) => {
                    let set = self.dialect.text(set).map_err(reject)?;
                    let trimmed = self.dialect.trim_text(&text, *ends, &set);
                    text = trimmed.ok_or_else(|| unsupported(step))?;
                }
                ColumnFunction::Lower | ColumnFunction::Upper => {
                    for (from, to) in letters(&test.functions, &test.predicate) {
                        let from = self.dialect.text(from.encode_utf8(&mut [0; 4]));
                        let to = self.dialect.text(to.encode_utf8(&mut [0; 4]));
                        let (from, to) = (from.map_err(reject)?, to.map_err(reject)?);
                        text = format!("replace({text}, {from}, {to})");
                    }
                }
                ColumnFunction::Count => {
                    text = self
                        .dialect
                        .char_count(&text)
                        .ok_or_else(|| unsupported(step))?;
                }
                ColumnFunction::Linear(_) => return Err(unsupported(step)),
            }
        }
        Ok(text)
    }

    /// Returns the condition of a predicate on a text; `None` if no text passes, an empty string if all do.
    fn texts(
        &mut self,
        test: &ColumnTest,
        side: &str,
        predicate: &Predicate,
    ) -> Result<Option<String>, Rejection> {
        let reject = |message: String| Rejection::new(message, test.span);
        let (comparison, values) = match predicate {
            Predicate::Compare(comparison, FilterOperand::Value(value)) => (
                negate_if(*comparison, test.negated),
                std::slice::from_ref(value),
            ),
            Predicate::In(values) => (
                negate_if(ComparisonOperator::Eq, test.negated),
                values.as_slice(),
            ),
            Predicate::Affix(affix, part) => {
                let not = if test.negated { "NOT " } else { "" };
                let condition = match self.search(test, side, *affix, part)? {
                    Some(search) => search,
                    None => self.like_exactly(test, side, *affix, part)?,
                };
                return Ok(Some(format!("{not}{condition}")));
            }
            _ => return Err(reject("compared with what is not known".to_owned())),
        };
        let mut conditions = Vec::with_capacity(values.len());
        for value in values {
            let literal = self.value_text(test, value, true)?;
            let condition = self.dialect.exact_texts(side, comparison, &literal);
            conditions.push(condition.map_err(reject)?);
        }
        Ok(match (conditions.as_slice(), test.negated) {
            ([], negated) => negated.then(String::new),
            (conditions, true) => Some(all(conditions)),
            (conditions, false) => Some(any(conditions)),
        })
    }

    /// Writes a predicate on a number. Returns `None` if no number passes.
    fn numbers(
        &mut self,
        test: &ColumnTest,
        side: &str,
        predicate: &Predicate,
    ) -> Result<Option<String>, Rejection> {
        match predicate {
            Predicate::Compare(comparison, FilterOperand::Value(value)) => {
                let sign = negate_if(*comparison, test.negated).sign();
                let literal = self.plain_number(test, value)?;
                Ok(Some(format!("{side} {sign} {literal}")))
            }
            Predicate::In(values) if values.is_empty() => Ok(test.negated.then(String::new)),
            Predicate::In(values) => {
                let literals = values.iter().map(|value| self.plain_number(test, value));
                let literals: Result<Vec<String>, Rejection> = literals.collect();
                let not = if test.negated { "NOT " } else { "" };
                Ok(Some(format!("{not}{side} IN ({})", literals?.join(", "))))
            }
            _ => {
                let message = "compared with what is not known";
                Err(Rejection::new(message, test.span))
            }
        }
    }

    /// Writes a predicate on a multiple as a predicate on the number itself.
    fn solve(
        &mut self,
        test: &ColumnTest,
        column: &str,
        linear: Linear,
        predicate: &Predicate,
    ) -> Result<Option<String>, Rejection> {
        let (comparison, values) = match predicate {
            Predicate::Compare(comparison, FilterOperand::Value(value)) => (
                negate_if(*comparison, test.negated),
                std::slice::from_ref(value),
            ),
            Predicate::In(values) => (
                negate_if(ComparisonOperator::Eq, test.negated),
                values.as_slice(),
            ),
            _ => {
                let message = "compared with what is not known";
                return Err(Rejection::new(message, test.span));
            }
        };
        let mut conditions = Vec::with_capacity(values.len());
        for value in values {
            let condition = self.integers(test, column, linear, comparison, value)?;
            match (condition.as_deref(), test.negated) {
                // a test that every value passes decides `OR` and adds nothing to `AND`
                (Some(""), false) => return Ok(condition),
                (None, true) => return Ok(None),
                _ => conditions.extend(condition.filter(|condition| !condition.is_empty())),
            }
        }
        Ok(match (conditions.as_slice(), test.negated) {
            ([], negated) => negated.then(String::new),
            (conditions, true) => Some(all(conditions)),
            (conditions, false) => Some(any(conditions)),
        })
    }

    fn part(
        &mut self,
        test: &ColumnTest,
        column: &str,
        nullable: bool,
        affix: SubstringPosition,
        text: &FilterOperand,
    ) -> Result<String, Rejection> {
        let mut nulls = Vec::new();
        if nullable {
            nulls.push(format!("{column} IS NULL"));
        }
        let text = match text {
            FilterOperand::Value(value) => self.value_once(test, value)?,
            FilterOperand::Column(other) => {
                let text = self.column_text(other);
                if self.exact {
                    let declaration = self.declaration(test, other)?;
                    if declaration.kind != ColumnKind::Text {
                        return Ok(if test.negated { TRUE } else { FALSE }.to_owned());
                    }
                    if declaration.nullable {
                        nulls.push(format!("{text} IS NULL"));
                    }
                } else {
                    nulls.push(format!("{text} IS NULL"));
                }
                text
            }
        };
        let located = self.dialect.substring_test(affix, &text, column);
        let located = located.ok_or_else(|| {
            let message = format!("{}: not said by this dialect", affix.word());
            Rejection::new(message, test.span)
        })?;
        if !test.negated {
            return Ok(located);
        }
        let mut conditions = vec![format!("NOT {located}")];
        conditions.extend(nulls);
        Ok(any(&conditions))
    }
}

fn negate_if(comparison: ComparisonOperator, negated: bool) -> ComparisonOperator {
    if negated {
        comparison.opposite()
    } else {
        comparison
    }
}
