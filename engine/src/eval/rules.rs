//! Rules: selection of those that can match, their documents, and memoisation.

use crate::bug::bug;
use crate::program::{Index, Numbers, Plan, Rule, RuleId, RuleKind, RuleSet};
use crate::runtime::{DocumentBuilder, Halt};
use crate::value::{RefRepr, SetBuilder, ValueRef};

use super::frame::OperandSource;
use super::machine::{Flow, Machine};
use super::memo::{By, LONG, MemoLookup};
use super::memo_owner::MemoOwner;
use super::sink::{Produced, Sink, WRONG_SINK};

/// The rules of a set that can match, in source order.
#[derive(Clone)]
pub(super) enum Candidates<'e> {
    All(std::slice::Iter<'e, Rule>),
    Selected(&'e [Rule], Numbers<'e>),
}

impl<'e> Iterator for Candidates<'e> {
    type Item = &'e Rule;

    #[inline]
    fn next(&mut self) -> Option<&'e Rule> {
        match self {
            Self::All(rules) => rules.next(),
            Self::Selected(rules, numbers) => rules.get(numbers.next()? as usize),
        }
    }
}

pub(super) const NO_RULE: &str = "a plan names a rule that is not there";

const NO_PLAN: &str = "a rule has no plan for known keys";

/// Iterations of a function, for deciding whether to memoise it.
struct IterationCount {
    all: u64,
    /// Without those of called functions.
    own: u64,
}

