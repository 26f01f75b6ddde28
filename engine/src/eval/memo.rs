//! Memoised results of one evaluation.

use bumpalo::Bump;
use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::index::Indexed as _;
use crate::program::RuleId;
use crate::value::{Arena, ValueRef, order, prefix_hash};

/// Results of rules and functions within one scope. `None` means undefined.
pub(super) struct Memo<'e> {
    arena: &'e Arena,
    /// Last entry of the linked list of all results.
    last: Option<&'e MemoEntry<'e>>,
    /// Length of the list.
    len: usize,
    /// Hash table of all results, once the list is too long.
    table: Option<&'e mut HashTable<Hashed<'e>, &'e Bump>>,
    /// `true` if arguments are hashed in full, since too many share their first members.
    thorough: bool,
    rules: usize,
    /// [`RAN`] and [`LONG_RUN`] of each rule, [`RULES_PER_WORD`] rules a word. Empty until a function runs. Not in the
    /// arena, because a loop over a `with` would fill it.
    flags: SmallVec<[u64; SMALL]>,
}

/// Number of words stored inline.
const SMALL: usize = 4;

/// Flag of functions that ran at least once: the first result is not memoised.
const RAN: u64 = 1;

/// Flag of functions that ran long.
const LONG_RUN: u64 = 2;

/// Number of flag bits for each rule.
const FLAG_BITS: u32 = 2;

/// Number of rules for each word of flags.
const RULES_PER_WORD: u32 = u64::BITS / FLAG_BITS;

/// Number of results up to which a linear scan is faster than a hash table.
const SCAN: usize = 8;

/// Number of results with one bounded hash from which on arguments are hashed in full.
const ALIKE: usize = 8;

/// Number of iterations from which on a function counts as long-running.
pub(super) const LONG: u64 = 24;

/// Comparison of arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Value,
    /// Stored collections by address, which costs nothing. An equal one elsewhere is another argument: the function
    /// runs for it as well, once for each stored collection.
    Address,
}

pub(super) enum MemoLookup<'e> {
    Cached(Option<ValueRef<'e>>),
    /// None, with the position for a result.
    Missing(Vacant),
}

/// Position for a result: its hash, once there is a table, whether that is a hash of the full arguments, and their
/// comparison.
#[derive(Clone, Copy)]
pub(super) struct Vacant(Option<(u64, bool, By)>);

struct MemoEntry<'e> {
    rule: RuleId,
    by: By,
    args: &'e [ValueRef<'e>],
    result: Option<ValueRef<'e>>,
    before: Option<&'e MemoEntry<'e>>,
}

type Hashed<'e> = (u64, &'e MemoEntry<'e>);

impl<'e> MemoEntry<'e> {
    #[inline]
    fn matches(&self, rule: RuleId, args: &[ValueRef<'e>], by: By) -> bool {
        let is_one = |(a, b): (&ValueRef<'e>, &ValueRef<'e>)| match by {
            By::Value => is_same_argument(a, b),
            By::Address => is_identical(a, b),
        };
        self.rule == rule && self.args.len() == args.len() && self.args.iter().zip(args).all(is_one)
    }
}

impl<'e> Memo<'e> {
    /// Creates an empty memo for a program with `rules` rules. Allocates nothing.
    #[inline]
    pub fn new(arena: &'e Arena, rules: usize) -> Self {
        Self {
            arena,
            last: None,
            len: 0,
            table: None,
            thorough: false,
            rules,
            flags: SmallVec::new(),
        }
    }

    /// Clears all results and flags.
    pub fn clear(&mut self) {
        self.last = None;
        self.len = 0;
        self.table = None;
        self.thorough = false;
        self.flags.clear();
    }

    /// Returns the memoised result of a rule, or of a function or a partial rule under arguments. The outer `None` means
    /// that none is stored.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[ValueRef<'e>]) -> Option<Option<ValueRef<'e>>> {
        match self.lookup(rule, args, By::Value) {
            MemoLookup::Cached(result) => Some(result),
            MemoLookup::Missing(_) => None,
        }
    }

