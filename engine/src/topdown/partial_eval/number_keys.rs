//! Numbers as unknown keys of base documents.
//!
//! Below a base document, a number selects the key that is its text ([`base_child`](crate::evaluation::base_child)), so
//! a key like `"100"` is selected by the string `"100"` and by the number written `100`. OPA compares the unknown with
//! the string alone. The number needs its own test, and `100 = x` is not enough: it also holds for `100.0` and `1e2`,
//! which are other keys.

use solon_syntax::ast::Term;
use solon_syntax::source::Span;

use super::save::SavedKind;
use crate::program::canonical::DocNodeId;
use crate::topdown::machine::{Continuation, Goal, SearchResult, Topdown};
use crate::topdown::term::TermRef;
use crate::value::{NumberBuf, ValueRef};

/// The built-in that returns the text of a number as it is written.
pub const NUMBER_TEXT: &str = "json.marshal";

/// Returns `true` for the terms of a call that tests whether a number has a certain text.
pub(super) fn is_number_key(terms: &[Term]) -> bool {
    let [operator, _, text] = terms else {
        return false;
    };
    operator.is_operator(NUMBER_TEXT) && text.as_string().is_some()
}

#[derive(Clone, Copy)]
pub(in crate::topdown) struct PossibleKey<'e> {
    pub key: ValueRef<'e>,
    /// The stored key, if `key` is the number with that text. Otherwise `None`.
    pub text: Option<ValueRef<'e>>,
}

impl<'e> PossibleKey<'e> {
    pub fn stored(key: ValueRef<'e>) -> Self {
        Self { key, text: None }
    }
}

impl<'e> Topdown<'e> {
    /// Returns `true` for a step that is unknown as a whole, not only in parts.
    pub(in crate::topdown) fn is_unknown_step(&mut self, step: TermRef<'e>) -> bool {
        let step = self.apply(step);
        self.is_unknown(step)
    }

    /// Returns the possible values of an unknown step: the keys of a document, each followed by the number with that
    /// text if `numbers` is set. A rule whose name is that number is found by the number itself.
    pub(in crate::topdown) fn possible_keys(
        &self,
        keys: Vec<ValueRef<'e>>,
        numbers: bool,
        site: Option<DocNodeId>,
    ) -> Vec<PossibleKey<'e>> {
        let number = |text: ValueRef<'e>| {
            let number = NumberBuf::parse(text.utf8().filter(|_| numbers)?)?;
            let key = self.call.arena.number(number);
            let ruled = site.and_then(|site| self.doc_tree().child(site, key));
            ruled.is_none().then_some(PossibleKey {
                key,
                text: Some(text),
            })
        };
        let each = |key: ValueRef<'e>| std::iter::once(PossibleKey::stored(key)).chain(number(key));
        keys.into_iter().flat_map(each).collect()
    }

    /// Saves that an unknown step is the number written as `text`.
    pub(in crate::topdown) fn save_number_key(
        &mut self,
        goal: Goal<'e>,
        step: TermRef<'e>,
        text: ValueRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let operator = Term::operator(NUMBER_TEXT, Span::default());
        let test = SavedKind::Call(operator, vec![step, TermRef::Value(text)]);
        self.save(goal, vec![test], &[], next)
    }
}