impl<'e> Machine<'e> {
    #[inline]
    pub(super) fn rule_set(&self, rule: RuleId) -> Option<&'e RuleSet> {
        self.program.rules.get(rule as usize).map(|set| &**set)
    }

    /// The rules of a set that can match, in order. Without an index, all.
    #[inline]
    pub(super) fn candidates(&self, set: &'e RuleSet, args: &[ValueRef<'e>]) -> Candidates<'e> {
        match &set.index {
            Index::All => Candidates::All(set.rules.iter()),
            Index::By(branch) => Candidates::Selected(&set.rules, self.find(branch, args)),
        }
    }

    /// The document of a rule: its value, or its full extent.
    pub(super) fn rule(&mut self, rule: RuleId) -> Result<Option<ValueRef<'e>>, Halt> {
        let owner = self.memo_owner(rule);
        if let Some(kept) = self.memo(owner).get(rule, &[]) {
            return Ok(kept);
        }
        let result = self.outermost(rule)?;
        self.memo(owner).put(rule, &[], result);
        Ok(result)
    }

    /// Returns the document of a rule without memoising it: nothing below the evaluated rule refers to it.
    #[inline]
    pub(super) fn outermost(&mut self, rule: RuleId) -> Result<Option<ValueRef<'e>>, Halt> {
        let Some(set) = self.rule_set(rule) else {
            bug!(NO_RULE);
        };
        Ok(match set.kind {
            RuleKind::Complete => self.complete(set, &[])?,
            RuleKind::Set => Some(self.full_set(set)?),
            RuleKind::Object => Some(self.full_object(set)?),
            RuleKind::Function(_) => None,
        })
    }

    /// The result of a function, memoised or computed. `None` if it is undefined.
    pub(super) fn apply(
        &mut self,
        rule: RuleId,
        args: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let Some(set) = self.rule_set(rule) else {
            bug!(NO_RULE);
        };
        if !set.memoised {
            return self.complete(set, args);
        }
        let is_seen = self.is_seen();
        let owner = self.memo_owner(rule);
        let memo = self.memo(owner);
        if !is_seen && memo.is_first(rule) {
            return self.first(set, rule, args, owner);
        }
        let by = if is_seen { By::Value } else { memo.by(rule) };
        let place = match memo.lookup(rule, args, by) {
            MemoLookup::Cached(kept) => return Ok(kept),
            MemoLookup::Missing(place) => place,
        };
        let (result, turns) = self.timed(set, args)?;
        // if evaluation is observable, a function without a result runs again, as in OPA
        if result.is_some() || !is_seen {
            let memo = self.memo(owner);
            if turns.all >= LONG {
                memo.note_long(rule);
            }
            let by = if is_seen { By::Value } else { memo.by(rule) };
            memo.fill(place, rule, args, by, result);
        }
        Ok(result)
    }

    /// Returns the result of a function's first run. It is memoised only if its self-cost (excluding callees) is at
    /// least `LONG` iterations: most functions are called once with the same arguments, and in a second run its callees
    /// are no longer in their first run.
    fn first(
        &mut self,
        set: &'e RuleSet,
        rule: RuleId,
        args: &[ValueRef<'e>],
        owner: MemoOwner,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let (result, turns) = self.timed(set, args)?;
        if turns.own >= LONG {
            self.memo(owner).keep_long(rule, args, result);
        }
        Ok(result)
    }

    /// Returns the result of a function, and its number of iterations, with and without those of its callees.
    #[inline]
    fn timed(
        &mut self,
        set: &'e RuleSet,
        args: &[ValueRef<'e>],
    ) -> Result<(Option<ValueRef<'e>>, IterationCount), Halt> {
        let outer = std::mem::take(&mut self.callee_iterations);
        let before = self.call.budget.remaining_steps();
        let result = self.complete(set, args)?;
        let all = before.saturating_sub(self.call.budget.remaining_steps());
        let own = all.saturating_sub(self.callee_iterations);
        self.callee_iterations = outer.saturating_add(all);
        Ok((result, IterationCount { all, own }))
    }

    /// The one value of a complete rule or function, its default included.
    fn complete(
        &mut self,
        set: &'e RuleSet,
        args: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        if let ([rule], None, None) = (&*set.rules, &set.default, &set.index.branch())
            && rule.otherwise.is_none()
        {
            return self.only(set, rule, args);
        }
        let (found, member, clashed) = match &set.index {
            Index::All => {
                let all = Candidates::All(set.rules.iter());
                let early = self.exits_early(set, &all, args)?;
                self.producing(early, |machine| machine.chains(set.rules.iter(), args))
            }
            Index::By(_) => {
                let candidates = self.candidates(set, args);
                let early = self.exits_early(set, &candidates, args)?;
                self.producing(early, |machine| machine.chains(candidates, args))
            }
        };
        if let Some(rule) = clashed?
            && !self.listing
        {
            return Err(self.conflict(set, args, member.unwrap_or(rule)));
        }
        match (&set.default, found) {
            (Some(default), None) => self.default(default, args),
            (_, found) => Ok(found),
        }
    }

    /// Returns the value of a single rule, which most functions are.
    fn only(
        &mut self,
        set: &'e RuleSet,
        rule: &'e Rule,
        args: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let early = set.early_exit || (self.is_seen() && self.opa_exit(set, args)?);
        let outer = std::mem::replace(&mut self.produced, Produced::by(rule, early));
        let flow = self.framed(rule.plan.slots, args, |machine| {
            machine.enter(&rule.plan.steps)
        });
        let found = self.produced.found;
        self.produced = outer;
        match flow {
            Ok(_) => Ok(found),
            Err(Halt::Conflict) if self.listing => Ok(found),
            Err(Halt::Conflict) => Err(self.conflict(set, args, rule)),
            Err(halt) => Err(halt),
        }
    }

    /// Runs rules until one ends the search. Returns the one that conflicted with an earlier one.
    #[inline]
    fn chains(
        &mut self,
        rules: impl Iterator<Item = &'e Rule>,
        args: &[ValueRef<'e>],
    ) -> Result<Option<&'e Rule>, Halt> {
        for rule in rules {
            match self.chain(rule, args) {
                Ok(Flow::Stop) => break,
                Ok(Flow::More) => {}
                Err(Halt::Conflict) => return Ok(Some(rule)),
                Err(halt) => return Err(halt),
            }
        }
        Ok(None)
    }

    /// Runs a rule, and its `else` chain until a member has a result.
    pub(super) fn chain(&mut self, rule: &'e Rule, args: &[ValueRef<'e>]) -> Result<Flow, Halt> {
        match &rule.otherwise {
            None => self.member(rule, args),
            Some(chain) => match &chain.index {
                Index::All => self.first_of(rule.members(), args),
                Index::By(branch) => {
                    let found = self.find(branch, args);
                    self.first_of(found.filter_map(|at| rule.member(at)), args)
                }
            },
        }
    }

    /// Runs members of an `else` chain up to the first with a result.
    fn first_of(
        &mut self,
        members: impl Iterator<Item = &'e Rule>,
        args: &[ValueRef<'e>],
    ) -> Result<Flow, Halt> {
        let mut flow = Flow::More;
        for member in members {
            flow = self.member(member, args)?;
            if self.produced.hit {
                break;
            }
        }
        Ok(flow)
    }

    #[inline]
    fn member(&mut self, member: &'e Rule, args: &[ValueRef<'e>]) -> Result<Flow, Halt> {
        self.produced.hit = false;
        self.produced.rule = Some(member);
        self.framed(member.plan.slots, args, |machine| {
            machine.enter(&member.plan.steps)
        })
    }

    fn default(
        &mut self,
        plan: &'e Plan,
        args: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let (found, _, flow) = self.producing(true, |machine| {
            machine.framed(plan.slots, args, |machine| machine.run(&plan.steps))
        });
        flow?;
        Ok(found)
    }

    fn full_set(&mut self, set: &'e RuleSet) -> Result<ValueRef<'e>, Halt> {
        let members = Sink::Set(SetBuilder::new(self.call.arena));
        let run = |machine: &mut Self| {
            // separate arms, since a list of candidates is slow to move
            match &set.index {
                Index::All => machine.run_all(set.rules.iter()),
                Index::By(_) => {
                    let candidates = machine.candidates(set, &[]);
                    machine.run_all(candidates)
                }
            }
        };
        let (members, flow) = self.filled(members, run, |sink| match sink {
            Sink::Set(members) => members.take(),
            _ => ValueRef(RefRepr::Null),
        });
        flow.map(|()| members)
    }

    #[inline]
    fn run_all(&mut self, rules: impl Iterator<Item = &'e Rule>) -> Result<(), Halt> {
        for rule in rules {
            self.framed(rule.plan.slots, &[], |machine| {
                machine.run(&rule.plan.steps)
            })?;
        }
        Ok(())
    }

    fn full_object(&mut self, set: &'e RuleSet) -> Result<ValueRef<'e>, Halt> {
        let arena = self.call.arena;
        let extent = self.extent(set, |rule| Some(&rule.plan), &[])?;
        Ok(extent
            .finish(arena)
            .unwrap_or_else(|| arena.object_from([])))
    }

    /// Returns the value below a partial rule under known keys.
    pub(super) fn keyed(
        &mut self,
        rule: RuleId,
        keys: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let owner = self.memo_owner(rule);
        let memo = self.memo(owner);
        if let Some(Some(full)) = memo.get(rule, &[]) {
            return Ok(keys.iter().try_fold(full, |value, key| value.lookup(*key)));
        }
        if let Some(kept) = memo.get(rule, keys) {
            return Ok(kept);
        }
        let Some(set) = self.rule_set(rule) else {
            bug!(NO_RULE);
        };
        let result = match set.kind {
            RuleKind::Set => self.has_member(set, keys)?,
            _ => {
                let arena = self.call.arena;
                let depth = keys.len();
                let extent = self.extent(set, |rule| rule.keyed.get(depth - 1), keys)?;
                extent.finish(arena)
            }
        };
        self.memo(owner).put(rule, keys, result);
        Ok(result)
    }

    fn has_member(
        &mut self,
        set: &'e RuleSet,
        keys: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let mut found = None;
        for rule in self.candidates(set, &[]) {
            let Some(plan) = rule.keyed.first() else {
                bug!(NO_PLAN);
            };
            let (flow, has_member) = self.run_member(plan, keys);
            if has_member {
                found = keys.first().copied();
            }
            if flow? == Flow::Stop {
                break;
            }
        }
        Ok(found)
    }

    /// Runs a plan for known keys. Returns `true` if it found the requested member.
    fn run_member(&mut self, plan: &'e Plan, keys: &[ValueRef<'e>]) -> (Result<Flow, Halt>, bool) {
        let outer = std::mem::take(&mut self.has_member);
        let flow = self.framed(plan.slots, keys, |machine| machine.run(&plan.steps));
        (flow, std::mem::replace(&mut self.has_member, outer))
    }

    /// Collects the values that the rules of a set produce below known keys; defaults fill the gaps.
    fn extent(
        &mut self,
        set: &'e RuleSet,
        plan: impl Fn(&'e Rule) -> Option<&'e Plan>,
        keys: &[ValueRef<'e>],
    ) -> Result<DocumentBuilder<'e>, Halt> {
        let (filled, flow) =
            self.filling(Sink::DocumentBuilder(DocumentBuilder::Empty), |machine| {
                let rules = machine.candidates(set, &[]);
                for rule in rules.filter(|rule| !rule.fallback) {
                    machine.produce(set, rule, plan(rule), keys)?;
                }
                for rule in set.rules.iter().filter(|rule| rule.fallback) {
                    if !machine.is_taken(rule, keys) {
                        machine.produce(set, rule, plan(rule), keys)?;
                    }
                }
                Ok(())
            });
        flow?;
        match filled {
            Sink::DocumentBuilder(extent) => Ok(extent),
            _ => Ok(DocumentBuilder::Empty),
        }
    }

    /// Returns `true` if a rule produced a value at the path of a default.
    fn is_taken(&self, fallback: &Rule, keys: &[ValueRef<'e>]) -> bool {
        let path: Option<Vec<ValueRef<'e>>> = fallback
            .constant_tail
            .iter()
            .skip(keys.len())
            .map(|id| id.map(|id| self.constant(id)))
            .collect();
        match (&self.sink, path) {
            (Sink::DocumentBuilder(extent), Some(path)) => extent.is_occupied(&path),
            _ => true,
        }
    }

    fn produce(
        &mut self,
        set: &'e RuleSet,
        rule: &'e Rule,
        plan: Option<&'e Plan>,
        keys: &[ValueRef<'e>],
    ) -> Result<(), Halt> {
        let Some(plan) = plan else {
            return self.produce_below(set, rule, keys);
        };
        let (flow, has_member) = self.run_member(plan, keys);
        match flow {
            Ok(_) if !has_member => Ok(()),
            Ok(_) => {
                let arena = self.call.arena;
                if let (Sink::DocumentBuilder(extent), Some(key)) = (&mut self.sink, keys.last()) {
                    let _ = extent.insert(arena, &[], *key, false);
                }
                Ok(())
            }
            Err(Halt::Conflict) => Err(self.key_conflict(set, rule)),
            Err(halt) => Err(halt),
        }
    }

    /// Runs a rule whose head is shorter than the keys: continues inside its value.
    fn produce_below(
        &mut self,
        set: &'e RuleSet,
        rule: &'e Rule,
        keys: &[ValueRef<'e>],
    ) -> Result<(), Halt> {
        let Some(plan) = rule.keyed.last() else {
            bug!(NO_PLAN);
        };
        let (own, below) = keys
            .split_at_checked(rule.keyed.len())
            .unwrap_or((keys, &[]));
        let (made, flow) = self.filling(Sink::DocumentBuilder(DocumentBuilder::Empty), |machine| {
            machine.framed(plan.slots, own, |machine| machine.run(&plan.steps))
        });
        match flow {
            Err(Halt::Conflict) => return Err(self.key_conflict(set, rule)),
            Err(halt) => return Err(halt),
            Ok(_) => {}
        }
        let arena = self.call.arena;
        let (Sink::DocumentBuilder(made), Sink::DocumentBuilder(extent)) = (made, &mut self.sink)
        else {
            bug!(WRONG_SINK);
        };
        if let Some(value) = made.finish(arena)
            && let Some(value) = below
                .iter()
                .try_fold(value, |value, key| value.lookup(*key))
            && extent.insert(arena, &[], value, false).is_err()
        {
            return Err(self.key_conflict(set, rule));
        }
        Ok(())
    }

    fn key_conflict(&mut self, set: &'e RuleSet, rule: &'e Rule) -> Halt {
        let constant = |rule: &Rule| {
            !rule.constant_tail.is_empty() && rule.constant_tail.iter().all(Option::is_some)
        };
        let tail = |rule: &Rule| -> Vec<ValueRef<'e>> {
            rule.constant_tail
                .iter()
                .flatten()
                .map(|id| self.constant(*id))
                .collect()
        };
        if constant(rule) && !rule.member {
            let path = tail(rule);
            let rivals: Vec<&Rule> = self
                .candidates(set, &[])
                .filter(|other| constant(other) && tail(other) == path)
                .collect();
            if rivals.len() > 1 {
                return self.fixed_key_conflict(set, &rivals, rule);
            }
        }
        Halt::duplicate_key(self.program, rule.span)
    }
}
