//! Environments: variable bindings, and lookups that follow them.

use solon_syntax::ast::{Term, TermKind};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::machine::{Continuation, SearchResult, Topdown};
use super::term::{BuiltTerm, FrameId, ResolvedTerm, TermList, TermRef, is_document};
use crate::bug::bug;
use crate::program::constant;
use crate::trace::MeasuredOperation;
use crate::value::{RefRepr, ValueRef};

const NO_FRAME: &str = "an environment that is not open";

/// Variables of one rule, or of the query, by name.
pub(super) type RuleBindings<'e> =
    hashbrown::HashMap<&'e str, Binding<'e>, foldhash::fast::RandomState>;

#[derive(Clone, Copy)]
pub(super) struct Binding<'e> {
    pub term: TermRef<'e>,
    /// Source location of the bound variable.
    pub span: Span,
}

impl<'e> Topdown<'e> {
    pub(super) fn push_frame(&mut self) -> FrameId {
        let frame = self.spare.pop().unwrap_or_default();
        self.frames.push(frame);
        FrameId::try_from(self.frames.len() - 1)
            .unwrap_or_else(|_| bug!("there are more environments than numbers"))
    }

    pub(super) fn pop_frame(&mut self) {
        if let Some(mut frame) = self.frames.pop() {
            frame.clear();
            self.spare.push(frame);
        }
    }

    pub(super) fn binding(&self, name: &str, frame: FrameId) -> Option<TermRef<'e>> {
        let bound = self.frames.get(frame as usize)?.get(name)?;
        Some(bound.term)
    }

    /// Calls `next` with the variable bound, and removes the binding afterwards.
    pub(super) fn with_binding(
        &mut self,
        (name, frame): (&'e str, FrameId),
        bound: Binding<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if let Some(frame) = self.frame_mut(frame) {
            frame.insert(name, bound);
        }
        let outcome = next(self);
        if let Some(frame) = self.frame_mut(frame) {
            frame.remove(name);
        }
        outcome
    }

    /// Returns an environment that has not been popped.
    pub(super) fn frame_mut(&mut self, frame: FrameId) -> Option<&mut RuleBindings<'e>> {
        let frame = self.frames.get_mut(frame as usize);
        if frame.is_none() {
            bug!(NO_FRAME);
        }
        frame
    }

    /// Iterates over the bindings of an environment.
    pub(super) fn all_bindings(
        &self,
        frame: FrameId,
    ) -> impl Iterator<Item = (&'e str, TermRef<'e>)> {
        let frame = self.frames.get(frame as usize);
        if frame.is_none() {
            bug!(NO_FRAME);
        }
        let bound = frame.into_iter().flatten();
        bound.map(|(name, bound)| (*name, bound.term))
    }

    /// Follows bound variables. A constant term is returned as a value.
    pub(super) fn apply(&mut self, mut term: TermRef<'e>) -> TermRef<'e> {
        loop {
            let bound = match term {
                TermRef::Value(_) | TermRef::Built(BuiltTerm::Ref(_)) => None,
                TermRef::Built(BuiltTerm::Var(name, frame)) => self.binding(name, *frame),
                TermRef::Term(inner, frame) => match &inner.kind {
                    TermKind::Var(name) if !is_document(name) => self.binding(name, frame),
                    TermKind::Ref(_) | TermKind::Var(_) => None,
                    _ => return self.constant(inner).map_or(term, TermRef::Value),
                },
            };
            match bound {
                Some(next) => term = next,
                None => return term,
            }
        }
    }

    /// Returns the value of a term without variables, references and closures; `None` for other terms.
    pub(super) fn constant(&mut self, term: &'e Term) -> Option<ValueRef<'e>> {
        let arena = self.call.arena;
        match &term.kind {
            TermKind::Null => Some(ValueRef(RefRepr::Null)),
            TermKind::Boolean(truth) => Some(ValueRef(RefRepr::Bool(*truth))),
            TermKind::String(text) => Some(arena.borrowed_text(text)),
            TermKind::Number(_) => constant(term).map(|value| arena.copy_of(&value)),
            // cached by address: terms of the program do not move
            TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_) => *self
                .constants
                .entry(std::ptr::from_ref(term))
                .or_insert_with(|| constant(term).map(|value| arena.copy_of(&value))),
            _ => None,
        }
    }

    /// Returns the value of a term if all its variables are bound to values.
    pub(super) fn plug(&mut self, term: TermRef<'e>) -> Option<ValueRef<'e>> {
        let start = self.begin();
        let value = self.value_of(term);
        self.end(MeasuredOperation::Plug, start);
        value
    }

    fn value_of(&mut self, term: TermRef<'e>) -> Option<ValueRef<'e>> {
        let term = self.apply(term);
        match term.resolved() {
            ResolvedTerm::Value(value) => Some(value),
            ResolvedTerm::Array(items) => {
                let items = stack::level(|| self.plug_all(items))?;
                Some(self.call.arena.array_of(items.into_bump_slice()))
            }
            ResolvedTerm::Set(items, frame) => {
                let items = stack::level(|| self.plug_all(TermList::Terms(items, frame)))?;
                Some(self.call.arena.set_from(items))
            }
            ResolvedTerm::Object(pairs, frame) => {
                let mut plugged = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let key = stack::level(|| self.value_of(TermRef::Term(key, frame)))?;
                    let value = stack::level(|| self.value_of(TermRef::Term(value, frame)))?;
                    plugged.push((key, value));
                }
                Some(self.call.arena.object_from(plugged))
            }
            _ => None,
        }
    }

    /// Returns the values of several terms, or `None` if one has none.
    pub(super) fn plug_all(
        &mut self,
        items: TermList<'e>,
    ) -> Option<bumpalo::collections::Vec<'e, ValueRef<'e>>> {
        let mut plugged = self.call.arena.list();
        for at in 0..items.len() {
            plugged.push(self.value_of(items.get(at)?)?);
        }
        Some(plugged)
    }
}
