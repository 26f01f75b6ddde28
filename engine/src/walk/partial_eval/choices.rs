//! Rules that may clash once the unknown is known: whoever reads residuals as conditions has to know of them, since a row
//! that two of them give different values is no answer but an error.

use std::collections::BTreeSet;

use solon_syntax::ast::{Body, Rule, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use crate::evaluation::Halt;
use crate::program::constant;
use crate::walk::machine::{Flow, Outcome, Walk};
use crate::walk::term::{FrameId, T};

/// The ways in which one document, or one call, gets a value while something is unknown.
#[derive(Debug)]
pub struct Choice {
    /// What each way takes, and the value that it leads to.
    pub ways: Vec<Way>,
}

/// One of them.
#[derive(Debug)]
pub struct Way {
    /// What it takes, together with what was asked before.
    pub body: Body,
    /// The keys below the document at which the value stands.
    pub keys: Vec<Term>,
    /// The value.
    pub value: Term,
    /// The rule.
    pub rule: Span,
}

/// Whether rules may give different values at once.
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

impl<'e> Walk<'e> {
    /// Whether choices are to be told.
    pub(super) fn is_watching(&self) -> bool {
        self.opened().is_some_and(|open| open.inlining.watched)
    }

    /// Notes the ways to a value. `search` calls with each solution's rule, the keys that its head has, and the environment of its variables.
    pub(super) fn watch(
        &mut self,
        mut search: impl FnMut(
            &mut Self,
            &mut dyn FnMut(&mut Self, &'e Rule, &'e [Term], FrameId) -> Outcome,
        ) -> Outcome,
    ) -> Result<(), Halt> {
        let mut ways: Vec<Way> = Vec::new();
        search(self, &mut |walk, rule, keys, frame| {
            let keys: Vec<Term> = keys
                .iter()
                .map(|key| walk.residual(T::Term(key, frame)))
                .collect();
            let value = match &rule.head.value {
                Some(value) => walk.residual(T::Term(value, frame)),
                None => Term::new(TermKind::Boolean(true), Span::default()),
            };
            let body = walk.residual_body()?;
            walk.count(0)?;
            let mut live: BTreeSet<_> = walk.unknown_documents();
            VarScan::default().collect(&value, &mut live);
            VarScan::default().collect(&keys, &mut live);
            if walk.is_possible(&body) {
                ways.push(Way {
                    body: walk.simplified(body, &live, &BTreeSet::new()),
                    keys,
                    value,
                    rule: rule.span,
                });
            }
            Ok(Flow::More)
        })?;
        let differs = ways.iter().any(|way| {
            let first = ways.first().map(|first| &first.value);
            first.is_some_and(|first| *first != way.value)
        });
        if differs && let Some(open) = self.opened_mut() {
            open.choices.push(Choice { ways });
        }
        Ok(())
    }
}
