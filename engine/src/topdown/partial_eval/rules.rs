//! Rules that depend on unknowns, searched in place of the reference to them.

use solon_syntax::ast::{Rule, Term, TermKind};
use solon_syntax::source::Span;

use super::choices::{TracedValue, may_differ};
use super::save::terms_of;
use super::support::{SupportKind, SupportLocation, SupportRequest};
use crate::bug::{Within as _, bug};
use crate::program::canonical::{Group, GroupKind};
use crate::program::constant;
use crate::runtime::Halt;
use crate::topdown::index::{Match, RuleCandidates};
use crate::topdown::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::partial::tail;
use crate::topdown::reference::PendingRef;
use crate::topdown::term::{FrameId, ResolvedTerm, TermRef};
use crate::trace::Op;
use crate::value::{RefRepr, ValueRef};

impl<'e> Topdown<'e> {
    /// Evaluates a document that is not fully known; returns `None` if ordinary evaluation applies.
    pub(in crate::topdown) fn open_document(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &RuleCandidates<'e>,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> Option<SearchResult> {
        let whole = self.reference_at(path, target);
        let ordered = matches.rules.iter().any(|rule| rule.chain.len() > 1);
        if ordered && self.depends(whole) {
            // the branch that applies is unknown
            let is_whole = group.kind == GroupKind::Single && group.ground;
            if is_whole && self.may_inline_chain(group, path, target) {
                match self.open_chain(goal, matches, target, next) {
                    Ok(Some(flow)) => return Some(Ok(flow)),
                    Ok(None) => {}
                    Err(halt) => return Some(Err(halt)),
                }
            }
            let terms = terms_of(target.reference);
            let reference = self.new_ref(&terms);
            return Some(self.save_equal(goal, reference, target.other, next));
        }
        let document = DocumentGoal {
            goal,
            group,
            matches,
            path,
            target,
        };
        if group.kind == GroupKind::Single && group.ground {
            self.open_complete(&document, next)
        } else {
            self.open_partial(&document, next)
        }
    }

    /// Returns `true` if a rule with `else` is neither hidden nor has a default that may be its value.
    fn may_inline_chain(
        &mut self,
        group: &'e Group,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
    ) -> bool {
        let full = self.below_data(path);
        let default = group.default.and_then(|at| self.program.canonical.rule(at));
        let needed = default.is_some_and(|default| self.needs_default(default, target));
        !(needed || self.is_shallow() || self.is_hidden(&full, false))
    }

