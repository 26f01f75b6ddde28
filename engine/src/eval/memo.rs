//! Results that one evaluation keeps.

use bumpalo::Bump;
use hashbrown::HashTable;

use crate::program::RuleId;
use crate::value::{Arena, V, order, sample};

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
    /// Functions that ran long, a bit for each, which several may share.
    long: u64,
    /// Functions that ran, in the same way: nothing is kept of others.
    ran: [u64; RAN],
}

/// Words of bits for functions that ran.
const RAN: usize = 4;

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
    Place,
}

/// What is known of a rule under arguments.
pub(super) enum Look<'e> {
    /// The kept result.
    Kept(Option<V<'e>>),
    /// Nothing, and where a result will be.
    Missing(Vacant),
}

/// Where a result will be: its hash, once there is a table, whether that is one of whole arguments, and by what.
#[derive(Clone, Copy)]
pub(super) struct Vacant(Option<(u64, bool, By)>);

struct Entry<'e> {
    rule: RuleId,
    by: By,
    args: &'e [V<'e>],
    result: Option<V<'e>>,
    before: Option<&'e Entry<'e>>,
}

/// A result with its hash.
type Hashed<'e> = (u64, &'e Entry<'e>);

impl<'e> Entry<'e> {
    #[inline]
    fn is(&self, rule: RuleId, args: &[V<'e>], by: By) -> bool {
        let is_one = |(a, b): (&V<'e>, &V<'e>)| match by {
            By::Value => is_known(a, b),
            By::Place => is_there(a, b),
        };
        self.rule == rule && self.args.len() == args.len() && self.args.iter().zip(args).all(is_one)
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
            thorough: false,
            long: 0,
            ran: [0; RAN],
        }
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[V<'e>]) -> Option<Option<V<'e>>> {
        match self.look(rule, args, By::Value) {
            Look::Kept(result) => Some(result),
            Look::Missing(_) => None,
        }
    }

    /// The same; what is not kept has a place already that [`Self::fill`] puts it in.
    #[inline]
    pub fn look(&self, rule: RuleId, args: &[V<'e>], by: By) -> Look<'e> {
        if let Some(table) = &self.table {
            let code = self.code(rule, args, by);
            let is = |entry: &Hashed<'e>| entry.0 == code && entry.1.is(rule, args, by);
            return match table.find(code, is) {
                Some(found) => Look::Kept(found.1.result),
                None => Look::Missing(Vacant(Some((code, self.thorough, by)))),
            };
        }
        let mut next = self.last;
        while let Some(entry) = next {
            if entry.is(rule, args, by) {
                return Look::Kept(entry.result);
            }
            next = entry.before;
        }
        Look::Missing(Vacant(None))
    }

    /// How the arguments of a function are told apart: equal ones are looked for where running again would cost more.
    #[inline]
    pub fn by(&self, rule: RuleId) -> By {
        match self.long & bit(rule) {
            0 => By::Place,
            _ => By::Value,
        }
    }

    /// Whether a function runs for the first time, as most functions of small decisions do.
    #[inline]
    pub fn is_first(&mut self, rule: RuleId) -> bool {
        let word = (rule / u64::BITS) as usize % RAN;
        let Some(word) = self.ran.get_mut(word) else {
            return false;
        };
        let before = std::mem::replace(word, *word | bit(rule));
        before & bit(rule) == 0
    }

    /// Notes that a function ran long.
    #[inline]
    pub fn note_long(&mut self, rule: RuleId) {
        self.long |= bit(rule);
    }

    /// Keeps the result of a function that ran long.
    #[cold]
    pub fn keep_long(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        self.note_long(rule);
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        self.fill(Vacant(None), rule, args, By::Value, result);
    }

    /// Keeps a result at its place.
    #[inline]
    pub fn fill(
        &mut self,
        place: Vacant,
        rule: RuleId,
        args: &[V<'e>],
        by: By,
        result: Option<V<'e>>,
    ) {
        let bump = self.arena.bump();
        let args: &'e [V<'e>] = if args.is_empty() {
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
                    By::Place => 0,
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
    fn code(&self, rule: RuleId, args: &[V<'_>], by: By) -> u64 {
        // multiplying by an odd constant spreads small numbers over the upper half, which a table asks for last
        let spread = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
        args.iter().fold(spread(u64::from(rule) + 1), |code, arg| {
            let arg = match (by, arg.stored_at()) {
                (By::Place, Some(address)) => address as u64,
                // what has too many parts to hash is told by its kind
                _ if self.thorough && arg.is_outsize() => 0,
                _ if self.thorough => order::hash(*arg),
                _ => sample::sample(*arg),
            };
            spread(code.rotate_left(23) ^ arg)
        })
    }
}

#[inline]
fn bit(rule: RuleId) -> u64 {
    1 << (rule % u64::BITS)
}

/// Whether two arguments are equal; those with too many parts to compare only if they are one.
#[inline]
fn is_known(a: &V<'_>, b: &V<'_>) -> bool {
    if a.is_outsize() || b.is_outsize() {
        order::same(*a, *b)
    } else {
        a == b
    }
}

/// The same; stored collections only if they are one.
#[inline]
fn is_there(a: &V<'_>, b: &V<'_>) -> bool {
    match (a.stored_at(), b.stored_at()) {
        (None, None) => is_known(a, b),
        (a, b) => a == b,
    }
}
