//! Conditions on the columns of a row.

use std::cmp::Ordering;

use solon_syntax::source::Span;

use super::column_functions::ColumnFunction;
use super::literals::NumberLiteral;
use crate::value::{Value, ValueRef};

/// A column as the policy names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column {
    /// The table; `None` where a mapping tells the table of a short name.
    pub table: Option<String>,
    /// The column.
    pub name: String,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
}

/// Where a text is looked for in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affix {
    /// At the beginning.
    Start,
    /// At the end.
    End,
    /// Anywhere.
    Within,
}

/// The built-ins that conditions consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// A comparison.
    Compare(Comparison),
    /// Membership.
    In,
    /// A search for a text.
    Affix(Affix),
}

/// What a column is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A scalar value.
    Value(Value),
    /// Another column.
    Column(Column),
}

/// What is asked of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// How it compares.
    Compare(Comparison, Operand),
    /// Whether it is one of these.
    In(Vec<Value>),
    /// Whether it has a text in it.
    Affix(Affix, String),
    /// Whether another text has it in it.
    Part(Affix, Operand),
    /// Whether it has a value.
    Present,
    /// Whether it is a number with this text.
    NumberText(NumberLiteral),
}

/// A predicate of a column, or its opposite.
#[derive(Clone, Debug)]
pub struct Test {
    /// The column.
    pub column: Column,
    /// What is made of it before, the first step first.
    pub functions: Vec<ColumnFunction>,
    /// What is asked of it.
    pub predicate: Predicate,
    /// Whether it must not hold.
    pub negated: bool,
    /// Where the policy asks it.
    pub place: Span,
}

/// When a row is kept.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Never.
    Never,
    /// Always.
    Always,
    /// When all tests of one of these lists hold. There is a list, and none is empty.
    Any(Vec<Vec<Test>>),
}

impl Condition {
    /// The condition that one of these lists of tests must hold.
    pub fn any_of(bodies: Vec<Vec<Test>>) -> Self {
        if bodies.is_empty() {
            Self::Never
        } else if bodies.iter().any(Vec::is_empty) {
            Self::Always
        } else {
            Self::Any(bodies)
        }
    }

    /// Everything that is asked of columns.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        let bodies = match self {
            Self::Any(bodies) => bodies.as_slice(),
            Self::Never | Self::Always => &[],
        };
        bodies.iter().flatten()
    }

    /// The same, each as a condition of its own.
    pub fn alone(&self) -> impl Iterator<Item = Self> {
        self.tests().map(|test| Self::Any(vec![vec![test.clone()]]))
    }
}

impl Operator {
    /// All built-ins that a condition may consist of, by their names.
    const NAMED: [(&'static str, Self); 11] = [
        ("eq", Self::Compare(Comparison::Eq)),
        ("equal", Self::Compare(Comparison::Eq)),
        ("neq", Self::Compare(Comparison::Ne)),
        ("lt", Self::Compare(Comparison::Lt)),
        ("lte", Self::Compare(Comparison::Lte)),
        ("gt", Self::Compare(Comparison::Gt)),
        ("gte", Self::Compare(Comparison::Gte)),
        ("internal.member_2", Self::In),
        ("startswith", Self::Affix(Affix::Start)),
        ("endswith", Self::Affix(Affix::End)),
        ("contains", Self::Affix(Affix::Within)),
    ];

    /// The operator that a built-in is.
    pub fn named(name: &str) -> Option<Self> {
        let named = Self::NAMED.iter().find(|(other, _)| *other == name);
        named.map(|(_, operator)| *operator)
    }

    /// What refusals call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compare(comparison) => comparison.word(),
            Self::In => "in",
            Self::Affix(affix) => affix.word(),
        }
    }
}

impl Comparison {
    /// The word of UCAST.
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

    /// The sign of SQL.
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

    /// The comparison with both sides changed.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Lte => Self::Gte,
            Self::Gt => Self::Lt,
            Self::Gte => Self::Lte,
            same => same,
        }
    }

    /// The comparison that holds where this one does not.
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

    /// Whether it holds of values in this order.
    pub fn holds(self, order: Ordering) -> bool {
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

impl Affix {
    /// The name of the built-in, which is the word of UCAST.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "startswith",
            Self::End => "endswith",
            Self::Within => "contains",
        }
    }

    /// Whether a text has another in it.
    fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Within => text.contains(part),
        }
    }
}

impl Test {
    /// Whether a value, made of the column, passes; `None` where that depends on another column.
    pub fn passes(&self, value: ValueRef<'_>) -> Option<bool> {
        let holds = match &self.predicate {
            Predicate::Compare(comparison, Operand::Value(other)) => {
                comparison.holds(value.cmp(&other.borrow()))
            }
            Predicate::Part(affix, Operand::Value(whole)) => {
                let texts = whole.utf8().zip(value.utf8());
                texts.is_some_and(|(whole, part)| affix.holds(whole, part))
            }
            // equal numbers may have other texts
            Predicate::NumberText(written) if !self.negated => value == written.number.borrow(),
            Predicate::Compare(..) | Predicate::Part(..) | Predicate::NumberText(_) => return None,
            Predicate::In(values) => values.iter().any(|other| value == other.borrow()),
            Predicate::Affix(affix, part) => {
                value.utf8().is_some_and(|text| affix.holds(text, part))
            }
            Predicate::Present => true,
        };
        Some(holds != self.negated)
    }
}
