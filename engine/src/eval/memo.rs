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
}

/// Results up to which a scan beats a hash table.
const SCAN: usize = 8;

/// Results of one bounded hash from which on arguments are hashed as a whole.
const ALIKE: usize = 8;

/// What is known of a rule under arguments.
pub(super) enum Look<'e> {
    /// The kept result.
    Kept(Option<V<'e>>),
    /// Nothing, and where a result will be.
    Missing(Place),
}

/// Where a result will be: its hash, once there is a table, and whether that is one of whole arguments.
#[derive(Clone, Copy)]
pub(super) struct Place(Option<(u64, bool)>);

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
        }
    }

    /// The kept result of a rule, or of a function or a partial rule under arguments.
    #[inline]
    pub fn get(&self, rule: RuleId, args: &[V<'e>]) -> Option<Option<V<'e>>> {
        match self.look(rule, args) {
            Look::Kept(result) => Some(result),
            Look::Missing(_) => None,
        }
    }

    /// The same; what is not kept has a place already that [`Self::fill`] puts it in.
    #[inline]
    pub fn look(&self, rule: RuleId, args: &[V<'e>]) -> Look<'e> {
        if let Some(table) = &self.table {
            let code = self.code(rule, args);
            let is = |entry: &Hashed<'e>| entry.0 == code && entry.1.is(rule, args);
            return match table.find(code, is) {
                Some(found) => Look::Kept(found.1.result),
                None => Look::Missing(Place(Some((code, self.thorough)))),
            };
        }
        let mut next = self.last;
        while let Some(entry) = next {
            if entry.is(rule, args) {
                return Look::Kept(entry.result);
            }
            next = entry.before;
        }
        Look::Missing(Place(None))
    }

    /// Keeps a result.
    #[inline]
    pub fn put(&mut self, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
        self.fill(Place(None), rule, args, result);
    }

    /// Keeps a result at its place.
    #[inline]
    pub fn fill(&mut self, place: Place, rule: RuleId, args: &[V<'e>], result: Option<V<'e>>) {
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
            self.tabulate(entry, place);
        }
    }

    /// Adds a result to the table, which is made of all when there is none yet.
    fn tabulate(&mut self, entry: &'e Entry<'e>, place: Place) {
        let code = match place.0 {
            Some((code, thorough)) if thorough == self.thorough => code,
            _ => self.code(entry.rule, entry.args),
        };
        let alike = match &mut self.table {
            Some(table) => {
                table.insert_unique(code, (code, entry), |hashed| hashed.0);
                table.iter_hash(code).filter(|held| held.0 == code).count()
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
        let mut table = HashTable::with_capacity_in((2 * self.len).max(4 * SCAN), bump);
        let mut next = self.last;
        while let Some(entry) = next {
            let code = self.code(entry.rule, entry.args);
            table.insert_unique(code, (code, entry), |hashed| hashed.0);
            next = entry.before;
        }
        self.table = Some(bump.alloc(table));
    }

    #[inline]
    fn code(&self, rule: RuleId, args: &[V<'_>]) -> u64 {
        // multiplying by an odd constant spreads small numbers over all bits
        let spread = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        args.iter().fold(spread(u64::from(rule) + 1), |code, arg| {
            let arg = match self.thorough {
                // what has too many parts to hash is told by its kind
                true if arg.is_outsize() => 0,
                true => order::hash(*arg),
                false => sample::sample(*arg),
            };
            spread(code.rotate_left(23) ^ arg)
        })
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
