//! What is noted of places, and the constraints that it comes to.

use solon_syntax::ast::Name;

use super::{ConditionOperand, Constraint, Test};
use crate::value::Value;

/// What is noted of a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What<'r> {
    /// Something is there, by this name if it has one.
    Something(Option<&'r Name>),
    /// A value is there of which the index keeps nothing.
    Value,
    /// What is there passes this test.
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
    /// Values that lists name there beyond their first, those counted that are named again.
    pub further: usize,
}

/// What must be at places. Of what is noted of one place it is enough that one holds; that something is there follows
/// from any other.
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

/// The tests of one place. Where some ask for the beginning of a text and some for its end, those count whose shortest
/// text is longer, and those for the beginning where they are equal. One end stands in front of other tests if it is the only
/// one and nothing before it only says that something is there; otherwise ends stand behind.
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
