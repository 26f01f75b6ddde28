//! Documents that rules build piece by piece: sets, objects, and documents below heads with variables.

use solon_syntax::ast::{Rule, Term};

use super::documents::Path;
use super::index::Matches;
use super::machine::{Flow, Goal, Next, Outcome, Walk};
use super::reference::Target;
use super::term::{FrameId, Shape, T};
use crate::evaluation::{Extent, Halt, fixed_key_name};
use crate::program::canonical::{Group, GroupKind, Member};
use crate::trace::{Count, Op};
use crate::value::V;

/// How much of a document is asked for.
struct Asked<'e> {
    /// The document's path, and the keys below it that are known.
    path: Path<'e>,
    /// How many of those are keys.
    keys: usize,
}

impl<'e> Walk<'e> {
    pub(super) fn partial(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &Matches<'e>,
        path: &[V<'e>],
        target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        if let Some(whole @ Some(_)) = self.scope().memo.get(path) {
            return self.descend_found(goal, *whole, target, next);
        }
        let mut asked = Asked {
            path: path.into(),
            keys: 0,
        };
        let mut rest = target;
        while asked.path.len() + 1 < group.longest
            && let Some(key) = rest.step().and_then(|step| self.plug(step))
        {
            asked.path.push(key);
            asked.keys += 1;
            rest = rest.next();
            if let Some(kept) = self.scope().memo.get(asked.path.as_slice()) {
                return self.descend_found(goal, *kept, rest, next);
            }
        }
        self.tally(Count::VirtualCacheMiss);
        let document = self.build(goal, group, matches, path, &asked, target)?;
        let found = asked
            .path
            .iter()
            .skip(path.len())
            .try_fold(document, |value, key| value.lookup(*key));
        // where no rule may match, only what is asked for as a whole is kept
        let kept = rest.step().is_none() || !matches.rules.is_empty();
        if kept && self.is_whole(group, &asked, rest) {
            self.scope_mut()
                .memo
                .insert(asked.path.as_slice().into(), found);
        }
        self.descend(goal, T::Known(document), target, next)
    }

    /// Whether what lies below the known keys was asked for as a whole: no later step narrows it.
    fn is_whole(&mut self, group: &Group, asked: &Asked<'e>, rest: Target<'e>) -> bool {
        let later = (group.longest - 1).saturating_sub(asked.path.len());
        let mut seen: Vec<(&'e str, FrameId)> = Vec::new();
        asked.keys == 0
            || (rest.at..rest.at + later).all(|at| match rest.reference.get(at) {
                None => true,
                Some(step) => match self.apply(step).shape() {
                    Shape::Var(name, frame) if !seen.contains(&(name, frame)) => {
                        seen.push((name, frame));
                        true
                    }
                    _ => false,
                },
            })
    }

    /// Collects what rules make; with known keys, only below those.
    fn build(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        matches: &Matches<'e>,
        path: &[V<'e>],
        asked: &Asked<'e>,
        target: Target<'e>,
    ) -> Result<V<'e>, Halt> {
        let mut extent = Extent::Empty;
        for rule in &matches.rules {
            let Some(first) = rule.chain.first() else {
                continue;
            };
            let site = Building {
                goal,
                group,
                path,
                keys: asked.keys,
                target,
            };
            self.produce(&site, rule.member.package, first, &mut extent)?;
        }
        if let Some(default) = group.default
            && let Some(rule) = self.program.canonical.rule(default)
        {
            self.fill(group, path.len(), rule, &mut extent);
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
        site: &Building<'_, 'e>,
        package: usize,
        rule: &'e Rule,
        extent: &mut Extent<'e>,
    ) -> Result<(), Halt> {
        let child = self.child(site.goal, rule, false);
        self.rule_event(Op::Enter, child, rule);
        let tail = tail(rule, site.path.len(), package);
        let mut solved = |walk: &mut Self| {
            walk.rule_event(Op::Exit, child, rule);
            let made = walk.insert(tail, rule, child, extent)?;
            if !made && site.keys > 0 {
                walk.rule_event(Op::Duplicate, child, rule);
            }
            walk.rule_event(Op::Redo, child, rule);
            Ok(Flow::More)
        };
        let outcome = if site.keys == 0 {
            self.run(child, &mut solved)
        } else {
            let mut entered = false;
            let outcome = self.match_head(site, child, tail, rule, 0, &mut |walk| {
                entered = true;
                walk.run(child, &mut solved)
            });
            if !entered && outcome.is_ok() {
                self.rule_event(Op::Fail, child, rule);
            }
            outcome
        };
        self.pop_frame();
        match outcome {
            Err(Halt::Clash) => Err(self.key_clash(site, rule)),
            outcome => outcome.map(drop),
        }
    }

    /// Unifies the head of a rule with the steps of a reference.
    fn match_head(
        &mut self,
        site: &Building<'_, 'e>,
        child: Goal<'e>,
        tail: &'e [Term],
        rule: &'e Rule,
        at: usize,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let term = match tail.get(at) {
            Some(term) => Some(term),
            None if at == tail.len() && rule.head.value.is_none() => rule.head.key.as_ref(),
            None => None,
        };
        let target = site.target;
        match (term, target.reference.get(target.at + at)) {
            (Some(term), Some(step)) => {
                let term = T::Term(term, child.frame);
                self.unify(child.head(rule), step, term, &mut |walk| {
                    walk.match_head(site, child, tail, rule, at + 1, next)
                })
            }
            _ => next(self),
        }
    }

    /// Puts what a rule's head says into the document; whether it was not there yet.
    fn insert(
        &mut self,
        tail: &'e [Term],
        rule: &'e Rule,
        child: Goal<'e>,
        extent: &mut Extent<'e>,
    ) -> Result<bool, Halt> {
        let keys = tail
            .iter()
            .map(|term| self.plug(T::Term(term, child.frame)).unwrap_or_default());
        let keys: Path<'e> = keys.collect();
        let member = rule.head.value.is_none();
        let value = match &rule.head.key {
            Some(key) if member => self.plug(T::Term(key, child.frame)).unwrap_or_default(),
            _ => self.head_value(rule, child),
        };
        let made = extent.insert(self.call.arena, &keys, value, member);
        made.map_err(|_| Halt::Clash)
    }

    /// Puts the value of a default where no rule made one.
    fn fill(&mut self, group: &'e Group, depth: usize, rule: &'e Rule, extent: &mut Extent<'e>) {
        let package = group.members.first().map_or(0, |member| member.package);
        let Some(keys) = self.constants(tail(rule, depth, package)) else {
            return;
        };
        if !extent.is_taken(&keys)
            && let Some(value) = rule.head.value.as_ref()
            && let Some(value) = self.plug(T::Term(value, 0))
        {
            let _ = extent.insert(self.call.arena, &keys, value, false);
        }
    }

    fn constants(&mut self, terms: &'e [Term]) -> Option<Path<'e>> {
        terms.iter().map(|term| self.constant(term)).collect()
    }

    /// The error of a rule that claims a place in a document which is taken.
    fn key_clash(&mut self, site: &Building<'_, 'e>, rule: &'e Rule) -> Halt {
        let (group, depth) = (site.group, site.path.len());
        let own = |walk: &mut Self, member: &'e Member, rule: &'e Rule| {
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

/// What a rule's solutions are collected for.
struct Building<'b, 'e> {
    goal: Goal<'e>,
    group: &'e Group,
    /// The group's path.
    path: &'b [V<'e>],
    /// How many keys of the reference are known.
    keys: usize,
    target: Target<'e>,
}

/// The terms of a head behind the path of its group.
pub(super) fn tail(rule: &Rule, depth: usize, package: usize) -> &[Term] {
    rule.head
        .reference
        .get(depth.saturating_sub(package)..)
        .unwrap_or(&[])
}
