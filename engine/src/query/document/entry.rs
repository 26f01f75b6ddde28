//! Where a document's rules are, as a policy has them.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::eval::Entry;
use crate::program::{Program, RuleId};
use crate::value::Value;

/// Where a policy makes a document.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The rule that makes it or something around it, and how many steps of the path lead below that rule.
    rule: Option<(RuleId, u16)>,
    /// Whether an evaluation may ask the outside.
    pub may_block: bool,
}

impl Found {
    pub fn new(program: &Program, names: &[Value], may_block: bool) -> Self {
        let rule = match Entry::new(program, names) {
            Entry::Rule(rule, keys) => u16::try_from(keys.len()).ok().map(|keys| (rule, keys)),
            Entry::Path(_) => None,
        };
        Self { rule, may_block }
    }

    /// The same with the path.
    #[inline]
    pub fn entry(self, names: &[Value]) -> Entry<'_> {
        match self.rule {
            None => Entry::Path(names),
            Some((rule, keys)) => {
                let above = names.len().saturating_sub(usize::from(keys));
                Entry::Rule(rule, names.get(above..).unwrap_or(&[]))
            }
        }
    }

    const RULE: u64 = 1 << 48;
    const BLOCKS: u64 = 1 << 49;

    /// All of it in a word.
    fn pack(self) -> u64 {
        let rule = self.rule.map_or(0, |(rule, keys)| {
            Self::RULE | u64::from(keys) << 32 | u64::from(rule)
        });
        rule | if self.may_block { Self::BLOCKS } else { 0 }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "both halves were packed from these types"
    )]
    #[inline]
    fn unpack(word: u64) -> Self {
        let rule = || (word as RuleId, (word >> 32) as u16);
        Self {
            rule: (word & Self::RULE != 0).then(rule),
            may_block: word & Self::BLOCKS != 0,
        }
    }
}

/// What is known of the latest policy that was asked. Readers write nothing, so that threads do not meet here: they read
/// the policy's stamp before and behind the word, and believe the word if the stamp stayed. Stamps only grow.
#[derive(Default)]
pub(super) struct KnownEntry {
    policy: AtomicU64,
    word: AtomicU64,
    writing: Mutex<()>,
}

impl KnownEntry {
    /// What is known of a policy.
    #[inline]
    pub fn of(&self, policy: u64) -> Option<Found> {
        if self.policy.load(Ordering::Acquire) != policy {
            return None;
        }
        let word = self.word.load(Ordering::Acquire);
        (self.policy.load(Ordering::Relaxed) == policy).then(|| Found::unpack(word))
    }

    /// Notes what is known of a policy, unless that of a later one is; whether it was noted.
    #[cold]
    pub fn keep(&self, policy: u64, found: Found) -> bool {
        let _writing = self.writing.lock();
        if self.policy.load(Ordering::Relaxed) >= policy {
            return false;
        }
        // no policy has this stamp: whoever reads the new word and then a stamp reads this one or the new one
        self.policy.store(0, Ordering::Relaxed);
        self.word.store(found.pack(), Ordering::Release);
        self.policy.store(policy, Ordering::Release);
        true
    }
}
