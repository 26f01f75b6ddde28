//! Conditions that OPA's index has, too. What they exclude is part of the compatibility contract.

use solon_syntax::ast;

use super::conditions::IndexCondition;
use super::{Proof, length};
use crate::compile::lower::precheck::is_virtual;
use crate::program::canonical::{self, Conditions, Constraint, Test};
use crate::program::{AccessPath, Delimiters, PathRoot, ValueFeature, VirtualDocuments};
use crate::value::{RefRepr, Repr, Value, ValueRef};

pub struct OpaConditions(Vec<Constraint>);

impl OpaConditions {
    /// Returns the conditions of a rule, except alternatives.
    pub fn of_rule(rule: &ast::Rule, tree: &VirtualDocuments) -> Self {
        let Conditions { alternatives, .. } =
            Conditions::of_rule(rule, &|steps| is_virtual(steps, tree));
        let mut alternatives = alternatives.into_iter();
        match (alternatives.next(), alternatives.next()) {
            (Some(constraints), None) => Self(constraints),
            _ => Self(Vec::new()),
        }
    }

    /// Returns `true` if OPA's index excludes a rule whenever a condition fails.
    pub fn excludes(&self, condition: &IndexCondition) -> bool {
        if matches!(condition.proves, Some(Proof::Argument(_))) {
            return true;
        }
        self.0.iter().any(|constraint| {
            let Some(rest) = keys_between(&constraint.place, &condition.question.place) else {
                return false;
            };
            !constraint.tests.is_empty()
                && constraint
                    .tests
                    .iter()
                    .all(|test| implies(test, rest, condition))
        })
    }
}

/// Returns the keys from an operand of OPA's index to an access path below it. Returns `None` if it is not below.
fn keys_between<'p>(
    outer: &canonical::ConditionOperand,
    inner: &'p AccessPath,
) -> Option<&'p [Value]> {
    match (outer, inner.root) {
        (canonical::ConditionOperand::Input(path), PathRoot::Input) => {
            inner.path.strip_prefix(&**path)
        }
        (canonical::ConditionOperand::Argument(at), PathRoot::Argument(argument))
            if u32::try_from(*at) == Ok(argument) =>
        {
            Some(&inner.path)
        }
        _ => None,
    }
}

/// Returns `true` if a test implies a condition on the value below some keys.
fn implies(test: &Test, keys: &[Value], condition: &IndexCondition) -> bool {
    let takes = |value: &Value| condition.answers.contains(value);
    match (test, &condition.question.feature, keys) {
        (Test::Equal(value), ValueFeature::Value, []) => takes(value),
        (Test::Contains(value), ValueFeature::Element, []) => takes(value),
        (Test::Prefix(texts), ValueFeature::Prefix, [])
        | (Test::Suffix(texts), ValueFeature::Suffix, []) => texts.iter().all(takes),
        (Test::Items(items), ValueFeature::Length, []) => takes(&length(items.len())),
        (Test::Items(items), ValueFeature::Value, [Value(Repr::Int(at))]) => {
            let at = usize::try_from(*at).ok();
            let item = at.and_then(|at| items.get(at));
            item.is_some_and(|item| item.as_ref().is_some_and(takes))
        }
        (Test::Segments(segments, delimiters), feature, []) => {
            let same = |found: &Delimiters| matches!(found, Delimiters::Chars(chars) if **chars == **delimiters);
            match feature {
                ValueFeature::Segment(found, at) => {
                    let text = segments.get(*at).and_then(Option::as_ref);
                    same(found) && text.is_some_and(|text| takes(&Value::string(text)))
                }
                ValueFeature::Segments(found) => same(found) && takes(&length(segments.len())),
                ValueFeature::Prefix => begin(segments, delimiters, &condition.answers),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns `true` if every text with the given segments starts with one of some prefixes.
fn begin(segments: &[Option<String>], delimiters: &[char], answers: &[Value]) -> bool {
    let [delimiter] = delimiters else {
        return false;
    };
    let known = segments.iter().map_while(Option::as_ref);
    let mut start = String::new();
    for segment in known {
        start.push_str(segment);
        start.push(*delimiter);
    }
    if segments.iter().all(Option::is_some) {
        start.pop();
    }
    let begins = |answer: &Value| match answer.borrow() {
        ValueRef(RefRepr::Null) => false,
        answer => start
            .as_bytes()
            .starts_with(answer.string_bytes().unwrap_or(&[0xFF])),
    };
    answers.iter().any(begins)
}
