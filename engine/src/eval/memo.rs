//! Results that one evaluation keeps.

use bumpalo::Bump;
use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::index::Indexed as _;
use crate::program::RuleId;
use crate::value::{Arena, ValueRef, order, prefix_hash};

/// Results of rules and functions within one scope. `None` stands for undefined.
pub(super) struct Memo<'e> {
    arena: &'e Arena,
    /// The last of a chain of all results.
    last: Option<&'e Entry<'e>>,
    /// Length of the chain.
    len: usize,
    /// All results, once there are too many to go along the chain.
    table: Option<&'e mut HashTable<Hashed<'e>, &'e Bump>>,
    /// Whether arguments are hashed as a whole, since too many have the same first members.
    thorough: bool,
    /// Number of rules of the program.
    rules: usize,
    /// [`RAN`] and [`LONG_RUN`] of each rule, [`RULES_PER_WORD`] rules a word. Empty until a function runs. They are not in
    /// the arena: a loop over a `with` would fill it.
    flags: SmallVec<[u64; SMALL]>,
}

/// Words of flags that take no memory of their own.
const SMALL: usize = 4;

/// Flag of functions that ran: nothing is kept of others.
const RAN: u64 = 1;

/// Flag of functions that ran long.
const LONG_RUN: u64 = 2;

/// Bits of flags that a rule has.
const FLAG_BITS: u32 = 2;

/// Rules whose flags are in one word.
const RULES_PER_WORD: u32 = u64::BITS / FLAG_BITS;

/// Results up to which a scan beats a hash table.
const SCAN: usize = 8;

/// Results of one bounded hash from which on arguments are hashed as a whole.
const ALIKE: usize = 8;

/// Turns from which on a function ran long.
pub(super) const LONG: u64 = 24;

/// How arguments are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// By what they are.
    Value,
    /// Stored collections by where they are, which costs nothing. An equal one elsewhere is another argument: the
    /// function runs for it as well, once for each collection that is stored.
    Address,
}

/// What is known of a rule under arguments.
pub(super) enum MemoLookup<'e> {
    /// The kept result.
    Cached(Option<ValueRef<'e>>),
    /// Nothing, and where a result will be.
    Missing(Vacant),
}

/// Where a result will be: its hash, once there is a table, whether that is one of whole arguments, and by what.
#[derive(Clone, Copy)]
pub(super) struct Vacant(Option<(u64, bool, By)>);

struct Entry<'e> {
    rule: RuleId,
    by: By,
    args: &'e [ValueRef<'e>],
    result: Option<ValueRef<'e>>,
    before: Option<&'e Entry<'e>>,
}

/// A result with its hash.
type Hashed<'e> = (u64, &'e Entry<'e>);

impl<'e> Entry<'e> {
    #[inline]
    fn is(&self, rule: RuleId, args: &[ValueRef<'e>], by: By) -> bool {
        let is_one = |(a, b): (&ValueRef<'e>, &ValueRef<'e>)| match by {
            By::Value => is_known(a, b),
            By::Address => is_there(a, b),
        };
        self.rule == rule && self.args.len() == args.len() && self.args.iter().zip(args).all(is_one)
    }
}

impl<'e> Memo<'e> {
    /// An empty memo for a program with so many rules. It allocates nothing.
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

    /// Forgets all results and which functions ran.
    pub fn clear(&mut self) {
        self.last = None;
        self.len = 0;
        self.table = None;
        self.thorough = false;
        self.flags.clear();
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[ValueRef<'e>]) -> Option<Option<ValueRef<'e>>> {
        match self.look(rule, args, By::Value) {
            MemoLookup::Cached(result) => Some(result),
            MemoLookup::Missing(_) => None,
        }
    }

    /// The same; what is not kept has a place already that [`Self::fill`] puts it in.
    #[inline]
    pub fn look(&self, rule: RuleId, args: &[ValueRef<'e>], by: By) -> MemoLookup<'e> {
        if let Some(table) = &self.table {
            let code = self.code(rule, args, by);
            let is = |entry: &Hashed<'e>| entry.0 == code && entry.1.is(rule, args, by);
            return match table.find(code, is) {
                Some(found) => MemoLookup::Cached(found.1.result),
                None => MemoLookup::Missing(Vacant(Some((code, self.thorough, by)))),
            };
        }
        let mut next = self.last;
        while let Some(entry) = next {
            if entry.is(rule, args, by) {
                return MemoLookup::Cached(entry.result);
            }
            next = entry.before;
        }
        MemoLookup::Missing(Vacant(None))
    }

    /// How the arguments of a function are told apart: equal ones are looked for where running again would cost more.
    #[inline]
    pub fn by(&self, rule: RuleId) -> By {
        let (word, shift) = flags_at(rule);
        match self.flags.get(word) {
            Some(word) if word >> shift & LONG_RUN != 0 => By::Value,
            _ => By::Address,
        }
    }

    /// Notes that a function runs, and returns `true` if it is the first time, as for most functions of small decisions.
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

    /// Makes room for the flags of all rules.
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

    /// Notes that a function ran long.
    #[inline]
    pub fn note_long(&mut self, rule: RuleId) {
        self.set(rule, LONG_RUN);
    }

    /// Keeps the result of a function that ran long.
    #[cold]
    pub fn keep_long(&mut self, rule: RuleId, args: &[ValueRef<'e>], result: Option<ValueRef<'e>>) {
        self.note_long(rule);
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[ValueRef<'e>], result: Option<ValueRef<'e>>) {
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Keeps a result at its place.
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
        let entry: &'e Entry<'e> = bump.alloc(Entry {
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

    /// Adds a result to the table, which is made of all when there is none yet.
    fn tabulate(&mut self, entry: &'e Entry<'e>, place: Vacant) {
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
        // multiplying by an odd constant spreads small numbers over the upper half, which a table asks for last
        let spread = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
        args.iter().fold(spread(u64::from(rule) + 1), |code, arg| {
            let arg = match (by, arg.stored_at()) {
                (By::Address, Some(address)) => address as u64,
                // what has too many parts to hash is told by its kind
                _ if self.thorough && arg.is_oversized() => 0,
                _ if self.thorough => order::hash(*arg),
                _ => prefix_hash::prefix_hash(*arg),
            };
            spread(code.rotate_left(23) ^ arg)
        })
    }
}

/// The word with the flags of a rule, and by how many bits they are shifted in it.
#[inline]
fn flags_at(rule: RuleId) -> (usize, u32) {
    (
        (rule / RULES_PER_WORD) as usize,
        rule % RULES_PER_WORD * FLAG_BITS,
    )
}

/// Whether two arguments are equal; those with too many parts to compare only if they are one.
#[inline]
fn is_known(a: &ValueRef<'_>, b: &ValueRef<'_>) -> bool {
    if a.is_oversized() || b.is_oversized() {
        order::same(*a, *b)
    } else {
        a == b
    }
}

/// The same; stored collections only if they are one.
#[inline]
fn is_there(a: &ValueRef<'_>, b: &ValueRef<'_>) -> bool {
    match (a.stored_at(), b.stored_at()) {
        (None, None) => is_known(a, b),
        (a, b) => a == b,
    }
}
