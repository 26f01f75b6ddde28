//! Conditions as SQL.
//!
//! Values of a policy, an input or a mapping reach the text only through [`dialect::Dialect`]: as a literal, as a name,
//! or as a pattern.

mod dialect;
mod exact;
mod functions;
mod mysql;
mod names;
mod postgresql;
mod sqlite;
mod sqlserver;

use super::condition::{
    ColumnName, ColumnTest, ComparisonOperator, FilterCondition, FilterOperand, Predicate,
    SubstringPosition,
};
use super::mapping::Mappings;
use super::rejection::Rejection;
use super::target::FilterTarget;
use crate::bug::bug;
use crate::value::{Repr, Value, json};

use dialect::{Dialect, Pattern};

/// A condition in SQL, with the values of its placeholders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// The condition; empty if it always holds.
    pub text: String,
    /// Values of the placeholders, in order; empty if literals are used.
    pub parameters: Vec<Value>,
}

/// Options for writing conditions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// `true` if values are passed as parameters instead of literals.
    pub parameters: bool,
    /// `true` if conditions must be exact for every table that matches its declaration.
    pub exact: bool,
}

/// Writes a condition as SQL; returns `None` for a condition that never holds.
///
/// # Errors
///
/// Conditions that the dialect cannot express.
pub fn sql(
    condition: &FilterCondition,
    target: FilterTarget,
    mappings: &Mappings,
    manner: Manner,
) -> Result<Option<Statement>, Rejection> {
    let bodies = match condition {
        FilterCondition::Never => return Ok(None),
        FilterCondition::Always => return Ok(Some(Statement::default())),
        FilterCondition::Any(bodies) => bodies,
    };
    let dialect: &dyn Dialect = match target {
        FilterTarget::Postgresql => &postgresql::Postgresql,
        FilterTarget::Mysql => &mysql::Mysql,
        FilterTarget::Sqlserver => &sqlserver::Sqlserver,
        FilterTarget::Sqlite => &sqlite::Sqlite,
        FilterTarget::UcastAll
        | FilterTarget::UcastMinimal
        | FilterTarget::UcastLinq
        | FilterTarget::UcastPrisma => bug!("SQL for a target that speaks UCAST"),
    };
    let mut writer = SqlWriter {
        dialect,
        mappings,
        statement: Statement::default(),
        parameters: manner.parameters,
        exact: manner.exact,
    };
    writer.any(bodies)?;
    Ok(Some(writer.statement))
}

struct SqlWriter<'w> {
    dialect: &'w dyn Dialect,
    mappings: &'w Mappings,
    statement: Statement,
    parameters: bool,
    exact: bool,
}

