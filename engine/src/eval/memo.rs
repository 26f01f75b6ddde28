//! Results that one evaluation keeps.

use bumpalo::Bump;
use hashbrown::HashTable;

use crate::program::RuleId;
use crate::value::{Arena, V, order};

/// Results of rules and functions within one scope. `None` stands for undefined.
pub(super) struct Memo<'e> {
    arena: &'e Arena,
    /// Results, until there are too many to scan.
    few: bumpalo::collections::Vec<'e, Entry<'e>>,
    /// All results, once there are.
    many: HashTable<Entry<'e>, &'e Bump>,
}

/// Results up to which a scan beats a hash table.
const SCAN: usize = 8;

#[derive(Clone, Copy)]
struct Entry<'e> {
    hash: u64,
    rule: RuleId,
    args: &'e [V<'e>],
    result: Option<V<'e>>,
}

impl<'e> Entry<'e> {
    #[inline]
    fn is(&self, rule: RuleId, args: &[V<'e>]) -> bool {
        self.rule == rule && self.args == args
    }
}

impl<'e> Memo<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            few: bumpalo::collections::Vec::new_in(arena.bump()),
            many: HashTable::new_in(arena.bump()),
        }
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[V<'e>]) -> Option<Option<V<'e>>> {
        let found = if self.many.is_empty() {
            self.few.iter().find(|entry| entry.is(rule, args))
        } else {
            self.many
                .find(hash(rule, args), |entry| entry.is(rule, args))
        };
        found.map(|entry| entry.result)
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        let args: &'e [V<'e>] = if args.is_empty() {
            &[]
        } else {
            self.arena.bump().alloc_slice_copy(args)
        };
        let mut entry = Entry {
            hash: 0,
            rule,
            args,
            result,
        };
        if self.many.is_empty() && self.few.len() < SCAN {
            self.few.push(entry);
            return;
        }
        for mut early in self.few.drain(..) {
            early.hash = hash(early.rule, early.args);
            self.many
                .insert_unique(early.hash, early, |entry| entry.hash);
        }
        entry.hash = hash(rule, args);
        self.many
            .insert_unique(entry.hash, entry, |entry| entry.hash);
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
