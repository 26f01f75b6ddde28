//! The position of a document's rules in a policy.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::bug::{Within as _, bug};
use crate::eval::EntryPoint;
use crate::program::{Program, RuleId};
use crate::value::Value;

/// The position of a document in a policy, packed into one word: the rule that defines it or a document around it, the
/// number of path steps below that rule, whether there is such a rule, and whether an evaluation may wait for the host.
#[derive(Clone, Copy)]
pub struct ResolvedEntry(u64);

const TOO_FEW_NAMES: &str = "an entry has more path steps than its document";

impl ResolvedEntry {
    const BELOW: u32 = 32;
    const RULE: u64 = 1 << 48;
    const BLOCKS: u64 = 1 << 49;

    pub fn new(program: &Program, names: &[Value], may_block: bool) -> Self {
        let below = |keys: &[Value]| u16::try_from(keys.len()).ok();
        let rule = match EntryPoint::new(program, names) {
            EntryPoint::Rule(rule, keys) => below(keys).map_or(0, |below| {
                Self::RULE | u64::from(below) << Self::BELOW | u64::from(rule)
            }),
            EntryPoint::Path(_) => 0,
        };
        Self(rule | if may_block { Self::BLOCKS } else { 0 })
    }

    /// Returns `true` if an evaluation may wait for the host.
    #[inline]
    pub fn may_block(self) -> bool {
        self.0 & Self::BLOCKS != 0
    }

    /// Returns the rule, if the document is all of the rule's document. Otherwise returns `None`.
    #[inline]
    pub fn whole_rule(self) -> Option<RuleId> {
        let rest = self.0 & !Self::BLOCKS & !u64::from(RuleId::MAX);
        (rest == Self::RULE).then_some(self.rule())
    }

    /// Returns the entry point of the evaluation: a rule with keys below it, or a path without a rule.
    pub fn entry_point(self, names: &[Value]) -> EntryPoint<'_> {
        if self.0 & Self::RULE == 0 {
            return EntryPoint::Path(names);
        }
        let below = (self.0 >> Self::BELOW) & u64::from(u16::MAX);
        let below = usize::try_from(below).unwrap_or(usize::MAX);
        let above = names
            .len()
            .checked_sub(below)
            .unwrap_or_else(|| bug!(TOO_FEW_NAMES));
        EntryPoint::Rule(self.rule(), names.within(above..))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is the lower half of the word"
    )]
    fn rule(self) -> RuleId {
        self.0 as RuleId
    }
}

/// A seqlock that caches the entry for the latest policy. Readers do not write, so threads do not contend: they load the
/// policy's version id, the cached word and the id again, and use the word if both ids are equal. Ids only grow, so an
/// old id never returns.
#[derive(Default)]
pub(super) struct EntryCache {
    policy: AtomicU64,
    word: AtomicU64,
    writing: Mutex<()>,
}

impl EntryCache {
    /// Returns the cached entry for a policy, or `None`. A seqlock: an entry that changes while it is read is not returned.
    #[inline]
    pub fn get(&self, policy: u64) -> Option<ResolvedEntry> {
        if self.policy.load(Ordering::Acquire) != policy {
            return None;
        }
        let word = self.word.load(Ordering::Acquire);
        (self.policy.load(Ordering::Relaxed) == policy).then_some(ResolvedEntry(word))
    }

    /// Caches the entry for a policy, unless that of a later one is cached. Returns `true` if it was cached.
    #[cold]
    pub fn insert(&self, policy: u64, found: ResolvedEntry) -> bool {
        let _writing = self.writing.lock();
        if self.policy.load(Ordering::Relaxed) >= policy {
            return false;
        }
        // 0 is never a valid version id: a reader that loads the new word reads 0 or the new id afterwards
        self.policy.store(0, Ordering::Relaxed);
        self.word.store(found.0, Ordering::Release);
        self.policy.store(policy, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{EntryCache, ResolvedEntry};
    use crate::eval::EntryPoint;
    use crate::program::{Program, TreeNode};
    use crate::value::Value;

    /// A program with a rule at `data.a`, whose id is large, and a package at `data.b`.
    fn program() -> Program {
        let mut program = Program::default();
        for (key, rule) in [("a", Some(u32::MAX - 1)), ("b", None)] {
            let key = Value::from(key);
            let node = TreeNode {
                key: key.clone(),
                rule,
                ..TreeNode::default()
            };
            let tree = Arc::get_mut(&mut program.tree).unwrap();
            let id = tree.add(0, node);
            tree.nodes[0].children.insert(key, id);
        }
        program
    }

    #[test]
    fn a_word_holds_the_rule_the_steps_below_it_and_a_flag() {
        let program = program();
        for (path, below) in [
            (vec!["a"], 0),
            (vec!["a", "x"], 1),
            (vec!["a", "a", "b"], 2),
        ] {
            for may_block in [false, true] {
                let names: Vec<Value> = path.iter().map(|name| Value::from(*name)).collect();
                let entry = ResolvedEntry::new(&program, &names, may_block);
                assert_eq!(entry.may_block(), may_block);
                assert_eq!(entry.whole_rule(), (below == 0).then_some(u32::MAX - 1));
                let EntryPoint::Rule(rule, keys) = entry.entry_point(&names) else {
                    panic!("{path:?} is below a rule");
                };
                assert_eq!((rule, keys), (u32::MAX - 1, &names[names.len() - below..]));
            }
        }
    }

    #[test]
    fn documents_without_a_rule_are_paths() {
        let program = program();
        for path in [vec![], vec!["b"], vec!["b", "a"], vec!["c"]] {
            let names: Vec<Value> = path.iter().map(|name| Value::from(*name)).collect();
            let entry = ResolvedEntry::new(&program, &names, true);
            assert!(entry.may_block());
            assert_eq!(entry.whole_rule(), None);
            assert!(matches!(entry.entry_point(&names), EntryPoint::Path(rest) if rest == names));
        }
    }

    #[test]
    fn entries_of_earlier_policies_are_not_cached() {
        let cache = EntryCache::default();
        assert!(cache.get(1).is_none());
        assert!(cache.insert(2, ResolvedEntry(20)));
        assert_eq!(cache.get(2).map(|entry| entry.0), Some(20));
        for policy in [1, 2] {
            assert!(!cache.insert(policy, ResolvedEntry(10)));
        }
        assert!(cache.get(1).is_none());
        assert_eq!(cache.get(2).map(|entry| entry.0), Some(20));
        assert!(cache.insert(3, ResolvedEntry(30)));
        assert!(cache.get(2).is_none());
    }

    #[test]
    fn readers_see_the_word_of_their_policy() {
        let cache = EntryCache::default();
        let ends = AtomicBool::new(false);
        let last = 20_000;
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut policy = 1;
                    while !ends.load(Ordering::Relaxed) {
                        match cache.get(policy) {
                            Some(entry) => assert_eq!(entry.0, policy * 10),
                            None => policy = policy % last + 1,
                        }
                    }
                });
            }
            for policy in 1..=last {
                assert!(cache.insert(policy, ResolvedEntry(policy * 10)));
            }
            ends.store(true, Ordering::Relaxed);
        });
    }
}
