//! Conditions of pattern matches: prefixes of regular expressions, segments of globs.

use smallvec::smallvec;
use solon_syntax::ast::Term;

use super::conditions::RequiredValues;
use super::texts::{TextRequirement, one};
use crate::builtins::{IndexTest, glob, regex};
use crate::program::{AccessPath, Delimiters, Question, ValueFeature};
use crate::value::{Repr, Value};

/// Returns the conditions for a call to hold.
pub fn needs(
    test: IndexTest,
    operands: &[Term],
    access_path: &dyn Fn(&Term) -> Option<AccessPath>,
    constant: &dyn Fn(&Term) -> Option<Value>,
) -> Option<Vec<TextRequirement>> {
    match (test, operands) {
        (IndexTest::Pattern, [pattern, text]) => {
            let (access_path, pattern) = access_path(text).zip(constant(pattern))?;
            Some(one(
                access_path,
                ValueFeature::Prefix,
                beginnings(&pattern)?,
            ))
        }
        (IndexTest::Glob, [pattern, delimiters, text]) => {
            let access_path = access_path(text)?;
            globs(&access_path, &constant(pattern)?, &constant(delimiters)?)
        }
        _ => None,
    }
}

/// Returns the prefixes of strings that a regular expression matches.
fn beginnings(pattern: &Value) -> Option<RequiredValues> {
    let found = regex::beginnings(pattern.utf8()?);
    Some(found.iter().map(|text| Value::bytes(text)).collect())
}

fn globs(place: &AccessPath, pattern: &Value, delimiters: &Value) -> Option<Vec<TextRequirement>> {
    let delimiters = glob::delimiters(delimiters.borrow()).ok()?;
    let certain = glob::Certain::from_pattern(pattern.utf8()?, &delimiters)?;
    let ask = |feature: ValueFeature| Question {
        place: place.clone(),
        feature,
    };
    let mut needs: Vec<TextRequirement> = Vec::new();
    for (feature, text) in [
        (ValueFeature::Prefix, &certain.start),
        (ValueFeature::Suffix, &certain.end),
    ] {
        if !text.is_empty() {
            needs.push((ask(feature), smallvec![Value::string(text)]));
        }
    }
    let delimiters = Delimiters::Chars(delimiters.as_slice().into());
    for (at, segment) in certain.segments.iter().enumerate() {
        if let Some(segment) = segment {
            let question = ask(ValueFeature::Segment(delimiters.clone(), at));
            needs.push((question, smallvec![Value::string(segment)]));
        }
    }
    if certain.whole {
        let count = Value(Repr::Int(i64::try_from(certain.segments.len()).ok()?));
        needs.push((ask(ValueFeature::Segments(delimiters)), smallvec![count]));
    }
    Some(needs)
}