impl SqlWriter<'_> {
    fn any(&mut self, bodies: &[Vec<ColumnTest>]) -> Result<(), Rejection> {
        self.write_chain(bodies, " OR ", &mut |writer, body| {
            writer.write_chain(body, " AND ", &mut Self::test)
        })
    }

    /// Joins conditions, in nested groups if one chain would be too long.
    fn write_chain<A>(
        &mut self,
        all: &[A],
        separator: &str,
        each: &mut dyn FnMut(&mut Self, &A) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let several = all.len() > 1;
        if several {
            self.text("(");
        }
        let chain = self.dialect.chain();
        let mut group = 1;
        while all.len().div_ceil(group) > chain {
            group *= chain;
        }
        for (index, chunk) in all.chunks(group).enumerate() {
            if index > 0 {
                self.text(separator);
            }
            match chunk {
                [item] => each(self, item)?,
                several => self.write_chain(several, separator, each)?,
            }
        }
        if several {
            self.text(")");
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.statement.text.push_str(text);
    }

    fn test(&mut self, test: &ColumnTest) -> Result<(), Rejection> {
        if !test.functions.is_empty() || matches!(test.predicate, Predicate::Part(..)) {
            return self.function(test);
        }
        if self.exact {
            return self.exact(test);
        }
        if let (Predicate::In(values), true) = (&test.predicate, test.negated)
            && values.contains(&Value(Repr::Null))
        {
            return self.not_in(test, values);
        }
        if test.negated {
            self.text("NOT ");
        }
        match &test.predicate {
            Predicate::Compare(comparison, operand) => self.compare(test, *comparison, operand),
            Predicate::In(values) => self.in_values(test, &values.iter().collect::<Vec<_>>()),
            Predicate::Affix(affix, part) => {
                let column = self.column_text(&test.column);
                if let Some(text) = self.search(test, &column, *affix, part)? {
                    self.text(&text);
                    return Ok(());
                }
                let pattern = self.dialect.pattern(*affix, part);
                self.text(&column);
                self.text(" LIKE ");
                self.like(test, &pattern)
            }
            // handled earlier
            Predicate::Part(..) => self.function(test),
            Predicate::NumberText(literal) => Err(literal.unsettled(test.span)),
            Predicate::Present => {
                self.column(&test.column);
                self.text(" IS NOT NULL");
                Ok(())
            }
        }
    }

    fn compare(
        &mut self,
        test: &ColumnTest,
        comparison: ComparisonOperator,
        operand: &FilterOperand,
    ) -> Result<(), Rejection> {
        self.column(&test.column);
        match (operand, comparison) {
            (FilterOperand::Value(Value(Repr::Null)), ComparisonOperator::Eq) => {
                self.text(" IS NULL");
            }
            (FilterOperand::Value(Value(Repr::Null)), _) => self.text(" IS NOT NULL"),
            (FilterOperand::Value(value), _) => {
                self.sign(comparison);
                self.value(test, value, false)?;
            }
            (FilterOperand::Column(other), _) => {
                self.sign(comparison);
                self.column(other);
            }
        }
        Ok(())
    }

    fn sign(&mut self, comparison: ComparisonOperator) {
        self.text(" ");
        self.text(comparison.sign());
        self.text(" ");
    }

    fn in_values(&mut self, test: &ColumnTest, values: &[&Value]) -> Result<(), Rejection> {
        if values.is_empty() {
            self.text("0 = 1");
            return Ok(());
        }
        self.column(&test.column);
        self.text(" IN (");
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.value(test, value, values.len() > 1)?;
        }
        self.text(")");
        Ok(())
    }

    /// With NULL among the values, `NOT IN` would hold for no row.
    fn not_in(&mut self, test: &ColumnTest, values: &[Value]) -> Result<(), Rejection> {
        let rest: Vec<&Value> = values
            .iter()
            .filter(|value| **value != Value(Repr::Null))
            .collect();
        if rest.is_empty() {
            self.column(&test.column);
            self.text(" IS NOT NULL");
            return Ok(());
        }
        self.text("NOT ");
        self.in_values(test, &rest)
    }

    fn column(&mut self, column: &ColumnName) {
        let text = self.column_text(column);
        self.text(&text);
    }

    fn column_text(&self, column: &ColumnName) -> String {
        let parts = self.mappings.name(column).segments;
        let parts = parts.iter().enumerate();
        let names: Vec<String> = parts
            .map(|(segment, part)| self.dialect.name(part, segment))
            .collect();
        names.join(".")
    }

    /// Writes a value; `in_list` if it is an element of a list. Fails if the dialect cannot express it.
    fn value(&mut self, test: &ColumnTest, value: &Value, in_list: bool) -> Result<(), Rejection> {
        let text = self.value_text(test, value, in_list)?;
        self.text(&text);
        Ok(())
    }

    fn value_text(
        &mut self,
        test: &ColumnTest,
        value: &Value,
        in_list: bool,
    ) -> Result<String, Rejection> {
        let reject = |message: String| Rejection::new(message, test.span);
        let borrowed = value.borrow();
        if self.parameters && *value != Value(Repr::Null) {
            if borrowed.as_number().is_none() {
                return Ok(self.placeholder(value.clone()));
            }
            // drivers send decimals exactly, and integers as integers
            let text = self.dialect.exact_number(&borrowed.rego_text().to_string());
            let number = json::read(text.map_err(reject)?.as_bytes());
            let number = number.unwrap_or_else(|_| bug!("a literal that is not a number"));
            return Ok(self.placeholder(number));
        }
        if let Some(text) = borrowed.utf8() {
            return self.dialect.text(text).map_err(reject);
        }
        if borrowed.as_number().is_some() {
            let text = borrowed.rego_text().to_string();
            return if self.exact {
                self.dialect.exact_number(&text)
            } else {
                self.dialect.number(&text, in_list)
            }
            .map_err(reject);
        }
        match value {
            Value(Repr::Null) => Ok("NULL".to_owned()),
            Value(Repr::Bool(truth)) => Ok(self.dialect.boolean(*truth).to_owned()),
            _ => Err(reject(format!(
                "a value that SQL has no literal for: {borrowed}",
                borrowed = borrowed.rego_text()
            ))),
        }
    }

    /// Returns a text that is written several times, and therefore is never a placeholder.
    fn value_once(&self, test: &ColumnTest, value: &Value) -> Result<String, Rejection> {
        let text = value.borrow().utf8().map(str::to_owned);
        let text = text.ok_or_else(|| Rejection::new("a text was expected", test.span))?;
        let text = self.dialect.text(&text);
        text.map_err(|message| Rejection::new(message, test.span))
    }

    /// Writes a number that is independent of a column's type.
    fn plain_number(&mut self, test: &ColumnTest, value: &Value) -> Result<String, Rejection> {
        if self.parameters {
            return self.value_text(test, value, true);
        }
        let text = self
            .dialect
            .exact_number(&value.borrow().rego_text().to_string());
        text.map_err(|message| Rejection::new(message, test.span))
    }

    fn like(&mut self, test: &ColumnTest, pattern: &Pattern) -> Result<(), Rejection> {
        let text = self.pattern_text(test, pattern)?;
        self.text(&text);
        self.text(pattern.escape);
        Ok(())
    }

    /// Writes a substring test without `LIKE`, if the dialect has one. Every text starts and ends with the empty text.
    fn search(
        &mut self,
        test: &ColumnTest,
        column: &str,
        affix: SubstringPosition,
        part: &str,
    ) -> Result<Option<String>, Rejection> {
        let affix = if part.is_empty() {
            SubstringPosition::Start
        } else {
            affix
        };
        let (dialect, part) = (self.dialect, Value::string(part));
        dialect.search(affix, column, &mut || self.value_text(test, &part, false))
    }

    fn pattern_text(&mut self, test: &ColumnTest, pattern: &Pattern) -> Result<String, Rejection> {
        if self.parameters {
            return Ok(self.placeholder(Value::string(&pattern.text)));
        }
        let text = self.dialect.text(&pattern.text);
        text.map_err(|message| Rejection::new(message, test.span))
    }

    /// Adds a parameter and returns its placeholder.
    fn placeholder(&mut self, value: Value) -> String {
        self.statement.parameters.push(value);
        self.dialect.placeholder(self.statement.parameters.len())
    }
}
