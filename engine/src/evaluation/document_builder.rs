//! Documents that partial rules build, pair by pair.

use std::collections::BTreeMap;

use crate::value::{Arena, SetBuilder, V};

/// A document being built below a partial rule.
#[derive(Default)]
pub(crate) enum DocumentBuilder<'e> {
    /// Nothing yet.
    #[default]
    Empty,
    /// A value.
    Value(V<'e>),
    /// A set whose members come one by one.
    Set(SetBuilder<'e>),
    /// An object whose keys come one by one.
    Object(Pairs<'e>),
}

/// Keys with what is below them.
#[derive(Default)]
pub(crate) struct Pairs<'e> {
    places: BTreeMap<V<'e>, usize>,
    entries: Vec<(V<'e>, DocumentBuilder<'e>)>,
    /// Where something was put last: mostly more of the same comes.
    last: usize,
}

impl<'e> Pairs<'e> {
    fn get(&self, key: V<'e>) -> Option<&DocumentBuilder<'e>> {
        let at = self.places.get(&key)?;
        self.entries.get(*at).map(|(_, below)| below)
    }

    /// What is below a key, perhaps nothing yet.
    fn below(&mut self, key: V<'e>) -> Option<&mut DocumentBuilder<'e>> {
        let is_last = |pair: &(V<'e>, DocumentBuilder<'e>)| pair.0 == key;
        if !self.entries.get(self.last).is_some_and(is_last) {
            let next = self.entries.len();
            self.last = *self.places.entry(key).or_insert(next);
            if self.last == next {
                self.entries.push((key, DocumentBuilder::Empty));
            }
        }
        self.entries.get_mut(self.last).map(|(_, below)| below)
    }

    /// The pairs in the order of their keys.
    fn in_order(mut self) -> impl Iterator<Item = (V<'e>, DocumentBuilder<'e>)> {
        let places = std::mem::take(&mut self.places).into_iter();
        places.map(move |(key, at)| {
            let pair = self.entries.get_mut(at);
            (
                key,
                pair.map(|pair| std::mem::take(&mut pair.1))
                    .unwrap_or_default(),
            )
        })
    }
}

/// Two rules claim one place.
pub(crate) struct Clash;

impl<'e> DocumentBuilder<'e> {
    /// Puts a value, or a member of a set, at a path; whether it was not there yet.
    pub fn insert(
        &mut self,
        arena: &'e Arena,
        path: &[V<'e>],
        value: V<'e>,
        member: bool,
    ) -> Result<bool, Clash> {
        let place = self.place(path)?;
        match place {
            Self::Empty if member => {
                let mut set = SetBuilder::new(arena);
                set.insert(value);
                *place = Self::Set(set);
                Ok(true)
            }
            Self::Empty => {
                *place = Self::Value(value);
                Ok(true)
            }
            Self::Set(set) if member => Ok(set.insert(value)),
            Self::Value(old) if !member && *old == value => Ok(false),
            _ => Err(Clash),
        }
    }

    /// Whether something is at a path.
    pub fn is_taken(&self, path: &[V<'e>]) -> bool {
        match (self, path.split_first()) {
            (Self::Empty, _) => false,
            (Self::Object(pairs), Some((key, rest))) => {
                pairs.get(*key).is_some_and(|inner| inner.is_taken(rest))
            }
            _ => true,
        }
    }

    fn place(&mut self, path: &[V<'e>]) -> Result<&mut Self, Clash> {
        let mut place = self;
        for key in path {
            if let Self::Empty = place {
                *place = Self::Object(Pairs::default());
            }
            let Self::Object(pairs) = place else {
                return Err(Clash);
            };
            place = pairs.below(*key).ok_or(Clash)?;
        }
        Ok(place)
    }

    /// The document; `None` when nothing was put in.
    pub fn finish(self, arena: &'e Arena) -> Option<V<'e>> {
        match self {
            Self::Empty => None,
            Self::Value(value) => Some(value),
            Self::Set(set) => Some(set.finish()),
            Self::Object(pairs) => {
                let pairs = pairs
                    .in_order()
                    .filter_map(|(key, inner)| Some((key, inner.finish(arena)?)));
                Some(arena.object_from(pairs))
            }
        }
    }
}
