//! What tests of texts need: prefixes, suffixes, segments and networks.

use smallvec::smallvec;
use solon_syntax::ast::Term;

use super::conditions::Answers;
use super::spots;
use crate::builtins::{glob, net, regex};
use crate::program::{Delimiters, Feature, Place, Question};
use crate::value::Value;

/// A question and the answers of which one is needed.
pub type Need = (Question, Answers);

/// What a call needs to hold.
pub fn needs(
    operator: &Term,
    operands: &[Term],
    place: &dyn Fn(&Term) -> Option<Place>,
    constant: &dyn Fn(&Term) -> Option<Value>,
) -> Vec<Need> {
    let is = |name: &str| operator.is_operator(name);
    let found = match operands {
        [text, base] if is("startswith") || is("strings.any_prefix_match") => {
            strings(base, constant)
                .and_then(|bases| Some(one(place(text)?, Feature::Prefix, bases)))
        }
        [text, base] if is("endswith") || is("strings.any_suffix_match") => strings(base, constant)
            .and_then(|bases| Some(one(place(text)?, Feature::Suffix, bases))),
        [network, address] if is("net.cidr_contains") => strings(network, constant)
            .filter(|networks| networks.iter().all(is_network))
            .and_then(|networks| Some(one(place(address)?, Feature::Network, networks))),
        [pattern, text] if is("regex.match") || is("re_match") => place(text)
            .zip(constant(pattern))
            .and_then(|(place, pattern)| Some(one(place, Feature::Prefix, beginnings(&pattern)?))),
        [pattern, delimiters, text] if is("glob.match") => place(text)
            .zip(constant(pattern).zip(constant(delimiters)))
            .and_then(|(place, (pattern, delimiters))| globs(&place, &pattern, &delimiters)),
        _ => None,
    };
    found.unwrap_or_default()
}

fn one(place: Place, feature: Feature, answers: Answers) -> Vec<Need> {
    vec![(Question { place, feature }, answers)]
}

/// A string, or the strings of a constant collection.
fn strings(term: &Term, constant: &dyn Fn(&Term) -> Option<Value>) -> Option<Answers> {
    let value = constant(term)?;
    let values = if value.string_bytes().is_some() {
        smallvec![value]
    } else {
        spots::elements(&value)?
    };
    let are_strings = values.iter().all(|value| value.string_bytes().is_some());
    are_strings.then_some(values)
}

fn is_network(value: &Value) -> bool {
    value.utf8().is_some_and(|text| net::range(text).is_some())
}

/// What strings begin with that a regular expression matches.
fn beginnings(pattern: &Value) -> Option<Answers> {
    let found = regex::beginnings(pattern.utf8()?);
    Some(found.iter().map(|text| Value::bytes(text)).collect())
}

fn globs(place: &Place, pattern: &Value, delimiters: &Value) -> Option<Vec<Need>> {
    let delimiters = glob::delimiters(delimiters.borrow()).ok()?;
    let certain = glob::Certain::of(pattern.utf8()?, &delimiters)?;
    let ask = |feature: Feature| Question {
        place: place.clone(),
        feature,
    };
    let mut needs: Vec<Need> = Vec::new();
    for (feature, text) in [
        (Feature::Prefix, &certain.start),
        (Feature::Suffix, &certain.end),
    ] {
        if !text.is_empty() {
            needs.push((ask(feature), smallvec![Value::string(text)]));
        }
    }
    let delimiters = Delimiters::Chars(delimiters.as_slice().into());
    for (at, segment) in certain.segments.iter().enumerate() {
        if let Some(segment) = segment {
            let question = ask(Feature::Segment(delimiters.clone(), at));
            needs.push((question, smallvec![Value::string(segment)]));
        }
    }
    if certain.whole {
        let count = Value::Int(i64::try_from(certain.segments.len()).ok()?);
        needs.push((ask(Feature::Segments(delimiters)), smallvec![count]));
    }
    Some(needs)
}
