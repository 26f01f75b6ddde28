//! Prechecks as text, for dumps of plans.

use std::fmt;

use super::{Dump, bracketed, joined};
use crate::program::canonical::{ConditionOperand, Test};
use crate::program::plan::Precheck;
use crate::value::Value;

impl Dump<'_> {
    pub(super) fn precheck(&mut self, precheck: &Precheck) -> fmt::Result {
        let when = if precheck.always {
            "screen"
        } else {
            "screen when strict"
        };
        for (constraints, at) in precheck.conditions.alternatives.iter().zip(0..) {
            self.line(if at == 0 { when } else { "or" })?;
            self.within(|dump| {
                constraints.iter().try_for_each(|constraint| {
                    let place = place(&constraint.place);
                    if constraint.tests.is_empty() {
                        return dump.line(format_args!("{place} defined"));
                    }
                    let tests = joined(constraint.tests.iter().map(test));
                    dump.line(format_args!("{place} {tests}"))
                })
            })?;
        }
        for membership in &precheck.conditions.memberships {
            let (key, collection) = (place(&membership.key), place(&membership.collection));
            self.line(format_args!("{when} {collection} has {key}"))?;
        }
        Ok(())
    }
}

fn place(place: &ConditionOperand) -> String {
    match place {
        ConditionOperand::Input(keys) => format!("input{}", bracketed(keys)),
        ConditionOperand::Data(keys) => format!("base{}", bracketed(keys)),
        ConditionOperand::Argument(at) => format!("s{at}"),
    }
}

fn test(test: &Test) -> String {
    let values = |values: &[Value]| joined(values.iter().map(Value::rego_text));
    match test {
        Test::Equal(value) => format!("== {}", value.borrow().rego_text()),
        Test::Items(items) => {
            let items = items.iter();
            format!(
                "== [{}]",
                joined(items.map(|item| match item {
                    Some(item) => item.borrow().rego_text().to_string(),
                    None => "_".to_owned(),
                }))
            )
        }
        Test::Contains(value) => format!("contains {}", value.borrow().rego_text()),
        Test::Prefix(texts) => format!("begins with {}", values(texts)),
        Test::Suffix(texts) => format!("ends with {}", values(texts)),
        Test::Segments(segments, delimiters) => {
            let segments = segments
                .iter()
                .map(|segment| segment.as_deref().unwrap_or("*"));
            format!(
                "has segments {} between {}",
                joined(segments),
                joined(delimiters)
            )
        }
    }
}
