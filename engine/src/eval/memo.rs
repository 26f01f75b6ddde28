//! Results that one evaluation keeps.

use bumpalo::Bump;
use hashbrown::HashTable;

use crate::program::RuleId;
use crate::value::{Arena, V, order};

/// Results of rules and functions within one scope. `None` stands for undefined.
pub(super) struct Memo<'e> {
    arena: &'e Arena,
    /// The last of a chain of all results.
    last: Option<&'e Entry<'e>>,
    /// Length of the chain.
    len: usize,
    /// All results, once there are too many to go along the chain.
    table: Option<&'e mut HashTable<Hashed<'e>, &'e Bump>>,
}

/// Results up to which a scan beats a hash table.
const SCAN: usize = 8;

struct Entry<'e> {
    rule: RuleId,
    args: &'e [V<'e>],
    result: Option<V<'e>>,
    before: Option<&'e Entry<'e>>,
}

/// A result with its hash.
type Hashed<'e> = (u64, &'e Entry<'e>);

impl<'e> Entry<'e> {
    #[inline]
    fn is(&self, rule: RuleId, args: &[V<'e>]) -> bool {
        self.rule == rule
            && self.args.len() == args.len()
            && self.args.iter().zip(args).all(|(a, b)| is_known(*a, *b))
    }

    fn hashed(&'e self) -> Hashed<'e> {
        (hash(self.rule, self.args), self)
    }
}

impl<'e> Memo<'e> {
    #[inline]
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            last: None,
            len: 0,
            table: None,
        }
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[V<'e>]) -> Option<Option<V<'e>>> {
        if let Some(table) = &self.table {
            let found = table.find(hash(rule, args), |entry| entry.1.is(rule, args))?;
            return Some(found.1.result);
        }
        let mut next = self.last;
        while let Some(entry) = next {
            if entry.is(rule, args) {
                return Some(entry.result);
            }
            next = entry.before;
        }
        None
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        let bump = self.arena.bump();
        let args: &'e [V<'e>] = if args.is_empty() {
            &[]
        } else {
            bump.alloc_slice_copy(args)
        };
        let entry: &'e Entry<'e> = bump.alloc(Entry {
            rule,
            args,
            result,
            before: self.last,
        });
        self.last = Some(entry);
        self.len += 1;
        if self.len > SCAN {
            self.tabulate(entry);
        }
    }

    /// Adds a result to the table, which is made of all when there is none yet.
    fn tabulate(&mut self, entry: &'e Entry<'e>) {
        let add = |table: &mut HashTable<Hashed<'e>, &'e Bump>, entry: &'e Entry<'e>| {
            let hashed = entry.hashed();
            table.insert_unique(hashed.0, hashed, |hashed| hashed.0);
        };
        if let Some(table) = &mut self.table {
            return add(table, entry);
        }
        let bump = self.arena.bump();
        let mut table = HashTable::with_capacity_in(4 * SCAN, bump);
        let mut next = Some(entry);
        while let Some(entry) = next {
            add(&mut table, entry);
            next = entry.before;
        }
        self.table = Some(bump.alloc(table));
    }
}

/// Whether two arguments are equal; those with too many parts to compare only if they are one.
#[inline]
fn is_known(a: V<'_>, b: V<'_>) -> bool {
    if a.is_outsize() || b.is_outsize() {
        order::same(a, b)
    } else {
        a == b
    }
}

#[inline]
fn hash(rule: RuleId, args: &[V<'_>]) -> u64 {
    // multiplying by an odd constant spreads small numbers over all bits
    let seed = (u64::from(rule) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    args.iter().fold(seed, |code, arg| {
        // what has too many parts to hash is told by its kind
        let arg = if arg.is_outsize() {
            0
        } else {
            order::hash(*arg)
        };
        (code.rotate_left(23) ^ arg).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
