//! Variables as small integers, and sets of them.

use hashbrown::HashMap;

use smallvec::SmallVec;
use solon_syntax::ast::visit::Walk;
use solon_syntax::ast::{Name, VarScan};

/// Number of a variable of one rule or query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(u32);

/// Number of names up to which a linear scan is faster than hashing.
const SCANNED: usize = 16;

/// The variables of one rule or query.
#[derive(Debug, Default)]
pub struct Vars {
    names: Vec<Name>,
    /// Numbers by name, once there are more than `SCANNED`.
    numbers: HashMap<Name, Var>,
}

impl Vars {
    /// Returns the number of a name, which is assigned on first use. A few names are compared, more are hashed.
    pub fn var(&mut self, name: &Name) -> Var {
        if let Some(var) = self.find(name) {
            return var;
        }
        let var = number(self.names.len());
        self.names.push(name.clone());
        match self.names.len() {
            ..=SCANNED => {}
            count if count == SCANNED + 1 => {
                let names = self.names.iter().cloned();
                self.numbers = names.zip((0..).map(number)).collect();
            }
            _ => drop(self.numbers.insert(name.clone(), var)),
        }
        var
    }

    #[inline]
    fn find(&self, name: &Name) -> Option<Var> {
        if self.names.len() > SCANNED {
            return self.numbers.get(name).copied();
        }
        let position = self.names.iter().position(|other| other == name)?;
        Some(number(position))
    }

    /// Returns the name of a number, or `None` for a number that this list has not assigned.
    pub fn name(&self, var: Var) -> Option<&Name> {
        self.names.get(var.0 as usize)
    }

    /// Returns the variables found by a scan of a node.
    pub fn scan<N: Walk + ?Sized>(&mut self, scan: VarScan, node: &N) -> VarSet {
        let mut set = VarSet::default();
        self.scan_into(scan, node, &mut set);
        set
    }

    /// Adds the variables found by a scan of a node.
    pub fn scan_into<N: Walk + ?Sized>(&mut self, scan: VarScan, node: &N, set: &mut VarSet) {
        scan.each(node, |_, name| {
            set.insert(self.var(name));
        });
    }
}

/// A sparse bit set of variables: non-empty words, ordered by index. A body may have a hundred thousand variables in as
/// many expressions of a few each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VarSet {
    blocks: SmallVec<[(u32, u64); 2]>,
}

impl VarSet {
    /// Adds a variable. Returns `true` if it is new.
    #[inline]
    pub fn insert(&mut self, var: Var) -> bool {
        let (block, bit) = word_and_bit(var);
        self.insert_word(block, bit)
    }

    /// Adds the variables of a word. Returns `true` if one is new.
    #[inline]
    fn insert_word(&mut self, block: u32, bits: u64) -> bool {
        match self.find(block) {
            Ok(index) => self.blocks.get_mut(index).is_some_and(|(_, word)| {
                let new = bits & !*word != 0;
                *word |= bits;
                new
            }),
            Err(index) => {
                self.blocks.insert(index, (block, bits));
                true
            }
        }
    }

    /// Returns the position of a word, or its insertion position.
    fn find(&self, block: u32) -> Result<usize, usize> {
        self.blocks
            .binary_search_by_key(&block, |(block, _)| *block)
    }

    /// Returns the word with an index, or 0 if it is not stored.
    #[inline]
    fn word(&self, block: u32) -> u64 {
        let entry = self
            .find(block)
            .ok()
            .and_then(|index| self.blocks.get(index));
        entry.map_or(0, |(_, word)| *word)
    }

    pub fn remove(&mut self, var: Var) {
        let (block, bit) = word_and_bit(var);
        if let Ok(index) = self.find(block)
            && let Some((_, word)) = self.blocks.get_mut(index)
        {
            *word &= !bit;
            if *word == 0 {
                self.blocks.remove(index);
            }
        }
    }

    #[inline]
    pub fn contains(&self, var: Var) -> bool {
        let (block, bit) = word_and_bit(var);
        self.word(block) & bit != 0
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.blocks
            .iter()
            .all(|(block, word)| word & !other.word(*block) == 0)
    }

    #[inline]
    pub fn add(&mut self, other: &Self) {
        for (block, word) in &other.blocks {
            self.insert_word(*block, *word);
        }
    }

    /// Removes all variables of another set.
    #[inline]
    pub fn subtract(&mut self, other: &Self) {
        self.blocks.retain(|(block, word)| {
            *word &= !other.word(*block);
            *word != 0
        });
    }

    pub fn without(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.subtract(other);
        set
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let intersect = |(block, word): &(u32, u64)| (*block, word & other.word(*block));
        Self {
            blocks: self
                .blocks
                .iter()
                .map(intersect)
                .filter(|(_, word)| *word != 0)
                .collect(),
        }
    }

    /// Iterates over the variables in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Var> {
        self.blocks.iter().flat_map(|(block, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(Var(block * u64::BITS + bit))
            })
        })
    }
}

impl FromIterator<Var> for VarSet {
    fn from_iter<I: IntoIterator<Item = Var>>(vars: I) -> Self {
        let mut set = Self::default();
        for var in vars {
            set.insert(var);
        }
        set
    }
}

fn number(index: usize) -> Var {
    Var(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Returns the index of the word and the bit of a variable.
#[inline]
fn word_and_bit(var: Var) -> (u32, u64) {
    (var.0 / u64::BITS, 1 << (var.0 % u64::BITS))
}
