//! Documents that rules build piece by piece: sets, objects, and documents below heads with variables.

use solon_syntax::ast::{Rule, Term};

use super::documents::DataPath;
use super::index::RuleCandidates;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::reference::PendingRef;
use super::term::{FrameId, NO_VALUE, ResolvedTerm, TermRef};
use crate::bug::{Within as _, bug};
use crate::program::canonical::{Group, GroupKind, GroupRule};
use crate::runtime::{DocumentBuilder, Halt, fixed_key_name};
use crate::trace::{Count, Op};
use crate::value::ValueRef;

/// The part of a document that a reference requests.
struct RequestedKeys<'e> {
    /// Path of the document, followed by the known keys below it.
    path: DataPath<'e>,
    /// Number of known keys in the path.
    keys: usize,
    /// Steps after the path, as far as rule heads extend; `None` for variables.
    deeper: Vec<Option<ValueRef<'e>>>,
    /// `true` if the first step after the path is not just a variable, so that heads are unified with the reference
    /// before their bodies are searched.
    narrowed: bool,
    /// `true` if the result can be reused for an equal reference: no step mixes variables with other terms, and no
    /// variable occurs twice.
    plain: bool,
}

impl<'e> Topdown<'e> {
    pub(super) fn partial(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &RuleCandidates<'e>,
        path: &[ValueRef<'e>],
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if let Some(whole @ Some(_)) = self.scope().memo.get(path) {
            return self.descend_value(goal, *whole, target, next);
        }
        let mut requested = RequestedKeys {
            path: path.into(),
            keys: 0,
            deeper: Vec::new(),
            narrowed: target.step().is_some_and(|step| self.narrows(step)),
            plain: true,
        };
        let mut rest = target;
        let mut free: Vec<(&'e str, FrameId)> = Vec::new();
        while requested.path.len() + requested.deeper.len() + 1 < group.longest
            && let Some(step) = target.reference.get(rest.at + requested.deeper.len())
        {
            let key = self.plug(step);
            if let Some(key) = key.filter(|_| requested.deeper.is_empty()) {
                requested.path.push(key);
                requested.keys += 1;
                rest = rest.next();
                if let Some(kept) = self.scope().memo.get(requested.path.as_slice()) {
                    return self.descend_value(goal, *kept, rest, next);
                }
                continue;
            }
            if requested.keys == 0 {
                break;
            }
            if key.is_none() {
                match self.apply(step).resolved() {
                    ResolvedTerm::Var(name, frame) if !free.contains(&(name, frame)) => {
                        free.push((name, frame));
                    }
                    _ => requested.plain = false,
                }
            }
            requested.deeper.push(key);
            if requested.plain && key.is_some() {
                let kept = self.cached_for(&mut requested);
                if kept.is_some() {
                    return self.descend_value(goal, kept, rest, next);
                }
            }
        }
        self.tally(Count::VirtualCacheMiss);
        let document = self.build(goal, group, matches, path, &requested, target)?;
        self.keep(requested, matches, path, rest, document);
        self.descend(goal, TermRef::Value(document), target, next)
    }

    /// Returns the cached result of an equal reference.
    fn cached_for(&mut self, requested: &mut RequestedKeys<'e>) -> Option<ValueRef<'e>> {
        let path = std::mem::take(&mut requested.path);
        let narrow = (path, std::mem::take(&mut requested.deeper));
        let kept = self.scope().narrowed.get(&narrow).copied();
        (requested.path, requested.deeper) = narrow;
        kept
    }

    /// Caches the result below the known keys, unless it is undefined.
    fn keep(
        &mut self,
        mut requested: RequestedKeys<'e>,
        matches: &RuleCandidates<'e>,
        path: &[ValueRef<'e>],
        rest: PendingRef<'e>,
        document: ValueRef<'e>,
    ) {
        if !requested.narrowed {
            // if no rule can match, only requests for the whole document are cached
            if rest.step().is_none() || !matches.rules.is_empty() {
                let memo = &mut self.scope_mut().memo;
                memo.insert(path.into(), Some(document));
            }
            return;
        }
        let mut keys = requested.path.iter().skip(path.len());
        let found = keys.try_fold(document, |value, key| value.lookup(*key));
        let Some(found) = found.filter(|_| requested.keys > 0 && requested.plain) else {
            return;
        };
        // trailing variables do not restrict the request
        let known = requested.deeper.iter().rposition(Option::is_some);
        requested.deeper.truncate(known.map_or(0, |last| last + 1));
        if requested.deeper.is_empty() {
            let memo = &mut self.scope_mut().memo;
            memo.insert(requested.path.as_slice().into(), Some(found));
        } else {
            let narrow = (requested.path, requested.deeper);
            self.scope_mut().narrowed.insert(narrow, found);
        }
    }

    fn narrows(&mut self, step: TermRef<'e>) -> bool {
        !matches!(self.apply(step).resolved(), ResolvedTerm::Var(..))
    }

    /// Collects what the rules produce, restricted to the reference where it specifies more than a variable.
    fn build(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &RuleCandidates<'e>,
        path: &[ValueRef<'e>],
        requested: &RequestedKeys<'e>,
        target: PendingRef<'e>,
    ) -> Result<ValueRef<'e>, Halt> {
        let mut extent = DocumentBuilder::Empty;
        for rule in &matches.rules {
            let Some(first) = rule.rule() else {
                continue;
            };
            let site = ExtentBuilder {
                goal,
                group,
                path,
                narrowed: requested.narrowed,
                target,
            };
            self.produce(&site, rule.member.package, first, &mut extent)?;
        }
        if let Some(default) = group.default
            && let Some(rule) = self.program.canonical.rule(default)
        {
            let tail = tail(rule, path.len(), self.package_of(default));
            self.fill(tail, rule, &mut extent);
        }
        let arena = self.call.arena;
        let empty = || match group.kind {
            GroupKind::Multiple if group.ground => arena.set_from([]),
            _ => arena.object_from([]),
        };
        Ok(extent.finish(arena).unwrap_or_else(empty))
    }

    fn produce(
        &mut self,
        site: &ExtentBuilder<'_, 'e>,
        package: usize,
        rule: &'e Rule,
        extent: &mut DocumentBuilder<'e>,
    ) -> Result<(), Halt> {
        let child = self.child(site.goal, rule, false);
        self.rule_event(Op::Enter, child, rule);
        let tail = tail(rule, site.path.len(), package);
        let mut solved = |walk: &mut Self| {
            walk.rule_event(Op::Exit, child, rule);
            let made = walk.insert(tail, rule, child, extent)?;
            if !made && site.narrowed {
                walk.rule_event(Op::Duplicate, child, rule);
            }
            walk.rule_event(Op::Redo, child, rule);
            Ok(SearchFlow::More)
        };
        let outcome = if site.narrowed {
            let mut entered = false;
            let outcome = self.match_head(site, child, tail, rule, 0, &mut |walk| {
                entered = true;
                walk.run(child, &mut solved)
            });
            if !entered && outcome.is_ok() {
                self.rule_event(Op::Fail, child, rule);
            }
            outcome
        } else {
            self.run(child, &mut solved)
        };
        self.pop_frame();
        match outcome {
            Err(Halt::Conflict) => Err(self.key_conflict(site, rule)),
            outcome => outcome.map(drop),
        }
    }

    /// Unifies the head of a rule with the steps of a reference.
    fn match_head(
        &mut self,
        site: &ExtentBuilder<'_, 'e>,
        child: Goal<'e>,
        tail: &'e [Term],
        rule: &'e Rule,
        at: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let term = match tail.get(at) {
            Some(term) => Some(term),
            None if at == tail.len() && rule.head.value.is_none() => rule.head.key.as_ref(),
            None => None,
        };
        let target = site.target;
        match (term, target.reference.get(target.at + at)) {
            (Some(term), Some(step)) => {
                let term = TermRef::Term(term, child.frame);
                self.unify(child.head(rule), step, term, &mut |walk| {
                    walk.match_head(site, child, tail, rule, at + 1, next)
                })
            }
            _ => next(self),
        }
    }

    /// Inserts the entry of a rule's head into the document. Returns `true` if it is new.
    fn insert(
        &mut self,
        tail: &'e [Term],
        rule: &'e Rule,
        child: Goal<'e>,
        extent: &mut DocumentBuilder<'e>,
    ) -> Result<bool, Halt> {
        let keys = tail.iter().map(|term| {
            self.plug(TermRef::Term(term, child.frame))
                .unwrap_or_else(|| bug!(NO_VALUE))
        });
        let keys: DataPath<'e> = keys.collect();
        let member = rule.head.value.is_none();
        let value = match &rule.head.key {
            Some(key) if member => self
                .plug(TermRef::Term(key, child.frame))
                .unwrap_or_else(|| bug!(NO_VALUE)),
            _ => self.head_value(rule, child),
        };
        let made = extent.insert(self.call.arena, &keys, value, member);
        made.map_err(|_| Halt::Conflict)
    }

    /// Inserts the value of a default if no rule produced one.
    fn fill(&mut self, tail: &'e [Term], rule: &'e Rule, extent: &mut DocumentBuilder<'e>) {
        let Some(keys) = self.constants(tail) else {
            bug!("a default below a key that is not known");
        };
        if !extent.is_occupied(&keys) {
            let value = rule.head.value.as_ref();
            let value = value.and_then(|value| self.plug(TermRef::Term(value, 0)));
            let value = value.unwrap_or_else(|| bug!(NO_VALUE));
            if extent.insert(self.call.arena, &keys, value, false).is_err() {
                bug!("a default clashes with what it stands in for");
            }
        }
    }

    fn constants(&mut self, terms: &'e [Term]) -> Option<DataPath<'e>> {
        terms.iter().map(|term| self.constant(term)).collect()
    }

    /// Returns the conflict error of a rule whose key already has another value.
    fn key_conflict(&mut self, site: &ExtentBuilder<'_, 'e>, rule: &'e Rule) -> Halt {
        let (group, depth) = (site.group, site.path.len());
        let own = |walk: &mut Self, member: &'e GroupRule, rule: &'e Rule| {
            let tail = tail(rule, depth, member.package);
            (!tail.is_empty() && rule.head.value.is_some())
                .then(|| walk.constants(tail))
                .flatten()
        };
        let member = group.members.iter().find(|member| {
            self.program
                .canonical
                .rule(member.rule)
                .is_some_and(|other| std::ptr::eq(other, rule))
        });
        if let Some(path) = member.and_then(|member| own(self, member, rule)) {
            let mut rivals = Vec::new();
            for member in &group.members {
                if let Some(other) = self.program.canonical.rule(member.rule)
                    && own(self, member, other).as_ref() == Some(&path)
                {
                    rivals.push(other);
                }
            }
            if rivals.len() > 1 {
                let name = fixed_key_name(&fixed_key_name("data", site.path), &path);
                return self.fixed_key_conflict(site.goal, &rivals, rule, &name);
            }
        }
        Halt::duplicate_key(self.program, rule.span)
    }
}

/// Accumulates the solutions of a rule.
struct ExtentBuilder<'b, 'e> {
    goal: Goal<'e>,
    group: &'e Group,
    path: &'b [ValueRef<'e>],
    /// `true` if heads are unified with the reference before their bodies are searched.
    narrowed: bool,
    target: PendingRef<'e>,
}

/// Returns the terms of a head after the path of its group.
pub(super) fn tail(rule: &Rule, depth: usize, package: usize) -> &[Term] {
    let behind = depth.checked_sub(package);
    let behind = behind.unwrap_or_else(|| bug!("a rule stands above its package"));
    rule.head.reference.within(behind..)
}