    fn open_complete(
        &mut self,
        document: &DocumentGoal<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> Option<SearchResult> {
        let DocumentGoal {
            goal,
            group,
            matches,
            path,
            target,
        } = *document;
        let whole = self.reference_at(path, target);
        if !self.depends(whole) {
            return None;
        }
        let full = self.below_data(path);
        let default = group.default.and_then(|at| self.program.canonical.rule(at));
        let support = default.is_some_and(|default| self.needs_default(default, target))
            || self.is_shallow()
            || self.is_hidden(&full, false);
        if support {
            return Some(self.complete_support(document, next));
        }
        if let Err(halt) = self.watch_rules(document) {
            return Some(Err(halt));
        }
        let each = &mut |walk: &mut Self, one: &Match<'e>, child: Goal<'e>| {
            let value = head_value(one, child.frame);
            walk.solved(one, child, |walk| {
                walk.descend_open(goal, value, target, next)
            })
        };
        Some(self.each_rule(goal, &matches.rules, false, each))
    }

    /// Records the values that a document may have at the same time, below the requested keys.
    fn watch_rules(&mut self, document: &DocumentGoal<'_, 'e>) -> Result<(), Halt> {
        let DocumentGoal {
            goal,
            matches,
            path,
            target,
            ..
        } = *document;
        let mut rules = matches.rules.iter().filter_map(Match::rule);
        if !self.is_watching() || !may_differ(&mut rules) {
            return Ok(());
        }
        self.watch(|walk, reached| {
            walk.alternatives(&matches.rules, |walk, one| {
                let Some(rule) = one.rule() else {
                    return Ok(SearchFlow::More);
                };
                let child = walk.child(goal, rule, false);
                let outcome = match Head::new(one, path.len(), child.frame) {
                    Some(head) if head.member.is_none() => {
                        walk.match_open(goal, head, 0, target, &mut |walk| {
                            walk.run(child, &mut |walk| {
                                reached(walk, TracedValue::by_rule(rule, head.keys, child.frame))
                            })
                        })
                    }
                    _ => Ok(SearchFlow::More),
                };
                walk.pop_frame();
                outcome
            })
        })
    }

    /// Searches the bodies of rules, each in an environment of its own. Emits a failure event for rules with keys.
    fn each_rule(
        &mut self,
        goal: Goal<'e>,
        rules: &[Match<'e>],
        tells_failure: bool,
        solved: &mut dyn FnMut(&mut Self, &Match<'e>, Goal<'e>) -> SearchResult,
    ) -> SearchResult {
        self.alternatives(rules, |walk, one| {
            let Some(rule) = one.rule() else {
                return Ok(SearchFlow::More);
            };
            let child = walk.child(goal, rule, false);
            walk.rule_event(Op::Enter, child, rule);
            let mut is_defined = false;
            let outcome = walk.run(child, &mut |walk| {
                is_defined = true;
                solved(walk, one, child)
            });
            if !is_defined && tells_failure && outcome.is_ok() {
                walk.rule_event(Op::Fail, child, rule);
            }
            walk.pop_frame();
            outcome
        })
    }

    /// Emits that a rule has a solution and that the next one is searched.
    fn solved(
        &mut self,
        one: &Match<'e>,
        child: Goal<'e>,
        next: impl FnOnce(&mut Self) -> SearchResult,
    ) -> SearchResult {
        let Some(rule) = one.chain.first() else {
            return Ok(SearchFlow::More);
        };
        self.rule_event(Op::Exit, child, rule);
        let flow = next(self)?;
        if flow == SearchFlow::More {
            self.rule_event(Op::Redo, child, rule);
        }
        Ok(flow)
    }

    /// Returns `true` if the default of a rule may be the result, or cannot be distinguished from another result.
    fn needs_default(&mut self, default: &'e Rule, target: PendingRef<'e>) -> bool {
        let value = default.head.value.as_ref().and_then(constant);
        let is_false = value == Some(crate::value::Value(crate::value::Repr::Bool(false)));
        if is_false && target.step().is_none() && self.is_truth(target.other) {
            return false;
        }
        match self.plug(target.other) {
            Some(other) if target.step().is_none() => {
                value.is_none_or(|value| value.borrow() == other)
            }
            _ => true,
        }
    }

    fn complete_support(
        &mut self,
        document: &DocumentGoal<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (goal, path, target) = (document.goal, document.path, document.target);
        let wanted = SupportRequest {
            goal,
            group: document.group,
            matches: document.matches,
            path,
            kind: SupportKind::Complete,
        };
        let reference = match self.support(&wanted)? {
            SupportLocation::Nothing => return Ok(SearchFlow::More),
            SupportLocation::Here => self.namespaced(path, target),
            SupportLocation::Elsewhere => self.reference_at(path, target),
        };
        self.save_equal(goal, reference, target.other, next)
    }

    fn open_partial(
        &mut self,
        document: &DocumentGoal<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> Option<SearchResult> {
        let DocumentGoal {
            goal,
            matches,
            path,
            target,
            ..
        } = *document;
        let terms = terms_of(target.reference);
        let own = PendingRef {
            at: target.reference.len(),
            ..target
        };
        let own = self.reference_at(path, own);
        let unknown = self.depends(own);
        if target.step().is_none() {
            return unknown.then(|| self.partial_support(document, next));
        }
        let full = self.below_data(path);
        let settled = self.opened().is_some_and(|open| open.settled);
        let hidden = !settled && self.is_hidden(&full, false);
        if unknown && self.is_shallow() || hidden {
            return Some(self.partial_support(document, next));
        }
        let steps = terms.within(target.at..);
        if !is_truth_test(target.other) && !comes_whole(matches, path.len(), steps.len()) {
            return unknown.then(|| self.partial_support(document, next));
        }
        let open_steps = steps.iter().any(|step| self.depends(*step));
        if (unknown || open_steps)
            && let Err(halt) = self.watch_rules(document)
        {
            return Some(Err(halt));
        }
        if open_steps {
            let each = &mut |walk: &mut Self, one: &Match<'e>, child: Goal<'e>| {
                let Some(head) = Head::new(one, path.len(), child.frame) else {
                    return Ok(SearchFlow::More);
                };
                walk.match_open(goal, head, 0, target, &mut |walk| {
                    walk.solved(one, child, |walk| {
                        walk.descend_head(goal, head, target, next)
                    })
                })
            };
            return Some(self.each_rule(goal, &matches.rules, true, each));
        }
        if !unknown {
            return None;
        }
        Some(self.partial_inline(document, next))
    }

    /// Searches rules whose keys are matched before their bodies.
    fn partial_inline(
        &mut self,
        document: &DocumentGoal<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let DocumentGoal { goal, target, .. } = *document;
        self.alternatives(&document.matches.rules, |walk, one| {
            let Some(rule) = one.rule() else {
                return Ok(SearchFlow::More);
            };
            let child = walk.child(goal, rule, false);
            walk.rule_event(Op::Enter, child, rule);
            let mut entered = false;
            let outcome = match Head::new(one, document.path.len(), child.frame) {
                Some(head) => walk.match_open(goal, head, 0, target, &mut |walk| {
                    entered = true;
                    walk.run(child, &mut |walk| {
                        walk.solved(one, child, |walk| {
                            walk.descend_head(goal, head, target, next)
                        })
                    })
                }),
                None => Ok(SearchFlow::More),
            };
            if !entered && outcome.is_ok() {
                walk.rule_event(Op::Fail, child, rule);
            }
            walk.pop_frame();
            outcome
        })
    }

    fn partial_support(
        &mut self,
        document: &DocumentGoal<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (goal, group, path, target) = (
            document.goal,
            document.group,
            document.path,
            document.target,
        );
        let wanted = SupportRequest {
            goal,
            group,
            matches: document.matches,
            path,
            kind: SupportKind::Partial,
        };
        let steps = target.reference.len().checked_sub(target.at);
        let steps = steps.unwrap_or_else(|| bug!("a step behind the last one"));
        let reference = match self.support(&wanted)? {
            SupportLocation::Nothing => None,
            SupportLocation::Here => Some(self.namespaced(path, target)),
            SupportLocation::Elsewhere => Some(self.reference_at(path, target)),
        };
        if let Some(reference) = reference {
            let mut rests = rests(document.matches, path.len(), steps);
            if rests.any(|(rest, member)| member || !rest.is_empty()) {
                self.support_whole(path);
            }
            return self.save_equal(goal, reference, target.other, next);
        }
        if target.step().is_some() {
            return Ok(SearchFlow::More);
        }
        let arena = self.call.arena;
        let empty = match group.kind {
            GroupKind::Multiple if group.ground => arena.set_from([]),
            _ => arena.object_from([]),
        };
        self.unify(goal, TermRef::Value(empty), target.other, next)
    }

    /// Matches the terms of a head after the path of its group, step by step.
    fn match_open(
        &mut self,
        goal: Goal<'e>,
        head: Head<'e>,
        at: usize,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let term = match head.keys.get(at) {
            Some(term) => Some(term),
            None if at == head.keys.len() => head.member,
            None => None,
        };
        match (term, target.reference.get(target.at + at)) {
            (Some(term), Some(step)) => {
                let term = TermRef::Term(term, head.frame);
                self.unify(goal, step, term, &mut |walk| {
                    walk.match_open(goal, head, at + 1, target, next)
                })
            }
            _ => next(self),
        }
    }

    /// Descends into the document that the head of a rule produces.
    fn descend_head(
        &mut self,
        goal: Goal<'e>,
        head: Head<'e>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(value) = head.member.or(head.value) else {
            bug!("a rule that makes neither a member nor a value");
        };
        match self.wrapped(value, head.member.is_some(), head.keys) {
            Some(term) => self.descend_open(goal, TermRef::Term(term, head.frame), target, next),
            None => Ok(SearchFlow::More),
        }
    }

    /// Returns a value wrapped in the objects that a head's keys build.
    fn wrapped(&mut self, value: &'e Term, member: bool, keys: &'e [Term]) -> Option<&'e Term> {
        let open = self.opened_mut()?;
        let key = (std::ptr::from_ref(value), keys.len());
        if let Some(kept) = open.wrapped.get(&key) {
            return Some(kept);
        }
        let mut document = value.clone();
        if member {
            document = Term::new(TermKind::Set(vec![document].into()), Span::default());
        }
        for key in keys.iter().rev() {
            let pair = (key.clone(), document);
            document = Term::new(TermKind::Object(vec![pair].into()), Span::default());
        }
        let kept = open.terms.keep(document)?;
        open.wrapped.insert(key, kept);
        Some(kept)
    }

    /// Returns a path with `data` as its first element.
    pub(in crate::topdown) fn below_data(&self, path: &[ValueRef<'e>]) -> Vec<ValueRef<'e>> {
        let data = self.call.arena.text("data");
        std::iter::once(data).chain(path.iter().copied()).collect()
    }

    pub(super) fn is_shallow(&self) -> bool {
        self.opened().is_some_and(|open| open.inlining.shallow)
    }
}

#[derive(Clone, Copy)]
struct DocumentGoal<'d, 'e> {
    goal: Goal<'e>,
    group: &'e Group,
    matches: &'d RuleCandidates<'e>,
    path: &'d [ValueRef<'e>],
    target: PendingRef<'e>,
}

/// The head of a rule after the path of its group.
#[derive(Clone, Copy)]
struct Head<'e> {
    keys: &'e [Term],
    /// The element, if the rule produces a set.
    member: Option<&'e Term>,
    value: Option<&'e Term>,
    frame: FrameId,
}

impl<'e> Head<'e> {
    fn new(one: &Match<'e>, depth: usize, frame: FrameId) -> Option<Self> {
        let rule = one.rule()?;
        let value = rule.head.value.as_ref();
        Some(Self {
            keys: tail(rule, depth, one.member.package),
            member: rule.head.key.as_ref().filter(|_| value.is_none()),
            value,
            frame,
        })
    }
}

/// Returns `true` if a value is only tested for not being `false`. In that case, testing each part of it is enough.
fn is_truth_test(other: TermRef<'_>) -> bool {
    matches!(other.resolved(), ResolvedTerm::Var(name, _) if name.starts_with("$_term"))
}

/// Returns `true` if the document `steps` below the path of the group comes from one solution. Sets and objects that
/// several solutions may add to are a result only as a whole.
fn comes_whole(matches: &RuleCandidates<'_>, depth: usize, steps: usize) -> bool {
    let mut all = rests(matches, depth, steps);
    let Some((first, _)) = rests(matches, depth, steps).next() else {
        return true;
    };
    let below = rests(matches, depth, steps).any(|(rest, member)| member || !rest.is_empty());
    // with equal names below, two solutions compete for one path
    !below || all.all(|(rest, member)| !member && rest == first && rest.iter().all(Term::is_scalar))
}

/// Returns the terms of each head after `count` keys, and `true` if a set member follows them.
fn rests<'m>(
    matches: &'m RuleCandidates<'_>,
    depth: usize,
    steps: usize,
) -> impl Iterator<Item = (&'m [Term], bool)> {
    matches.rules.iter().filter_map(move |one| {
        let rule = one.rule()?;
        let keys = tail(rule, depth, one.member.package);
        let member = rule.head.key.is_some() && rule.head.value.is_none();
        Some((
            keys.get(steps..).unwrap_or(&[]),
            member && keys.len() >= steps,
        ))
    })
}

fn head_value<'e>(one: &Match<'e>, frame: FrameId) -> TermRef<'e> {
    let value = one.rule().and_then(|rule| rule.head.value.as_ref());
    value.map_or(TermRef::Value(ValueRef(RefRepr::Bool(true))), |value| {
        TermRef::Term(value, frame)
    })
}
