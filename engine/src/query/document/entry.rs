//! Where a document's rules are, as a policy has them.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::bug::{Within as _, bug};
use crate::eval::EntryPoint;
use crate::program::{Program, RuleId};
use crate::value::Value;

/// Where a policy makes a document, in one word: the rule that makes it or something around it, how many steps of the path
/// lead below that rule, whether there is such a rule, and whether an evaluation may ask the outside.
#[derive(Clone, Copy)]
pub struct ResolvedEntry(u64);

const TOO_FEW_NAMES: &str = "a rule stands below more names than its document has";

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

    /// Whether an evaluation may ask the outside.
    #[inline]
    pub fn may_block(self) -> bool {
        self.0 & Self::BLOCKS != 0
    }

    /// The rule, where it makes the document alone.
    #[inline]
    pub fn whole_rule(self) -> Option<RuleId> {
        let rest = self.0 & !Self::BLOCKS & !u64::from(RuleId::MAX);
        (rest == Self::RULE).then_some(self.rule())
    }

    /// The same with the path.
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

/// What is known of the latest policy that was asked. Readers write nothing, so that threads do not meet here: they read
/// the policy's stamp before and behind the word, and believe the word if the stamp stayed. Stamps only grow.
#[derive(Default)]
pub(super) struct EntryCache {
    policy: AtomicU64,
    word: AtomicU64,
    writing: Mutex<()>,
}

impl EntryCache {
    /// What is known of a policy.
    #[inline]
    pub fn get(&self, policy: u64) -> Option<ResolvedEntry> {
        if self.policy.load(Ordering::Acquire) != policy {
            return None;
        }
        let word = self.word.load(Ordering::Acquire);
        (self.policy.load(Ordering::Relaxed) == policy).then_some(ResolvedEntry(word))
    }

    /// Notes what is known of a policy, unless that of a later one is; whether it was noted.
    #[cold]
    pub fn insert(&self, policy: u64, found: ResolvedEntry) -> bool {
        let _writing = self.writing.lock();
        if self.policy.load(Ordering::Relaxed) >= policy {
            return false;
        }
        // no policy has this stamp: whoever reads the new word and then a stamp reads this one or the new one
        self.policy.store(0, Ordering::Relaxed);
        self.word.store(found.0, Ordering::Release);
        self.policy.store(policy, Ordering::Release);
        true
    }
}
