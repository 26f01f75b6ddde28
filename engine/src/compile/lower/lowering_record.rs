//! What a program was made of, so that the next one can go on from it.
//!
//! The plans of a document stay as long as it has the same rules, and the documents whose bodies may stand in for it
//! there have theirs. Rules are the same while they are where they were in memory: a module that sees anything else of
//! others than before is compiled anew. Documents and constants keep their numbers; those that nothing needs any more
//! are dropped when everything is lowered anew.

use std::sync::Arc;

use super::inline;
use crate::index::Indexed as _;
use crate::limits;
use crate::program::{Program, RuleId, RuleSet, Step};

/// What each set of rules of a program was made of.
#[derive(Default)]
pub struct LoweringRecord {
    entries: Vec<Option<Arc<Lowered>>>,
    /// How many constants there were when everything was lowered.
    constants: usize,
    /// How many sets of rules there were then.
    sets: usize,
    /// How many sets were lowered last.
    pub lowered: usize,
}

/// What one set of rules was made of.
pub struct Lowered {
    /// Where its rules are, the default last.
    rules: Box<[usize]>,
    /// How often it asks for the documents of others, and with 0 the functions that it calls.
    asks: Box<[(RuleId, u32)]>,
}

/// A program and what it was made of.
#[derive(Clone, Copy)]
pub struct Earlier<'p> {
    /// The program.
    pub program: &'p Program,
    /// What it was made of.
    pub record: &'p LoweringRecord,
}

impl<'p> Earlier<'p> {
    /// Whether little enough has gathered that nothing needs any more.
    pub fn is_worthwhile(self) -> bool {
        let grown = |now: usize, before: usize| now > (2 * before).max(limits::KEPT_NUMBERS);
        !grown(self.program.constants.len(), self.record.constants)
            && !grown(self.program.rules.len(), self.record.sets)
    }

    /// A set of rules, if it had the same rules.
    pub fn same(self, id: RuleId, rules: impl Iterator<Item = usize>) -> Option<&'p Arc<RuleSet>> {
        let entry = self.record.entry(id)?;
        let set = self.program.rules.get(id as usize);
        set.filter(|_| entry.rules.iter().copied().eq(rules))
    }
}

impl LoweringRecord {
    /// The record of a program of so many sets, which goes on from an earlier one or begins.
    pub fn on_from(earlier: Option<Earlier<'_>>, sets: usize) -> Self {
        Self {
            entries: vec![None; sets],
            constants: earlier.map_or(0, |earlier| earlier.record.constants),
            sets: earlier.map_or(sets, |earlier| earlier.record.sets),
            lowered: 0,
        }
    }

    fn entry(&self, id: RuleId) -> Option<&Arc<Lowered>> {
        self.entries.get(id as usize)?.as_ref()
    }

    fn set(&mut self, id: RuleId, entry: Arc<Lowered>) {
        *self.entries.item_mut(id) = Some(entry);
    }

    /// Notes that a set stays.
    pub fn keep(&mut self, id: RuleId, earlier: Earlier<'_>) {
        if let Some(entry) = earlier.record.entry(id) {
            self.set(id, entry.clone());
        }
    }

    /// Notes that a set was lowered, of the rules at some places.
    pub fn add(&mut self, id: RuleId, rules: impl Iterator<Item = usize>, set: &RuleSet) {
        // how often a function is called does not matter
        let mut asks: Vec<(RuleId, bool)> = Vec::new();
        for plan in set.plans() {
            plan.visit(&mut |step| {
                let asked = inline::used_rule(step).into_iter();
                asks.extend(asked.map(|rule| (rule, matches!(step, Step::Rule { .. }))));
            });
        }
        asks.sort_unstable();
        let counted = asks.chunk_by(|a, b| a.0 == b.0).filter_map(|same| {
            let count = same.iter().filter(|(_, counts)| *counts).count();
            Some((same.first()?.0, u32::try_from(count).unwrap_or(u32::MAX)))
        });
        let entry = Lowered {
            rules: rules.collect(),
            asks: counted.collect(),
        };
        self.lowered += 1;
        self.set(id, Arc::new(entry));
    }

    /// Notes how many constants there are once everything was lowered.
    pub fn finish(&mut self, constants: usize) {
        if self.constants == 0 {
            self.constants = constants;
        }
    }

    /// Those of some sets that ask for documents of others.
    pub fn users_of(&self, sets: &[RuleId]) -> Vec<RuleId> {
        let asks = |id: &RuleId| self.entry(*id).is_some_and(|entry| !entry.asks.is_empty());
        sets.iter().copied().filter(asks).collect()
    }

    /// How many places ask for the document of each set.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut asked = vec![0; self.entries.len()];
        let entries = self.entries.iter().flatten();
        for (rule, count) in entries.flat_map(|entry| &entry.asks) {
            *asked.item_mut(*rule) += count;
        }
        asked
    }

    /// The sets that stay, although others stand otherwise in for the documents that they ask for: since those were
    /// lowered, or since more places or fewer ask for them.
    pub fn concerned(
        &self,
        earlier: Earlier<'_>,
        program: &Program,
        lowered: &[RuleId],
    ) -> Vec<RuleId> {
        let (before, now) = (earlier.record.use_counts(), self.use_counts());
        let mut changed = vec![false; self.entries.len()];
        for (at, changed) in changed.iter_mut().enumerate() {
            let alone = |asked: &[u32]| asked.get(at) == Some(&1);
            *changed = alone(&before) != alone(&now);
        }
        for id in lowered {
            let at = *id as usize;
            let stands = |program: &Program| {
                program
                    .rules
                    .get(at)
                    .is_some_and(|set| inline::is_inlinable(set))
            };
            *changed.item_mut(at) |= stands(program) || stands(earlier.program);
        }
        let is_changed = |(rule, _): &(RuleId, u32)| changed.get(*rule as usize) == Some(&true);
        let entries = (0..).zip(&self.entries);
        let concerned = entries.filter(|(id, entry)| {
            let asks = entry.iter().flat_map(|entry| &entry.asks);
            lowered.binary_search(id).is_err() && asks.into_iter().any(is_changed)
        });
        concerned.map(|(id, _)| id).collect()
    }
}
