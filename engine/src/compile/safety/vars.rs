//! Variables as small numbers, and sets of them.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};
use solon_syntax::ast::visit::Walk;
use solon_syntax::ast::{Name, VarScan};

/// Number of a variable among those of one rule or query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(u32);

/// The variables of one rule or query.
#[derive(Debug, Default)]
pub struct Vars {
    numbers: HashMap<Name, Var>,
    names: Vec<Name>,
}

impl Vars {
    /// The number of a name.
    pub fn var(&mut self, name: &Name) -> Var {
        if let Some(var) = self.numbers.get(name) {
            return *var;
        }
        let var = Var(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.numbers.insert(name.clone(), var);
        self.names.push(name.clone());
        var
    }

    /// The name with a number.
    pub fn name(&self, var: Var) -> Option<&Name> {
        self.names.get(var.0 as usize)
    }

    /// The variables that a scan of a node finds.
    pub fn scan<N: Walk + ?Sized>(&mut self, scan: VarScan, node: &N) -> VarSet {
        let mut set = VarSet::default();
        self.scan_into(scan, node, &mut set);
        set
    }

    /// Adds the variables that a scan of a node finds.
    pub fn scan_into<N: Walk + ?Sized>(&mut self, scan: VarScan, node: &N, set: &mut VarSet) {
        scan.each(node, |_, name| {
            set.insert(self.var(name));
        });
    }
}

/// A set of variables, a bit for each.
#[derive(Clone, Debug, Default)]
pub struct VarSet {
    words: SmallVec<[u64; 2]>,
}

impl VarSet {
    /// Adds a variable; whether it is new.
    pub fn insert(&mut self, var: Var) -> bool {
        let (word, bit) = place(var);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words.get_mut(word).is_some_and(|word| {
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }

    /// Takes a variable out.
    pub fn remove(&mut self, var: Var) {
        let (word, bit) = place(var);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether a variable is in it.
    pub fn contains(&self, var: Var) -> bool {
        let (word, bit) = place(var);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether all of it is in another set.
    pub fn is_subset(&self, other: &Self) -> bool {
        let mut others = other.words.iter().chain(std::iter::repeat(&0));
        self.words
            .iter()
            .all(|word| others.next().is_some_and(|other| word & !other == 0))
    }

    /// Adds what is in another set.
    pub fn add(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Takes out what is in another set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// What is in this set, but not in another.
    pub fn without(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.subtract(other);
        set
    }

    /// What is in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words);
        Self {
            words: words.map(|(word, other)| word & other).collect(),
        }
    }

    /// Its variables, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Var> {
        self.words.iter().zip(0..).flat_map(|(word, place)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(Var(place * u64::BITS + bit))
            })
        })
    }
}

impl PartialEq for VarSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_subset(other) && other.is_subset(self)
    }
}

impl Eq for VarSet {}

impl FromIterator<Var> for VarSet {
    fn from_iter<I: IntoIterator<Item = Var>>(vars: I) -> Self {
        let mut set = Self { words: smallvec![] };
        for var in vars {
            set.insert(var);
        }
        set
    }
}

/// Word and bit of a variable.
fn place(var: Var) -> (usize, u64) {
    ((var.0 / u64::BITS) as usize, 1 << (var.0 % u64::BITS))
}
