//! Opened objects: the original, and the pairs that operations changed or passed through.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Opened, PatchTree, TreeChange, no_child};
use crate::bug::bug;
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::index::Indexed as _;
use crate::value::order::same_key;
use crate::value::{Arena, Kind, ObjectBuilder, RefRepr, ValueRef};

pub enum PairState<'e> {
    Present(PatchTree<'e>),
    Deleted(&'static str),
}

#[derive(Default)]
pub struct PairChanges<'e> {
    /// Usually operations pass through one key of an object.
    changed: SmallVec<[Changed<'e>; 1]>,
    /// Indexes in `changed` by key, if there are many.
    index_by_key: HashMap<ValueRef<'e>, usize, foldhash::fast::RandomState>,
}

/// A key, with the spelling of the last operation on it, or of the first path through it.
struct Changed<'e> {
    key: ValueRef<'e>,
    state: PairState<'e>,
}

impl<'e> Changed<'e> {
    /// Adds the pair to the object under construction.
    fn write(
        &self,
        call: &mut BuiltinContext<'e>,
        pairs: &mut ObjectBuilder<'e>,
    ) -> Result<(), BuiltinError> {
        match &self.state {
            PairState::Present(PatchTree::Value(value)) => pairs.append(self.key, *value),
            PairState::Present(tree) => pairs.append(self.key, tree.value(call)?),
            PairState::Deleted(_) => {}
        }
        Ok(())
    }
}

impl<'e> PairChanges<'e> {
    /// Number of changes up to which a scan is faster than a table.
    const SCANNED: usize = 16;

    #[inline]
    fn index_of_key(&self, key: ValueRef<'e>) -> Option<usize> {
        if self.changed.len() <= Self::SCANNED {
            let mut changes = self.changed.iter();
            return changes.position(|change| same_key(change.key, key));
        }
        self.index_by_key.get(&key).copied()
    }

    /// Opens the value under a key to change it inside. Returns `None` if the key does not exist.
    pub fn open(
        &mut self,
        original: ValueRef<'e>,
        key: ValueRef<'e>,
    ) -> Option<&mut PairState<'e>> {
        let index = match self.index_of_key(key) {
            Some(index) => index,
            None => {
                let value = original.as_object()?.get(key)?;
                let slot = PairState::Present(PatchTree::Value(value));
                self.put(None, Changed { key, state: slot });
                self.changed.len() - 1
            }
        };
        self.changed.get_mut(index).map(|change| &mut change.state)
    }

    /// Stores a change. Replaces an earlier change of the same key.
    fn put(&mut self, index: Option<usize>, change: Changed<'e>) {
        if let Some(index) = index {
            *self.changed.item_mut(index) = change;
            return;
        }
        self.changed.push(change);
        if self.changed.len() > Self::SCANNED {
            let keys = self.changed.iter().map(|change| change.key).enumerate();
            let indexed = self.index_by_key.len();
            self.index_by_key
                .extend(keys.skip(indexed).map(|(index, key)| (key, index)));
        }
    }
}

impl<'e> Opened<'e, PairChanges<'e>> {
    /// Builds the current object from the original and its changed pairs.
    pub(super) fn value(
        &self,
        call: &mut BuiltinContext<'e>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let changes = &self.nodes.changed;
        let Some(object) = self.original.as_object() else {
            bug!("an object that is none");
        };
        let capacity = object.len() + changes.len();
        allot(call, capacity)?;
        if let Some(value) = self.of_same_shape(call)? {
            return Ok(value);
        }
        let mut pairs = ObjectBuilder::with_room(call.arena, capacity);
        let mut is_written: SmallVec<[bool; PairChanges::SCANNED]> =
            SmallVec::from_elem(false, changes.len());
        for (key, value) in object.iter() {
            let Some(index) = self.nodes.index_of_key(key) else {
                pairs.append(key, value);
                continue;
            };
            *is_written.item_mut(index) = true;
            changes.item(index).write(call, &mut pairs)?;
        }
        for (change, is_written) in changes.iter().zip(is_written) {
            if !is_written {
                change.write(call, &mut pairs)?;
            }
        }
        Ok(pairs.finish())
    }

    /// Returns the current object if it has the same keys as the stored original.
    fn of_same_shape(
        &self,
        call: &mut BuiltinContext<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError> {
        let ValueRef(RefRepr::Object(object)) = self.original else {
            return Ok(None);
        };
        let is_small = |(_, values): &(_, &[_])| values.len() <= Arena::SHAPED;
        let Some((shape, values)) = object.shaped().filter(is_small) else {
            return Ok(None);
        };
        let mut changed_slots: SmallVec<[(usize, &PatchTree<'e>); 4]> = SmallVec::new();
        for Changed { key, state: slot } in &self.nodes.changed {
            match (slot, shape.slot(*key)) {
                (PairState::Present(tree), Some(slot_index)) if key.is_string() => {
                    changed_slots.push((slot_index, tree));
                }
                _ => return Ok(None),
            }
        }
        let values = call.arena.in_flight(values);
        for (slot_index, tree) in changed_slots {
            *values.item_mut(slot_index) = tree.value(call)?;
        }
        Ok(Some(call.arena.object_of_shape(shape, values)))
    }

    pub(super) fn change(
        &mut self,
        key: ValueRef<'e>,
        change: TreeChange<'e>,
    ) -> Result<(), BuiltinError> {
        let index = self.nodes.index_of_key(key);
        let old = match index.and_then(|index| self.nodes.changed.get(index)) {
            Some(change) => match &change.state {
                PairState::Present(PatchTree::Value(value)) => Ok(value.kind()),
                PairState::Present(PatchTree::Object(_)) => Ok(Kind::Object),
                PairState::Present(PatchTree::Array(_)) => Ok(Kind::Array),
                PairState::Deleted(kind) => Err(Some(*kind)),
            },
            None => self.original.lookup(key).map(ValueRef::kind).ok_or(None),
        };
        let slot = match (change, old) {
            (TreeChange::Insert(value), _) | (TreeChange::Replace(value), Ok(_)) => {
                PairState::Present(PatchTree::Value(value))
            }
            (TreeChange::Delete, Ok(kind)) if kind < Kind::Array => PairState::Deleted("scalar"),
            (TreeChange::Delete, Ok(_)) => PairState::Deleted("composite"),
            (_, Err(Some(kind))) => {
                return Err(BuiltinError::error(format!(
                    "cannot delete the already deleted {kind} node for key {key}",
                    key = key.rego_text()
                )));
            }
            (_, Err(None)) => return Err(no_child(key)),
        };
        self.nodes.put(index, Changed { key, state: slot });
        Ok(())
    }
}
