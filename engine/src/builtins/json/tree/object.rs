//! Open objects: what they had, and what operations changed or passed through.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Change, Opened, Tree, no_child};
use crate::bug::bug;
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, Fault};
use crate::index::Indexed as _;
use crate::value::order::same_key;
use crate::value::{Arena, Kind, ObjectBuilder, ValueRef};

/// What an object has under a key.
pub enum Slot<'e> {
    /// A value.
    Held(Tree<'e>),
    /// A value that was deleted, and what it was.
    Deleted(&'static str),
}

/// What differs from an object's own pairs, by key.
#[derive(Default)]
pub struct Slots<'e> {
    /// Most often operations pass through one key of an object.
    changed: SmallVec<[Changed<'e>; 1]>,
    /// Their places by key, when they are many.
    places: HashMap<ValueRef<'e>, usize, foldhash::fast::RandomState>,
}

/// A key, spelled as the first path that went through it or the last operation on it wrote it.
struct Changed<'e> {
    key: ValueRef<'e>,
    slot: Slot<'e>,
}

impl<'e> Changed<'e> {
    /// Adds what is there to an object that is being made.
    fn write(
        &self,
        call: &mut BuiltinContext<'e>,
        pairs: &mut ObjectBuilder<'e>,
    ) -> Result<(), Fault> {
        match &self.slot {
            Slot::Held(Tree::Value(value)) => pairs.append(self.key, *value),
            Slot::Held(tree) => pairs.append(self.key, tree.value(call)?),
            Slot::Deleted(_) => {}
        }
        Ok(())
    }
}

impl<'e> Slots<'e> {
    /// Changes up to which a scan beats a table.
    const SCANNED: usize = 16;

    #[inline]
    fn place(&self, key: ValueRef<'e>) -> Option<usize> {
        if self.changed.len() <= Self::SCANNED {
            let mut known = self.changed.iter();
            return known.position(|known| same_key(known.key, key));
        }
        self.places.get(&key).copied()
    }

    /// What is under a key, to be changed inside.
    pub fn open(&mut self, original: ValueRef<'e>, key: ValueRef<'e>) -> Option<&mut Slot<'e>> {
        let place = match self.place(key) {
            Some(place) => place,
            None => {
                let value = original.as_object()?.get(key)?;
                let slot = Slot::Held(Tree::Value(value));
                self.put(None, Changed { key, slot });
                self.changed.len() - 1
            }
        };
        self.changed.get_mut(place).map(|changed| &mut changed.slot)
    }

    /// Puts a change to the place of one with its key, if there is one.
    fn put(&mut self, place: Option<usize>, changed: Changed<'e>) {
        if let Some(at) = place {
            *self.changed.item_mut(at) = changed;
            return;
        }
        self.changed.push(changed);
        if self.changed.len() > Self::SCANNED {
            let keys = self.changed.iter().map(|changed| changed.key).enumerate();
            let known = self.places.len();
            self.places
                .extend(keys.skip(known).map(|(at, key)| (key, at)));
        }
    }
}

impl<'e> Opened<'e, Slots<'e>> {
    /// The object that it has become.
    pub(super) fn value(&self, call: &mut BuiltinContext<'e>) -> Result<ValueRef<'e>, Fault> {
        let changed = &self.parts.changed;
        let Some(object) = self.original.as_object() else {
            bug!("an object that is none");
        };
        let most = object.len() + changed.len();
        allot(call, most)?;
        if let Some(value) = self.of_same_shape(call)? {
            return Ok(value);
        }
        let mut pairs = ObjectBuilder::with_room(call.arena, most);
        let mut seen: SmallVec<[bool; Slots::SCANNED]> = SmallVec::from_elem(false, changed.len());
        for (key, value) in object.iter() {
            let Some(place) = self.parts.place(key) else {
                pairs.append(key, value);
                continue;
            };
            *seen.item_mut(place) = true;
            changed.item(place).write(call, &mut pairs)?;
        }
        for (changed, seen) in changed.iter().zip(seen) {
            if !seen {
                changed.write(call, &mut pairs)?;
            }
        }
        Ok(pairs.finish())
    }

    /// The object that it has become when it still has the keys that a stored one had.
    fn of_same_shape(&self, call: &mut BuiltinContext<'e>) -> Result<Option<ValueRef<'e>>, Fault> {
        let ValueRef::Object(object) = self.original else {
            return Ok(None);
        };
        let few = |(_, values): &(_, &[_])| values.len() <= Arena::SHAPED;
        let Some((shape, values)) = object.shaped().filter(few) else {
            return Ok(None);
        };
        let mut changed: SmallVec<[(usize, &Tree<'e>); 4]> = SmallVec::new();
        for Changed { key, slot } in &self.parts.changed {
            match (slot, shape.slot(*key)) {
                (Slot::Held(tree), Some(at)) if key.is_string() => changed.push((at, tree)),
                _ => return Ok(None),
            }
        }
        let values = call.arena.in_flight(values);
        for (at, tree) in changed {
            *values.item_mut(at) = tree.value(call)?;
        }
        Ok(Some(call.arena.object_of_shape(shape, values)))
    }

    /// Changes what is under a key.
    pub(super) fn change(&mut self, key: ValueRef<'e>, change: Change<'e>) -> Result<(), Fault> {
        let place = self.parts.place(key);
        let old = match place.and_then(|at| self.parts.changed.get(at)) {
            Some(changed) => match &changed.slot {
                Slot::Held(Tree::Value(value)) => Ok(value.kind()),
                Slot::Held(Tree::Object(_)) => Ok(Kind::Object),
                Slot::Held(Tree::Array(_)) => Ok(Kind::Array),
                Slot::Deleted(what) => Err(Some(*what)),
            },
            None => self.original.lookup(key).map(ValueRef::kind).ok_or(None),
        };
        let slot = match (change, old) {
            (Change::Insert(value), _) | (Change::Replace(value), Ok(_)) => {
                Slot::Held(Tree::Value(value))
            }
            (Change::Delete, Ok(kind)) if kind < Kind::Array => Slot::Deleted("scalar"),
            (Change::Delete, Ok(_)) => Slot::Deleted("composite"),
            (_, Err(Some(what))) => {
                return Err(Fault::error(format!(
                    "cannot delete the already deleted {what} node for key {key}"
                )));
            }
            (_, Err(None)) => return Err(no_child(key)),
        };
        self.parts.put(place, Changed { key, slot });
        Ok(())
    }
}
