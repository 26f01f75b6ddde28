//! Rules that may conflict once the unknowns have values. Code that reads residuals as conditions must know them: if
//! two of them give a row different values, evaluation fails instead of returning a result.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Rule, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use crate::program::constant;
use crate::runtime::Halt;
use crate::topdown::machine::{SearchFlow, SearchResult, Topdown};
use crate::topdown::term::{FrameId, TermRef, is_document};
use crate::value::{RefRepr, ValueRef};

/// The ways in which one document or one call gets a value while something is unknown.
#[derive(Debug)]
pub struct Choice {
    /// The ways to get the value, each with its condition.
    pub ways: Vec<Way>,
}

/// One way to get a value: the condition, and where the value is.
#[derive(Debug)]
pub struct Way {
    /// Condition of this way, including the conditions saved before.
    pub body: Body,
    /// Keys from the document to the value. Empty if it is the document itself.
    pub keys: Vec<Term>,
    /// Value of the document or call.
    pub value: Term,
    /// Source location of the rule.
    pub span: Span,
}

/// A value found by a search for ways, with its environment.
pub(super) struct TracedValue<'e> {
    pub keys: &'e [Term],
    pub frame: FrameId,
    pub value: TermRef<'e>,
    pub span: Span,
}

impl<'e> TracedValue<'e> {
    /// Returns the value that a rule's head specifies.
    pub fn by_rule(rule: &'e Rule, keys: &'e [Term], frame: FrameId) -> Self {
        let value = rule.head.value.as_ref();
        Self {
            keys,
            frame,
            value: value.map_or(TermRef::Value(ValueRef(RefRepr::Bool(true))), |value| {
                TermRef::Term(value, frame)
            }),
            span: rule.span,
        }
    }
}

/// Returns `true` if rules may give different values at the same time.
pub(super) fn may_differ<'e>(rules: impl Iterator<Item = &'e Rule>) -> bool {
    let mut first = None;
    for rule in rules {
        let value = match &rule.head.value {
            None => TermKind::Boolean(true),
            Some(value) if constant(value).is_some() => value.kind.clone(),
            Some(_) => return true,
        };
        let value = Term::new(value, Span::default());
        if *first.get_or_insert_with(|| value.clone()) != value {
            return true;
        }
    }
    false
}

impl<'e> Topdown<'e> {
    pub(super) fn is_watching(&self) -> bool {
        self.opened()
            .is_some_and(|open| open.inlining.reports_choices)
    }

    /// Records the ways to get a value. `search` calls its argument with each value that it finds.
    pub(super) fn watch(
        &mut self,
        mut search: impl FnMut(
            &mut Self,
            &mut dyn FnMut(&mut Self, TracedValue<'e>) -> SearchResult,
        ) -> SearchResult,
    ) -> Result<(), Halt> {
        let mut ways: Vec<Way> = Vec::new();
        search(self, &mut |walk, reached| {
            let keys = reached.keys.iter();
            let keys: Vec<Term> = keys
                .map(|key| walk.residual(TermRef::Term(key, reached.frame)))
                .collect();
            let value = walk.residual(reached.value);
            let body = walk.residual_around()?;
            walk.count(0)?;
            let mut live: BTreeSet<_> = walk.unknown_documents();
            VarScan::default().collect(&value, &mut live);
            VarScan::default().collect(&keys, &mut live);
            if walk.is_possible(&body) {
                ways.push(Way {
                    body: walk.simplified(body, &live, &BTreeSet::new()),
                    keys,
                    value,
                    span: reached.span,
                });
            }
            Ok(SearchFlow::More)
        })?;
        // a variable may have another value in each solution
        let differs = ways.len() > 1
            && ways.iter().any(|way| {
                let first = ways.first().map(|first| &first.value);
                has_variables(&way.value) || first.is_some_and(|first| *first != way.value)
            });
        if differs && let Some(open) = self.opened_mut() {
            open.choices.push(Choice { ways });
        }
        Ok(())
    }
}

/// Returns `true` if a term has variables other than document names.
pub fn has_variables(term: &Term) -> bool {
    VarScan::default().any(term, |name| !is_document(name))
}
