//! Virtual documents: dispatch on their kind, and complete rules.

use solon_syntax::ast::Rule;

use super::index::RuleCandidates;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::reference::PendingRef;
use super::term::{NO_VALUE, TermRef};
use crate::bug::bug;
use crate::program::canonical::{Group, GroupKind};
use crate::runtime::Halt;
use crate::trace::{Count, Op};
use crate::value::{RefRepr, ValueRef};

impl<'e> Topdown<'e> {
    /// Calls `next` for each value below the document of a group of rules.
    pub(super) fn virtual_document(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let matches = self.candidates(goal, group, path, None);
        if group.arity > 0 {
            // functions have no document
            return Ok(SearchFlow::More);
        }
        if self.open.is_some()
            && let Some(outcome) = self.open_document(goal, group, &matches, path, target, next)
        {
            return outcome;
        }
        self.defer_conflict(
            |walk, next| match group.kind {
                GroupKind::Single if group.ground => {
                    walk.complete(goal, group, &matches, path, target, next)
                }
                _ => walk.partial(goal, group, &matches, path, target, next),
            },
            |walk, next| {
                let whole = walk.reference_at(path, target);
                walk.save_equal(goal, whole, target.other, next)
            },
            next,
        )
    }

    fn complete(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &RuleCandidates<'e>,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if let Some(kept) = self.scope().memo.get(path) {
            return self.descend_value(goal, *kept, target, next);
        }
        self.tally(Count::VirtualCacheMiss);
        let mut state = Complete {
            group,
            path,
            target,
            value: None,
            wanted: SearchFlow::More,
            clashed: false,
        };
        self.search_chains(group, matches, |walk, rule| {
            walk.complete_rule(goal, rule, matches.early_exit, &mut state, next)
        })?;
        if state.value.is_none() {
            self.scope_mut().memo.insert(path.into(), None);
        }
        Ok(state.wanted)
    }

    /// Searches rules with one value: for each, the members of its `else` chain up to the first with a solution, then
    /// the default if there was none. `search` returns `true` if a rule has a solution.
    pub(super) fn search_chains(
        &mut self,
        group: &'e Group,
        matches: &RuleCandidates<'e>,
        mut search: impl FnMut(&mut Self, &'e Rule) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        let mut found = false;
        for rule in &matches.rules {
            for member in &rule.chain {
                if search(self, member)? {
                    if matches.early_exit {
                        return Ok(());
                    }
                    found = true;
                    break;
                }
            }
        }
        if !found
            && let Some(default) = group.default.and_then(|at| self.program.canonical.rule(at))
        {
            search(self, default)?;
        }
        Ok(())
    }

    /// Searches the body of a complete rule. Returns `true` if it has a solution.
    fn complete_rule(
        &mut self,
        goal: Goal<'e>,
        rule: &'e Rule,
        find_one: bool,
        state: &mut Complete<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> Result<bool, Halt> {
        let child = self.child(goal, rule, find_one);
        self.rule_event(Op::Enter, child, rule);
        let mut hit = false;
        let outcome = self.run(child, &mut |walk| {
            hit = true;
            walk.rule_event(Op::Exit, child, rule);
            let value = walk.head_value(rule, child);
            if let Some(first) = state.value {
                if first != value {
                    state.clashed = true;
                    return Err(Halt::Conflict);
                }
                walk.rule_event(Op::Redo, child, rule);
                return Ok(SearchFlow::More);
            }
            state.value = Some(value);
            walk.scope_mut().memo.insert(state.path.into(), Some(value));
            let value = match &rule.head.value {
                // observers receive the head unevaluated
                Some(head) if walk.observer.is_some() => TermRef::Term(head, child.frame),
                _ => TermRef::Value(value),
            };
            state.wanted = walk.descend(goal, value, state.target, next)?;
            if state.wanted == SearchFlow::More {
                walk.rule_event(Op::Redo, child, rule);
            }
            Ok(state.wanted)
        });
        self.pop_frame();
        match outcome {
            Err(Halt::Conflict) if state.clashed => {
                Err(self.conflict(goal, state.group, state.path, None, rule))
            }
            outcome => outcome.map(|_| hit),
        }
    }

    /// Returns the value of a rule's head, `true` if it has none. Invariant: its variables are bound.
    pub(super) fn head_value(&mut self, rule: &'e Rule, child: Goal<'e>) -> ValueRef<'e> {
        match &rule.head.value {
            Some(value) => self
                .plug(TermRef::Term(value, child.frame))
                .unwrap_or_else(|| bug!(NO_VALUE)),
            None => ValueRef(RefRepr::Bool(true)),
        }
    }
}

/// State of a complete rule's document while its rules are searched.
struct Complete<'c, 'e> {
    group: &'e Group,
    path: &'c [ValueRef<'e>],
    target: PendingRef<'e>,
    value: Option<ValueRef<'e>>,
    wanted: SearchFlow,
    /// `true` if two rules gave different values.
    clashed: bool,
}
