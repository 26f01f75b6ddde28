//! Conditions that a rule cannot succeed without, as the published rule index knows them.
//!
//! A rule whose conditions fail is not entered: nothing in its body is evaluated, printed or traced. So these
//! are contract, and weaker or stronger ones would be seen.

mod entries;
mod glob;
mod noted;
mod shared;

use solon_syntax::ast::{Expr, ExprKind, Rule, Term, TermKind};
use solon_syntax::stack;

use crate::builtins::{IndexTest, index_test, is_observable};
use crate::value::Value;
use entries::Entries;
pub use shared::Shared;

/// Alternatives, one of which must hold, and keys that must be there in any case. A rule without conditions has one
/// empty alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Each a list of constraints that must all hold.
    pub alternatives: Vec<Vec<Constraint>>,
    /// Keys that collections must have.
    pub memberships: Vec<Membership>,
}

/// What is at one place must be a key of the object, or a member of the set, at another; an array may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Where the key is.
    pub key: ConditionOperand,
    /// Where the collection is.
    pub collection: ConditionOperand,
}

/// What must be at a place: one of some things.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The place.
    pub place: ConditionOperand,
    /// What may be there; nothing listed means that anything may.
    pub tests: Vec<Test>,
    /// How often it counts among the rules that share an index: once, and again for each further value of a list.
    pub count: usize,
}

/// A place in the documents, or an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionOperand {
    /// Below `input`.
    Input(Vec<Value>),
    /// Below `data`, where there are no rules.
    Data(Vec<Value>),
    /// An argument of the function.
    Argument(usize),
}

/// What must be at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// This value.
    Equal(Value),
    /// An array with these elements; `None` stands for any.
    Items(Vec<Option<Value>>),
    /// A collection that has this element.
    Contains(Value),
    /// A string that begins with one of these.
    Prefix(Vec<Value>),
    /// A string that ends with one of these.
    Suffix(Vec<Value>),
    /// A string whose segments between delimiters are these; `None` stands for any.
    Segments(Vec<Option<String>>, Vec<char>),
}

impl Test {
    /// Whether it asks for the beginning or the end of a text.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Prefix(_) | Self::Suffix(_))
    }
}

impl Conditions {
    /// The conditions of a rule, its else chain apart; `is_virtual` says whether rules stand on the way of steps
    /// below `data`, or make something below them.
    pub fn of_rule(rule: &Rule, is_virtual: &dyn Fn(&[Term]) -> bool) -> Self {
        if always_runs(&rule.body) {
            return Self {
                alternatives: vec![Vec::new()],
                memberships: Vec::new(),
            };
        }
        Self::among(&rule.head.args, &rule.body, is_virtual)
    }

    /// The conditions of a function's arguments and of some expressions.
    pub fn among<'r>(
        args: &'r [Term],
        body: impl IntoIterator<Item = &'r Expr>,
        is_virtual: &'r dyn Fn(&[Term]) -> bool,
    ) -> Self {
        let mut entries = Entries::new(args, is_virtual);
        for expr in body {
            entries.expr(expr);
        }
        entries.conditions()
    }
}

/// Whether an expression may add to the conditions of a body; a look at its form tells that most do not.
pub fn may_constrain(expr: &Expr) -> bool {
    if expr.negated || !expr.with.is_empty() {
        return false;
    }
    match &expr.kind {
        ExprKind::Term(term) => matches!(term.kind, TermKind::Ref(_)),
        ExprKind::Call(terms) => match terms.split_first() {
            Some((operator, operands)) => may_test(index_test(operator), operands),
            None => false,
        },
        ExprKind::And(_) | ExprKind::Or(_) => true,
        _ => false,
    }
}

fn may_test(test: Option<IndexTest>, operands: &[Term]) -> bool {
    match (test, operands) {
        (Some(IndexTest::Equality), [left, right]) => {
            let is_place = |term: &Term| matches!(term.kind, TermKind::Var(_) | TermKind::Ref(_));
            let is_value = |term: &Term| {
                matches!(term.kind, TermKind::Var(_) | TermKind::Array(_)) || term.is_scalar()
            };
            (is_place(left) && is_value(right)) || (is_place(right) && is_value(left))
        }
        (Some(test), _) => test.is_in_opa_index(),
        (None, _) => false,
    }
}

/// Whether a body is seen to run: it prints, or names a case of a test.
fn always_runs(body: &[Expr]) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.first().is_some_and(is_observable),
        ExprKind::Every(every) => always_runs(&every.body),
        ExprKind::Not(not) => always_runs(&not.body),
        ExprKind::And(pair) | ExprKind::Or(pair) => {
            stack::level(|| always_runs(&pair.lhs)) || always_runs(&pair.rhs)
        }
        _ => false,
    })
}
