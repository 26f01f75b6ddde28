//! Record of the inputs of a program, for incremental lowering.
//!
//! The plans of a document are reused if its rules are the same, and so are those of the documents inlined in it. Rules
//! are identified by address: a module that depends on a changed interface of another one is recompiled. Documents and
//! constants keep their ids; unused ones are dropped when everything is lowered again.

use std::sync::Arc;

use super::declare::Pending;
use super::inline;
use crate::compile::rule_tree::RuleTree;
use crate::index::Indexed as _;
use crate::limits;
use crate::program::{Program, RuleId, RuleSet, Step};

/// Inputs of each rule set of a program.
#[derive(Default)]
pub struct LoweringRecord {
    entries: Vec<Option<Arc<Lowered>>>,
    /// Number of uses of the document of each set: the sum of [`Lowered::uses`] of all entries.
    use_counts: Vec<u32>,
    /// Number of constants at the last full lowering.
    constants: usize,
    /// Number of rule sets at the last full lowering.
    sets: usize,
    /// Number of sets that were lowered last.
    pub lowered: usize,
}

/// Inputs of one rule set.
pub struct Lowered {
    /// Addresses of the rules, in order.
    rules: Box<[usize]>,
    /// `true` if the set contains rules of nodes below its own.
    spreads: bool,
    /// Number of uses of the documents of other sets, and 0 for each function that it calls.
    uses: Box<[(RuleId, u32)]>,
}

/// An earlier program and its record, from which equal rule sets are reused.
#[derive(Clone, Copy)]
pub struct EarlierProgram<'p> {
    /// Program of the earlier compilation, whose rule sets may be reused.
    pub program: &'p Program,
    /// Record of the inputs of its rule sets.
    pub record: &'p LoweringRecord,
    /// Tree of the rules that it was lowered from.
    pub tree: &'p RuleTree,
}

impl<'p> EarlierProgram<'p> {
    /// Returns `true` if there is little enough garbage.
    pub fn is_worthwhile(self) -> bool {
        let grown = |now: usize, before: usize| now > (2 * before).max(limits::STALE_NUMBERS);
        !grown(self.program.constants.len(), self.record.constants)
            && !grown(self.program.rules.len(), self.record.sets)
    }

    /// Returns a rule set if it had the same rules.
    pub fn same(self, id: RuleId, rules: &[usize]) -> Option<&'p Arc<RuleSet>> {
        let entry = self.record.entry(id)?;
        let set = self.program.rules.get(id as usize);
        set.filter(|_| *entry.rules == *rules)
    }

    /// Returns a rule set if it had exactly the rules of one node.
    pub fn same_of_node(
        self,
        id: RuleId,
        rules: impl Iterator<Item = usize>,
    ) -> Option<&'p Arc<RuleSet>> {
        let entry = self.record.entry(id)?;
        let set = self.program.rules.get(id as usize);
        set.filter(|_| !entry.spreads && entry.rules.iter().copied().eq(rules))
    }
}

impl LoweringRecord {
    /// Creates the record of a program with `sets` rule sets, which extends an earlier one if there is one.
    pub fn on_from(earlier: Option<EarlierProgram<'_>>, sets: usize) -> Self {
        Self {
            entries: vec![None; sets],
            use_counts: vec![0; sets],
            constants: earlier.map_or(0, |earlier| earlier.record.constants),
            sets: earlier.map_or(sets, |earlier| earlier.record.sets),
            lowered: 0,
        }
    }

    /// Creates the record of a program whose rule sets are those of an earlier one.
    pub fn with_same_sets(earlier: EarlierProgram<'_>) -> Self {
        Self {
            entries: earlier.record.entries.clone(),
            use_counts: earlier.record.use_counts.clone(),
            constants: earlier.record.constants,
            sets: earlier.record.sets,
            lowered: 0,
        }
    }

    fn entry(&self, id: RuleId) -> Option<&Arc<Lowered>> {
        self.entries.get(id as usize)?.as_ref()
    }

    fn set(&mut self, id: RuleId, entry: Arc<Lowered>) {
        for (rule, count) in &entry.uses {
            *self.use_counts.item_mut(*rule) += count;
        }
        let before = self.entries.item_mut(id).replace(entry);
        for (rule, count) in before.iter().flat_map(|before| &before.uses) {
            *self.use_counts.item_mut(*rule) -= count;
        }
    }

    /// Records that a set is reused.
    pub fn keep(&mut self, id: RuleId, earlier: Option<EarlierProgram<'_>>) {
        if let Some(entry) = earlier.and_then(|earlier| earlier.record.entry(id)) {
            self.set(id, entry.clone());
        }
    }

    /// Records that a set was lowered from some rules.
    pub fn add(&mut self, id: RuleId, pending: &Pending<'_>, set: &RuleSet) {
        // the number of calls of a function does not matter
        let mut uses: Vec<(RuleId, bool)> = Vec::new();
        for plan in set.plans() {
            plan.visit(&mut |step| {
                let asked = inline::used_rule(step).into_iter();
                uses.extend(asked.map(|rule| (rule, matches!(step, Step::Rule { .. }))));
            });
        }
        uses.sort_unstable();
        let counted = uses.chunk_by(|a, b| a.0 == b.0).filter_map(|same| {
            let count = same.iter().filter(|(_, counts)| *counts).count();
            Some((same.first()?.0, u32::try_from(count).unwrap_or(u32::MAX)))
        });
        let entry = Lowered {
            rules: pending.addresses.clone(),
            spreads: pending.spreads(),
            uses: counted.collect(),
        };
        self.lowered += 1;
        self.set(id, Arc::new(entry));
    }

    /// Records the number of constants after a full lowering.
    pub fn finish(&mut self, constants: usize) {
        if self.constants == 0 {
            self.constants = constants;
        }
    }

    /// Returns those of some sets that use documents of others.
    pub fn users_of(&self, sets: &[RuleId]) -> Vec<RuleId> {
        let uses = |id: &RuleId| self.entry(*id).is_some_and(|entry| !entry.uses.is_empty());
        sets.iter().copied().filter(uses).collect()
    }

    /// Number of uses of the document of each set.
    pub fn use_counts(&self) -> &[u32] {
        &self.use_counts
    }

    /// Returns the reused sets whose inlined documents changed: since those were lowered, or since their number of uses
    /// changed.
    pub fn concerned(
        &self,
        earlier: EarlierProgram<'_>,
        program: &Program,
        lowered: &[RuleId],
    ) -> Vec<RuleId> {
        let (before, now) = (earlier.record.use_counts(), self.use_counts());
        let mut changed = vec![false; self.entries.len()];
        for (at, changed) in changed.iter_mut().enumerate() {
            let alone = |asked: &[u32]| asked.get(at) == Some(&1);
            *changed = alone(before) != alone(now);
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
            let uses = entry.iter().flat_map(|entry| &entry.uses);
            lowered.binary_search(id).is_err() && uses.into_iter().any(is_changed)
        });
        concerned.map(|(id, _)| id).collect()
    }
}
