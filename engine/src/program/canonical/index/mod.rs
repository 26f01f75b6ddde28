//! Conditions of rules as in OPA's rule index.
//!
//! A rule whose conditions fail is not entered: nothing in its body is evaluated, printed or traced. The conditions are
//! therefore part of the compatibility contract; weaker or stronger ones would be observable.

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

/// Alternatives of which one must hold, and keys that must always exist. A rule without conditions has one empty
/// alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Lists of constraints, of which one list must hold.
    pub alternatives: Vec<Vec<Constraint>>,
    /// Keys that collections must contain.
    pub memberships: Vec<Membership>,
}

/// The value of one operand must be a key of the object, or a member of the set, of another operand; arrays always
/// pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Operand whose value is the key.
    pub key: ConditionOperand,
    /// Operand whose value is the collection.
    pub collection: ConditionOperand,
}

/// An operand must pass one of some tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Tested operand: an input path or an argument.
    pub place: ConditionOperand,
    /// Possible tests; empty if any value passes.
    pub tests: Vec<Test>,
    /// Weight among the rules that share an index: one, plus one for each further value of a list.
    pub count: usize,
}

/// A path in the documents, or an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionOperand {
    /// Path below `input`.
    Input(Vec<Value>),
    /// Path below `data` without rules.
    Data(Vec<Value>),
    /// An argument of the function, from 0.
    Argument(usize),
}

/// Test of an operand's value, as in OPA's index.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Equal to this value.
    Equal(Value),
    /// An array with these elements; `None` matches any element.
    Items(Vec<Option<Value>>),
    /// A collection that contains this element.
    Contains(Value),
    /// A string with one of these prefixes.
    Prefix(Vec<Value>),
    /// A string with one of these suffixes.
    Suffix(Vec<Value>),
    /// A string with these segments between delimiters; `None` matches any segment.
    Segments(Vec<Option<String>>, Vec<char>),
}

impl Test {
    /// Returns `true` for a prefix or suffix test.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Prefix(_) | Self::Suffix(_))
    }
}

impl Conditions {
    /// Iterates over the positions of the arguments that the conditions test.
    pub fn arguments(&self) -> impl Iterator<Item = u32> {
        let tested = self.alternatives.iter().flatten();
        let tested = tested.map(|constraint| &constraint.place);
        let memberships = self.memberships.iter();
        let members = memberships.flat_map(|membership| [&membership.key, &membership.collection]);
        tested.chain(members).filter_map(|operand| match operand {
            ConditionOperand::Argument(at) => u32::try_from(*at).ok(),
            ConditionOperand::Input(_) | ConditionOperand::Data(_) => None,
        })
    }

    /// Returns the conditions of a rule without its `else` chain. `is_virtual` returns `true` if rules exist on the
    /// path of steps below `data`, or below it.
    pub fn of_rule(rule: &Rule, is_virtual: &dyn Fn(&[Term]) -> bool) -> Self {
        if always_runs(&rule.body) {
            return Self {
                alternatives: vec![Vec::new()],
                memberships: Vec::new(),
            };
        }
        Self::among(&rule.head.args, &rule.body, is_virtual)
    }

    /// Returns the conditions of a function's arguments and of expressions that can be indexed. Other expressions add none.
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

/// Returns `false` if the syntax of an expression shows that it adds no conditions.
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

/// Returns `true` if the evaluation of a body is observable: it prints, or names a case of a test.
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
