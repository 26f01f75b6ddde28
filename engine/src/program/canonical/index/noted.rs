//! Notes of operands, and the constraints derived from them.

use solon_syntax::ast::Name;

use super::{ConditionOperand, Constraint, Test};
use crate::value::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What<'r> {
    /// A value exists, bound to this name if there is one.
    Something(Option<&'r Name>),
    /// A value exists that the index does not record.
    Value,
    Test(Test),
}

impl What<'_> {
    pub fn is_something(&self) -> bool {
        matches!(self, Self::Something(_))
    }

    pub fn is_end(&self) -> bool {
        matches!(self, Self::Test(test) if test.is_end())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note<'r> {
    pub place: ConditionOperand,
    pub what: What<'r>,
    /// Number of further values in lists, counting duplicates.
    pub further: usize,
}

/// Returns the constraints of notes. Of the notes of one operand, one must hold; the existence of a value follows from
/// any other note.
pub(super) fn constraints(list: Vec<Note<'_>>) -> Vec<Constraint> {
    let mut places: Vec<(ConditionOperand, usize, Vec<What<'_>>)> = Vec::new();
    for Note {
        place,
        what,
        further,
    } in list
    {
        match places.iter_mut().find(|(old, ..)| *old == place) {
            Some((_, count, noted)) => {
                *count += further;
                noted.push(what);
            }
            None => places.push((place, 1 + further, vec![what])),
        }
    }
    let constraint = |(place, count, noted): (ConditionOperand, usize, Vec<What<'_>>)| {
        let tests = if noted.contains(&What::Value) {
            Vec::new()
        } else {
            one_end(noted)
        };
        Constraint {
            place,
            tests,
            count,
        }
    };
    places.into_iter().map(constraint).collect()
}

/// Returns the tests of one operand. If there are prefixes and suffixes, those with the longer shortest text count, and
/// the prefixes if the lengths are equal. A prefix or suffix precedes other tests if it is the only one and only
/// existence notes come before it; otherwise it follows them.
fn one_end(noted: Vec<What<'_>>) -> Vec<Test> {
    let known = noted.iter().position(What::is_end);
    let before = known.and_then(|at| noted.get(..at)).unwrap_or_default();
    let is_alone = noted.iter().filter(|what| what.is_end()).count() == 1
        && !before.iter().any(What::is_something);
    let mut tests: Vec<Test> = noted
        .into_iter()
        .filter_map(|what| match what {
            What::Test(test) => Some(test),
            What::Something(_) | What::Value => None,
        })
        .collect();
    let shortest = |of: fn(&Test) -> Option<&Vec<Value>>| {
        let texts = tests.iter().filter_map(of).flatten();
        texts
            .map(|text| text.borrow().text_or_empty().as_bytes().len())
            .min()
    };
    let prefix = shortest(|test| match test {
        Test::Prefix(texts) => Some(texts),
        _ => None,
    });
    let suffix = shortest(|test| match test {
        Test::Suffix(texts) => Some(texts),
        _ => None,
    });
    if let (Some(prefix), Some(suffix)) = (prefix, suffix) {
        tests.retain(|test| match test {
            Test::Prefix(_) => suffix <= prefix,
            Test::Suffix(_) => suffix > prefix,
            _ => true,
        });
    }
    tests.sort_by_key(|test| test.is_end() != is_alone);
    tests
}
