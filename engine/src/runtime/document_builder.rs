//! Builders of documents of partial rules.

use crate::bug::bug;
use crate::value::{Arena, KeyPositions, SetBuilder, ValueRef};

#[derive(Default)]
pub(crate) enum DocumentBuilder<'e> {
    #[default]
    Empty,
    Value(ValueRef<'e>),
    /// A set whose members are inserted one by one.
    Set(SetBuilder<'e>),
    /// An object whose keys are inserted one by one.
    Object(Box<ChildDocuments<'e>>),
}

pub(crate) struct ChildDocuments<'e> {
    keys: KeyPositions<'e>,
    children: Vec<DocumentBuilder<'e>>,
    /// Position of the last insertion: most often the next one has the same key.
    last: usize,
}

impl<'e> ChildDocuments<'e> {
    fn new(arena: &'e Arena) -> Self {
        Self {
            keys: KeyPositions::new(arena),
            children: Vec::new(),
            last: 0,
        }
    }

    fn get(&self, key: ValueRef<'e>) -> Option<&DocumentBuilder<'e>> {
        self.children.get(self.keys.find(key)?)
    }

    /// Returns the document below a key, which is empty if the key is new.
    fn child_mut(&mut self, key: ValueRef<'e>) -> Option<&mut DocumentBuilder<'e>> {
        if self.keys.key(self.last).is_none_or(|last| *last != key) {
            self.last = self.keys.find_or_insert(key);
            if self.last == self.children.len() {
                self.children.push(DocumentBuilder::Empty);
            }
        }
        self.children.get_mut(self.last)
    }

    fn finish(self, arena: &'e Arena) -> ValueRef<'e> {
        let mut values =
            bumpalo::collections::Vec::with_capacity_in(self.children.len(), arena.bump());
        for below in self.children {
            let value = below.finish(arena);
            values.push(value.unwrap_or_else(|| bug!("a key of a document with nothing below it")));
        }
        self.keys.finish(values)
    }
}

/// Two rules define the same document.
pub(crate) struct DocumentConflict;

impl<'e> DocumentBuilder<'e> {
    /// Inserts a value, or a member of a set, at a path. Returns `true` if it is new.
    ///
    /// # Errors
    /// Another value is at the path, above it or below it.
    pub fn insert(
        &mut self,
        arena: &'e Arena,
        path: &[ValueRef<'e>],
        value: ValueRef<'e>,
        member: bool,
    ) -> Result<bool, DocumentConflict> {
        let place = self.document_mut(arena, path)?;
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
            _ => Err(DocumentConflict),
        }
    }

    /// Returns `true` if there is a value at the path, above it or below it.
    pub fn is_occupied(&self, path: &[ValueRef<'e>]) -> bool {
        match (self, path.split_first()) {
            (Self::Empty, _) => false,
            (Self::Object(pairs), Some((key, rest))) => {
                pairs.get(*key).is_some_and(|inner| inner.is_occupied(rest))
            }
            _ => true,
        }
    }

    fn document_mut(
        &mut self,
        arena: &'e Arena,
        path: &[ValueRef<'e>],
    ) -> Result<&mut Self, DocumentConflict> {
        let mut place = self;
        for key in path {
            if let Self::Empty = place {
                *place = Self::Object(Box::new(ChildDocuments::new(arena)));
            }
            let Self::Object(pairs) = place else {
                return Err(DocumentConflict);
            };
            place = pairs.child_mut(*key).ok_or(DocumentConflict)?;
        }
        Ok(place)
    }

    /// Returns the document, or `None` if nothing was inserted.
    pub fn finish(self, arena: &'e Arena) -> Option<ValueRef<'e>> {
        match self {
            Self::Empty => None,
            Self::Value(value) => Some(value),
            Self::Set(set) => Some(set.finish()),
            Self::Object(pairs) => Some(pairs.finish(arena)),
        }
    }
}
