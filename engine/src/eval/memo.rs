//! Results that one evaluation keeps.

use bumpalo::Bump;
use hashbrown::HashTable;

use crate::program::RuleId;
use crate::value::{Arena, V, order};

/// Results of rules and functions within one scope. `None` stands for undefined.
pub(super) struct Memo<'e> {
    arena: &'e Arena,
    entries: HashTable<Entry<'e>, &'e Bump>,
}

#[derive(Clone, Copy)]
struct Entry<'e> {
    hash: u64,
    rule: RuleId,
    args: &'e [V<'e>],
    result: Option<V<'e>>,
}

impl<'e> Memo<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            entries: HashTable::new_in(arena.bump()),
        }
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[V<'e>]) -> Option<Option<V<'e>>> {
        if self.entries.is_empty() {
            return None;
        }
        let same = |entry: &Entry<'e>| entry.rule == rule && entry.args == args;
        self.entries
            .find(hash(rule, args), same)
            .map(|entry| entry.result)
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        let args: &'e [V<'e>] = if args.is_empty() {
            &[]
        } else {
            self.arena.bump().alloc_slice_copy(args)
        };
        let hash = hash(rule, args);
        self.entries.insert_unique(
            hash,
            Entry {
                hash,
                rule,
                args,
                result,
            },
            |entry| entry.hash,
        );
    }
}

#[inline]
fn hash(rule: RuleId, args: &[V<'_>]) -> u64 {
    // multiplying by an odd constant spreads small numbers over all bits
    let seed = (u64::from(rule) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    args.iter().fold(seed, |code, arg| {
        (code.rotate_left(23) ^ order::hash(*arg)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
