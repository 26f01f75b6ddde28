//! Conditions on the columns of a row.

use std::cmp::Ordering;

use solon_syntax::source::Span;

use super::column_functions::ColumnFunction;
use super::literals::NumberLiteral;
use crate::value::{Value, ValueRef};

/// A column as named by the policy, before mappings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnName {
    /// Table; `None` if a mapping assigns the table of a short name.
    pub table: Option<String>,
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOperator {
    Eq,
    Ne,
    Lt,
    /// Less or equal.
    Lte,
    Gt,
    /// Greater or equal.
    Gte,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubstringPosition {
    Start,
    End,
    /// Anywhere.
    Within,
}

/// Built-ins that conditions consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Compare(ComparisonOperator),
    In,
    Affix(SubstringPosition),
}

/// Operand that a column is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterOperand {
    Value(Value),
    Column(ColumnName),
}

/// Predicate on a column. Negation is part of the [`ColumnTest`].
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    Compare(ComparisonOperator, FilterOperand),
    /// Equals one of these values.
    In(Vec<Value>),
    /// The column contains a substring.
    Affix(SubstringPosition, String),
    Part(SubstringPosition, FilterOperand),
    /// Is not NULL, whatever its value.
    Present,
    NumberText(NumberLiteral),
}

/// A predicate on a column, possibly negated.
#[derive(Clone, Debug)]
pub struct ColumnTest {
    pub column: ColumnName,
    /// Functions applied to the column first, innermost first.
    pub functions: Vec<ColumnFunction>,
    /// Predicate on the result of the functions.
    pub predicate: Predicate,
    /// `true` if the predicate must not hold.
    pub negated: bool,
    /// Source location in the policy.
    pub span: Span,
}

/// Condition for a row to be kept.
#[derive(Clone, Debug)]
pub enum FilterCondition {
    /// No row is kept.
    Never,
    /// Every row is kept.
    Always,
    /// Rows that pass all tests of one of these lists. Invariant: there is at least one list, and none is empty.
    Any(Vec<Vec<ColumnTest>>),
}

impl FilterCondition {
    /// Returns the disjunction of conjunctions of tests.
    pub fn any_of(bodies: Vec<Vec<ColumnTest>>) -> Self {
        if bodies.is_empty() {
            Self::Never
        } else if bodies.iter().any(Vec::is_empty) {
            Self::Always
        } else {
            Self::Any(bodies)
        }
    }

    /// Iterates over all tests, in order.
    pub fn tests(&self) -> impl Iterator<Item = &ColumnTest> {
        let bodies = match self {
            Self::Any(bodies) => bodies.as_slice(),
            Self::Never | Self::Always => &[],
        };
        bodies.iter().flatten()
    }

    /// Iterates over all tests, each as its own condition.
    pub fn separate_tests(&self) -> impl Iterator<Item = Self> {
        self.tests().map(|test| Self::Any(vec![vec![test.clone()]]))
    }
}

impl Operator {
    /// All built-ins that a condition may consist of, by name.
    const NAMED: [(&'static str, Self); 11] = [
        ("eq", Self::Compare(ComparisonOperator::Eq)),
        ("equal", Self::Compare(ComparisonOperator::Eq)),
        ("neq", Self::Compare(ComparisonOperator::Ne)),
        ("lt", Self::Compare(ComparisonOperator::Lt)),
        ("lte", Self::Compare(ComparisonOperator::Lte)),
        ("gt", Self::Compare(ComparisonOperator::Gt)),
        ("gte", Self::Compare(ComparisonOperator::Gte)),
        ("internal.member_2", Self::In),
        ("startswith", Self::Affix(SubstringPosition::Start)),
        ("endswith", Self::Affix(SubstringPosition::End)),
        ("contains", Self::Affix(SubstringPosition::Within)),
    ];

    /// Returns the operator for the name of a built-in, or `None` for a built-in without an operator.
    pub fn from_name(name: &str) -> Option<Self> {
        let entry = Self::NAMED.iter().find(|(other, _)| *other == name);
        entry.map(|(_, operator)| *operator)
    }
}

impl ComparisonOperator {
    /// Returns the UCAST operator, such as `lte`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
        }
    }

    /// Returns the SQL operator, such as `<=`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Lte => "<=",
            Self::Gt => ">",
            Self::Gte => ">=",
        }
    }

    /// Returns the comparison with swapped operands.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Lte => Self::Gte,
            Self::Gt => Self::Lt,
            Self::Gte => Self::Lte,
            symmetric => symmetric,
        }
    }

    /// Returns the negated comparison. NULL satisfies neither.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Gte,
            Self::Lte => Self::Gt,
            Self::Gt => Self::Lte,
            Self::Gte => Self::Lt,
        }
    }

    /// Returns `true` if the comparison holds for operands in this order.
    pub fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Lte => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Gte => order.is_ge(),
        }
    }
}

impl SubstringPosition {
    /// Returns the name of the built-in, which is also the UCAST operator.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "startswith",
            Self::End => "endswith",
            Self::Within => "contains",
        }
    }

    /// Returns `true` if `text` contains `part` at this position. Compares exactly.
    fn matches(self, text: &str, part: &str) -> bool {
        match self {
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Within => text.contains(part),
        }
    }
}

impl ColumnTest {
    /// Returns `true` if a value, after the functions, passes; `None` if that depends on another column.
    pub fn passes(&self, value: ValueRef<'_>) -> Option<bool> {
        let passes = match &self.predicate {
            Predicate::Compare(comparison, FilterOperand::Value(other)) => {
                comparison.accepts(value.cmp(&other.borrow()))
            }
            Predicate::Part(affix, FilterOperand::Value(text)) => {
                let texts = text.utf8().zip(value.utf8());
                texts.is_some_and(|(text, part)| affix.matches(text, part))
            }
            // equal numbers may have different texts
            Predicate::NumberText(literal) if !self.negated => value == literal.number.borrow(),
            Predicate::Compare(..) | Predicate::Part(..) | Predicate::NumberText(_) => return None,
            Predicate::In(values) => values.iter().any(|other| value == other.borrow()),
            Predicate::Affix(affix, part) => {
                value.utf8().is_some_and(|text| affix.matches(text, part))
            }
            Predicate::Present => true,
        };
        Some(passes != self.negated)
    }
}