    /// Looks a result up; if it is missing, returns the position for [`Self::fill`].
    #[inline]
    pub fn lookup(&self, rule: RuleId, args: &[ValueRef<'e>], by: By) -> MemoLookup<'e> {
        if let Some(table) = &self.table {
            let code = self.code(rule, args, by);
            let is = |entry: &Hashed<'e>| entry.0 == code && entry.1.matches(rule, args, by);
            return match table.find(code, is) {
                Some(found) => MemoLookup::Cached(found.1.result),
                None => MemoLookup::Missing(Vacant(Some((code, self.thorough, by)))),
            };
        }
        let mut next = self.last;
        while let Some(entry) = next {
            if entry.matches(rule, args, by) {
                return MemoLookup::Cached(entry.result);
            }
            next = entry.before;
        }
        MemoLookup::Missing(Vacant(None))
    }

    /// Returns the comparison of a function's arguments: by value if running again costs more than comparing.
    #[inline]
    pub fn by(&self, rule: RuleId) -> By {
        let (word, shift) = flags_at(rule);
        match self.flags.get(word) {
            Some(word) if word >> shift & LONG_RUN != 0 => By::Value,
            _ => By::Address,
        }
    }

    /// Records that a function runs. Returns `true` for its first run, which is the only one of most functions in small
    /// decisions.
    #[inline]
    pub fn is_first(&mut self, rule: RuleId) -> bool {
        let (word, shift) = flags_at(rule);
        match self.flags.get_mut(word) {
            Some(word) => {
                let before = *word;
                *word = before | RAN << shift;
                before >> shift & RAN == 0
            }
            None => {
                self.set(rule, RAN);
                true
            }
        }
    }

    /// Allocates the flags of all rules.
    #[cold]
    fn make_flags(&mut self) {
        let words = self.rules.div_ceil(RULES_PER_WORD as usize);
        self.flags.resize(words, 0);
    }

    #[inline]
    fn set(&mut self, rule: RuleId, flag: u64) {
        let (word, shift) = flags_at(rule);
        if word >= self.flags.len() {
            self.make_flags();
        }
        *self.flags.item_mut(word) |= flag << shift;
    }

    /// Records that a function ran long.
    #[inline]
    pub fn note_long(&mut self, rule: RuleId) {
        self.set(rule, LONG_RUN);
    }

    /// Memoises the result of a function that ran long.
    #[cold]
    pub fn keep_long(&mut self, rule: RuleId, args: &[ValueRef<'e>], result: Option<ValueRef<'e>>) {
        self.note_long(rule);
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Memoises a result, also that there is none.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[ValueRef<'e>], result: Option<ValueRef<'e>>) {
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Memoises a result at its position.
    #[inline]
    pub fn fill(
        &mut self,
        place: Vacant,
        rule: RuleId,
        args: &[ValueRef<'e>],
        by: By,
        result: Option<ValueRef<'e>>,
    ) {
        let bump = self.arena.bump();
        let args: &'e [ValueRef<'e>] = if args.is_empty() {
            &[]
        } else {
            bump.alloc_slice_copy(args)
        };
        let entry: &'e MemoEntry<'e> = bump.alloc(MemoEntry {
            rule,
            by,
            args,
            result,
            before: self.last,
        });
        self.last = Some(entry);
        self.len += 1;
        if self.len > SCAN {
            self.tabulate(entry, place);
        }
    }

    /// Adds a result to the table, which is created from all results if there is none yet.
    fn tabulate(&mut self, entry: &'e MemoEntry<'e>, place: Vacant) {
        let code = match place.0 {
            Some((code, thorough, by)) if thorough == self.thorough && by == entry.by => code,
            _ => self.code(entry.rule, entry.args, entry.by),
        };
        let alike = match &mut self.table {
            Some(table) => {
                table.insert_unique(code, (code, entry), |hashed| hashed.0);
                match entry.by {
                    By::Value => table.iter_hash(code).filter(|held| held.0 == code).count(),
                    By::Address => 0,
                }
            }
            None => {
                self.tabulate_all();
                0
            }
        };
        if alike > ALIKE && !self.thorough {
            self.thorough = true;
            self.tabulate_all();
        }
    }

    /// Makes a table of all results.
    fn tabulate_all(&mut self) {
        let bump = self.arena.bump();
        let mut table = HashTable::with_capacity_in((2 * self.len).max(12 * SCAN), bump);
        let mut next = self.last;
        while let Some(entry) = next {
            let code = self.code(entry.rule, entry.args, entry.by);
            table.insert_unique(code, (code, entry), |hashed| hashed.0);
            next = entry.before;
        }
        self.table = Some(bump.alloc(table));
    }

    #[inline]
    fn code(&self, rule: RuleId, args: &[ValueRef<'_>], by: By) -> u64 {
        // multiplication by an odd constant spreads small numbers over the upper bits, which a table uses last
        let spread = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
        args.iter().fold(spread(u64::from(rule) + 1), |code, arg| {
            let arg = match (by, arg.stored_at()) {
                (By::Address, Some(address)) => address as u64,
                // values with too many nodes to hash are hashed by kind
                _ if self.thorough && arg.is_oversized() => 0,
                _ if self.thorough => order::hash(*arg),
                _ => prefix_hash::prefix_hash(*arg),
            };
            spread(code.rotate_left(23) ^ arg)
        })
    }
}

/// Returns the word with the flags of a rule, and the shift of its bits.
#[inline]
fn flags_at(rule: RuleId) -> (usize, u32) {
    (
        (rule / RULES_PER_WORD) as usize,
        rule % RULES_PER_WORD * FLAG_BITS,
    )
}

/// Returns `true` if two arguments are equal; those with too many nodes to compare only if they are identical.
#[inline]
fn is_same_argument(a: &ValueRef<'_>, b: &ValueRef<'_>) -> bool {
    if a.is_oversized() || b.is_oversized() {
        order::same(*a, *b)
    } else {
        a == b
    }
}

/// Returns `true` if two arguments are equal; stored collections only if they are identical.
#[inline]
fn is_identical(a: &ValueRef<'_>, b: &ValueRef<'_>) -> bool {
    match (a.stored_at(), b.stored_at()) {
        (None, None) => is_same_argument(a, b),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests;
