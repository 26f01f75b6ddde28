//! Counts of replayed decisions, with changes grouped by document and results.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::event::SkipReason;

/// Maximum number of groups. Further changes are counted in one group.
const GROUPS: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecisionSubject {
    Document,
    Query,
}

impl DecisionSubject {
    /// Returns the name of its member in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Document => "path",
            Self::Query => "query",
        }
    }
}

/// Decisions whose results changed in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    pub kind: DecisionSubject,
    /// Path of the document or text of the query.
    pub name: String,
    /// Part of the logged result that changed.
    pub old: String,
    /// Part of the new result that differs.
    pub new: String,
}

/// Position of an event: number of its block, and number of its line.
pub type Position = (u64, usize);

/// Counts of replayed decisions.
#[derive(Default)]
pub struct Tally {
    pub unchanged: u64,
    /// Events that are not valid.
    pub unreadable: u64,
    /// Lines that are not decisions.
    pub skipped: u64,
    reasons: BTreeMap<SkipReason, u64>,
    /// Number of decisions of each group, and the ids of the first ones.
    groups: HashMap<Group, (u64, Vec<(Position, String)>)>,
}

/// A group of changes as it is shown.
pub struct Change<'t> {
    pub group: &'t Group,
    pub count: u64,
    /// Ids of the first decisions.
    pub examples: Vec<&'t str>,
}

impl Tally {
    /// Counts a decision that cannot be replayed.
    pub fn add_reason(&mut self, reason: SkipReason) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    /// Counts a changed decision. Decisions of one thread come in the order of the log.
    pub fn add_change(&mut self, group: Group, position: Position, id: &str, examples: usize) {
        let (count, ids) = self.groups.entry(self.bound_group(group)).or_default();
        *count += 1;
        if ids.len() < examples {
            ids.push((position, id.to_owned()));
        }
    }

    /// Returns a group, or the one of further changes if there are too many groups.
    fn bound_group(&self, group: Group) -> Group {
        if self.groups.len() < GROUPS || self.groups.contains_key(&group) {
            return group;
        }
        Group {
            kind: group.kind,
            name: "(others)".to_owned(),
            old: String::new(),
            new: String::new(),
        }
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: Self, examples: usize) {
        self.unchanged += other.unchanged;
        self.unreadable += other.unreadable;
        self.skipped += other.skipped;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        for (group, (added, example_ids)) in other.groups {
            let (count, ids) = self.groups.entry(self.bound_group(group)).or_default();
            *count += added;
            ids.extend(example_ids);
            ids.sort_unstable();
            ids.truncate(examples);
        }
    }

    /// Returns the groups of changes, the largest first.
    pub fn changes(&self) -> Vec<Change<'_>> {
        let changes = self.groups.iter().map(|(group, (count, ids))| Change {
            group,
            count: *count,
            examples: ids.iter().map(|(_, id)| id.as_str()).collect(),
        });
        let mut changes: Vec<Change<'_>> = changes.collect();
        changes.sort_by(|left, right| {
            let by_count = right.count.cmp(&left.count);
            by_count.then_with(|| left.group.cmp(right.group))
        });
        changes
    }

    /// Returns the number of decisions that changed.
    pub fn changed(&self) -> u64 {
        self.groups.values().map(|(count, _)| count).sum()
    }

    /// Returns the number of decisions that were evaluated and compared.
    pub fn replayed(&self) -> u64 {
        self.unchanged + self.changed()
    }

    /// Returns the number of decisions that cannot be replayed.
    pub fn not_replayable(&self) -> u64 {
        self.reasons.values().sum()
    }

    /// Returns the number of decisions that cannot be replayed by reason.
    pub fn reasons(&self) -> BTreeMap<&'static str, u64> {
        let reasons = self.reasons.iter();
        reasons
            .map(|(reason, count)| (reason.text(), *count))
            .collect()
    }
}
