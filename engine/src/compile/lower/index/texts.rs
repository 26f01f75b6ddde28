//! Conditions of string tests: prefixes, suffixes and networks.

use smallvec::smallvec;
use solon_syntax::ast::Term;

use super::conditions::RequiredValues;
use super::symbolic;
use crate::builtins::{IndexTest, net};
use crate::program::{AccessPath, Question, ValueFeature};
use crate::value::Value;

/// A question, and the answers of which one is required.
pub type TextRequirement = (Question, RequiredValues);

/// Returns the conditions for a call to hold.
pub fn needs(
    test: IndexTest,
    operands: &[Term],
    access_path: &dyn Fn(&Term) -> Option<AccessPath>,
    constant: &dyn Fn(&Term) -> Option<Value>,
) -> Vec<TextRequirement> {
    let found = match (test, operands) {
        (IndexTest::Prefix, [text, base]) => strings(base, constant)
            .and_then(|bases| Some(one(access_path(text)?, ValueFeature::Prefix, bases))),
        (IndexTest::Suffix, [text, base]) => strings(base, constant)
            .and_then(|bases| Some(one(access_path(text)?, ValueFeature::Suffix, bases))),
        (IndexTest::Network, [network, address]) => strings(network, constant)
            .filter(|networks| networks.iter().all(is_network))
            .and_then(|networks| Some(one(access_path(address)?, ValueFeature::Network, networks))),
        _ => super::patterns::needs(test, operands, access_path, constant),
    };
    found.unwrap_or_default()
}

pub(super) fn one(
    path: AccessPath,
    feature: ValueFeature,
    answers: RequiredValues,
) -> Vec<TextRequirement> {
    vec![(
        Question {
            place: path,
            feature,
        },
        answers,
    )]
}

/// Returns a string, or the strings of a constant collection. Returns `None` if a member is not a string.
fn strings(term: &Term, constant: &dyn Fn(&Term) -> Option<Value>) -> Option<RequiredValues> {
    let value = constant(term)?;
    let values = if value.string_bytes().is_some() {
        smallvec![value]
    } else {
        symbolic::elements(&value)?
    };
    let are_strings = values.iter().all(|value| value.string_bytes().is_some());
    are_strings.then_some(values)
}

fn is_network(value: &Value) -> bool {
    value.utf8().is_some_and(|text| net::range(text).is_some())
}
