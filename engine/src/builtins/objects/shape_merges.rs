//! Operations on objects by their shape. The result's keys are computed once per evaluation for a shape, then filled
//! with values without comparing keys.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::bug::bug;
use crate::builtins::arrays::allot;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::index::Indexed as _;
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::{ObjectView, ObjectViewRepr, RefRepr, SetView, SetViewRepr, Value, ValueRef};

/// Maximum number of keys of a cached shape.
const MOST: usize = 64;

/// Number of cached entries, a power of two.
const CAPACITY: usize = 64;

/// Number of slots that are probed for an entry.
const ALIKE: usize = 4;

/// Identity of an object's shape: the address of its keys. Objects with the same address have the same keys.
///
/// Invariant: key arrays stay allocated during the evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShapeId {
    address: usize,
    len: usize,
}

/// Result shape of an operation on objects of one shape, where the other operand is a shape, too, or a constant change.
pub struct MergeTemplate<'e> {
    left: ShapeId,
    right: ShapeId,
    /// Keys, sorted.
    pub keys: &'e [ValueRef<'e>],
    pub sources: &'e [MergeSource],
}

impl MergeTemplate<'_> {
    #[inline]
    fn is_of(&self, left: ShapeId, right: ShapeId) -> bool {
        self.left == left && self.right == right
    }
}

#[derive(Clone, Copy)]
pub enum MergeSource {
    Left(u8),
    Right(u8),
    Both(u8, u8),
}

/// Cached templates for pairs of shapes. An entry is created when a pair occurs for the second time.
pub struct ShapeMerges<'e> {
    /// Hashes of pairs that occurred once.
    hashes_of_pairs: [u32; CAPACITY],
    templates: Option<&'e mut [Option<&'e MergeTemplate<'e>>]>,
}

impl Default for ShapeMerges<'_> {
    fn default() -> Self {
        Self {
            hashes_of_pairs: [0; CAPACITY],
            templates: None,
        }
    }
}

const TOO_FEW: &str = "a form has more keys than its object has values";

/// Values of an object, in the order of its keys.
#[derive(Clone, Copy)]
pub enum MergedValues<'e> {
    Stored(&'e [Value]),
    Arena(&'e [ValueRef<'e>]),
}

impl<'e> MergedValues<'e> {
    /// Returns the value at an index. Invariant: the object has a value for each key of its shape.
    #[inline]
    pub fn get(self, slot: u8) -> ValueRef<'e> {
        match self {
            Self::Stored(values) => values.get(usize::from(slot)).map(Value::borrow),
            Self::Arena(values) => values.get(usize::from(slot)).copied(),
        }
        .unwrap_or_else(|| bug!(TOO_FEW))
    }

    /// Writes the value at an index.
    #[inline]
    pub fn put(self, slot: u8, target: &mut ValueRef<'e>) {
        match self {
            Self::Stored(values) => match values.get(usize::from(slot)) {
                Some(value) => *target = value.borrow(),
                None => bug!(TOO_FEW),
            },
            Self::Arena(values) => match values.get(usize::from(slot)) {
                Some(value) => *target = *value,
                None => bug!(TOO_FEW),
            },
        }
    }
}

/// Returns the values of an object with a shape.
#[inline]
pub fn values(object: ObjectView<'_>) -> MergedValues<'_> {
    match object {
        ObjectView(ObjectViewRepr::Stored(object)) => {
            let shaped = object.shaped();
            MergedValues::Stored(
                shaped.map_or_else(|| bug!("an object without a form"), |(_, values)| values),
            )
        }
        ObjectView(ObjectViewRepr::Arena(object)) => MergedValues::Arena(object.values()),
    }
}

/// Returns the shape of an object, unless it is too large.
#[inline]
pub fn shape_id(object: ObjectView<'_>) -> Option<ShapeId> {
    let (address, len) = match object {
        ObjectView(ObjectViewRepr::Stored(object)) => {
            let (shape, values) = object.shaped()?;
            (Arc::as_ptr(shape).addr(), values.len())
        }
        ObjectView(ObjectViewRepr::Arena(object)) => {
            (object.keys().as_ptr().addr(), object.keys().len())
        }
    };
    // an empty object has no address of keys; large objects report length 0 here, too
    (1..=MOST)
        .contains(&len)
        .then_some(ShapeId { address, len })
}

impl ShapeId {
    /// Returns an id for constant changes. Invariant: they stay at their address during the evaluation.
    pub fn of_changes<T>(changes: &T) -> Self {
        Self {
            address: std::ptr::from_ref(changes).addr(),
            len: 0,
        }
    }

    /// Returns an id for keeping or removing the keys in a stored collection.
    fn of_keys(keys: ValueRef<'_>, keeps_keys: bool) -> Option<Self> {
        let address = match (keys.as_array(), keys.as_set(), keys.as_object()) {
            (Some(ArrayView(ArrayViewRepr::Stored(items))), _, _) if !items.is_empty() => {
                items.as_ptr().addr()
            }
            (_, Some(SetView(SetViewRepr::Stored(set))), _) => std::ptr::from_ref(set).addr(),
            (_, _, Some(ObjectView(ObjectViewRepr::Stored(object)))) => object.address(),
            _ => return None,
        };
        // addresses are even, so both ids differ from those of changes and from each other
        let address = address.checked_mul(2)? | 1;
        let len = usize::from(keeps_keys);
        Some(Self { address, len })
    }

    /// Id of the operation that selects only the keys.
    const KEYS: Self = Self { address: 1, len: 0 };

    #[inline]
    fn hash_with(self, other: Self) -> u64 {
        let addresses = (self.address as u64).rotate_left(32) ^ other.address as u64;
        addresses.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Merges two objects by their shapes. Returns `None` if the pair of shapes occurs for the first time, if they are too
/// large, or if not all keys are strings.
#[inline]
pub fn merged<'e>(
    call: &mut BuiltinContext<'e>,
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Option<&'e MergeTemplate<'e>> {
    let forms = (shape_id(left)?, shape_id(right)?);
    if !record_pair(&mut call.caches().merged.hashes_of_pairs, forms.0, forms.1) {
        return None;
    }
    recall(call, forms.0, forms.1, |_| pair(left, right))
}

/// Returns the object with only the keys, or without the keys, that an array, a set or the keys of an object contain.
/// Returns `None` in the same cases as [`merged`].
#[inline]
pub fn selected<'e>(
    call: &mut BuiltinContext<'e>,
    object: ObjectView<'e>,
    keys: ValueRef<'e>,
    keeps_keys: bool,
) -> Result<Option<ValueRef<'e>>, BuiltinError> {
    let Some(forms) = shape_id(object).zip(ShapeId::of_keys(keys, keeps_keys)) else {
        return Ok(None);
    };
    if !record_pair(&mut call.caches().merged.hashes_of_pairs, forms.0, forms.1) {
        return Ok(None);
    }
    let Some(template) = recall(call, forms.0, forms.1, |_| {
        selection(object, keys, keeps_keys)
    }) else {
        return Ok(None);
    };
    let values = values(object);
    fill(call, template, |_, source, target| {
        if let MergeSource::Left(slot) = source {
            values.put(slot, target);
            return Ok(true);
        }
        Ok(false)
    })
}

/// Returns the selected keys of an object with the sources of their values.
#[cold]
fn selection<'e>(
    object: ObjectView<'e>,
    key_collection: ValueRef<'e>,
    keeps_keys: bool,
) -> Option<Vec<(ValueRef<'e>, MergeSource)>> {
    let is_among = |key: ValueRef<'_>| match key_collection.as_array() {
        Some(array) => array.iter().any(|other| other == key),
        None => key_collection.lookup(key).is_some(),
    };
    let selected = keys(object)?.into_iter();
    let selected = selected.filter(|(key, _)| is_among(*key) == keeps_keys);
    Some(
        selected
            .map(|(key, slot)| (key, MergeSource::Left(slot)))
            .collect(),
    )
}

/// Returns the sorted keys of an object if its shape occurred before, and records the shape. `None` for an empty object, for more than
/// 64 keys, and for keys that are not strings.
#[inline]
pub fn cached_keys<'e>(
    call: &mut BuiltinContext<'e>,
    object: ObjectView<'e>,
) -> Option<&'e [ValueRef<'e>]> {
    let shape = shape_id(object)?;
    if !record_pair(
        &mut call.caches().merged.hashes_of_pairs,
        shape,
        ShapeId::KEYS,
    ) {
        return None;
    }
    let all = |_: &mut BuiltinContext<'e>| {
        let keys = keys(object)?.into_iter();
        Some(
            keys.map(|(key, slot)| (key, MergeSource::Left(slot)))
                .collect(),
        )
    };
    Some(recall(call, shape, ShapeId::KEYS, all)?.keys)
}

/// Returns `true` if a pair of shapes occurred before. Records the pair.
#[inline]
fn record_pair(marks_of_pairs: &mut [u32; CAPACITY], left: ShapeId, right: ShapeId) -> bool {
    let hash = left.hash_with(right);
    let mark_of_pair = u32::try_from(hash >> 16 & 0xffff_ffff).unwrap_or_default() | 1;
    for slot_index in probe_slots(hash) {
        match marks_of_pairs.get_mut(slot_index) {
            Some(stored_mark) if *stored_mark == mark_of_pair => return true,
            Some(free) if *free == 0 => {
                *free = mark_of_pair;
                return false;
            }
            _ => {}
        }
    }
    if let Some(slot_index) = probe_slots(hash).next() {
        *marks_of_pairs.item_mut(slot_index) = mark_of_pair;
    }
    false
}

/// Returns the slots to probe for a hash. The first free slot is used for a new entry.
#[inline]
fn probe_slots(hash: u64) -> impl Iterator<Item = usize> {
    let first = usize::try_from(hash >> 58).unwrap_or_default();
    (first..first + ALIKE).map(|slot_index| slot_index % CAPACITY)
}

/// Returns the template for two shapes, computed if it is not cached.
#[inline]
pub fn recall<'e>(
    call: &mut BuiltinContext<'e>,
    left: ShapeId,
    right: ShapeId,
    make: impl FnOnce(&mut BuiltinContext<'e>) -> Option<Vec<(ValueRef<'e>, MergeSource)>>,
) -> Option<&'e MergeTemplate<'e>> {
    let arena = call.arena;
    let hash = left.hash_with(right);
    if let Some(templates) = &call.caches().merged.templates {
        for slot_index in probe_slots(hash) {
            match templates.get(slot_index).copied().flatten() {
                Some(template) if template.is_of(left, right) => return Some(template),
                Some(_) => {}
                None => break,
            }
        }
    }
    let parts = make(call)?;
    let template = &*arena.bump().alloc(MergeTemplate {
        left,
        right,
        keys: arena
            .bump()
            .alloc_slice_fill_iter(parts.iter().map(|(key, _)| *key)),
        sources: arena
            .bump()
            .alloc_slice_fill_iter(parts.iter().map(|(_, source)| *source)),
    });
    let templates = call.caches().merged.templates.get_or_insert_with(|| {
        let none: Option<&'e MergeTemplate<'e>> = None;
        arena.bump().alloc_slice_fill_copy(CAPACITY, none)
    });
    let mut all = probe_slots(hash);
    let is_free = |slot_index: &usize| templates.get(*slot_index).is_some_and(Option::is_none);
    let slot_index = all.find(is_free).or_else(|| probe_slots(hash).next());
    if let Some(slot_index) = slot_index {
        *templates.item_mut(slot_index) = Some(template);
    }
    Some(template)
}

/// Returns an object with the keys of a template and the values of its sources. Constructs each value in place. Returns
/// `None` if a source has no value.
#[inline]
pub fn fill<'e>(
    call: &mut BuiltinContext<'e>,
    template: &'e MergeTemplate<'e>,
    mut value: impl FnMut(
        &mut BuiltinContext<'e>,
        MergeSource,
        &mut ValueRef<'e>,
    ) -> Result<bool, BuiltinError>,
) -> Result<Option<ValueRef<'e>>, BuiltinError> {
    let sources = template.sources;
    allot(call, sources.len())?;
    let room = call.arena.bump();
    let values = room.alloc_slice_fill_copy(sources.len(), ValueRef(RefRepr::Null));
    for (source, target) in sources.iter().zip(values.iter_mut()) {
        if !value(call, *source, target)? {
            return Ok(None);
        }
    }
    Ok(Some(call.arena.object_of_plain_keys(template.keys, values)))
}

/// Returns the sorted keys of an object with the indexes of their values, or `None` if not all are strings.
pub fn keys(object: ObjectView<'_>) -> Option<Vec<(ValueRef<'_>, u8)>> {
    let mut keys: Vec<_> = match object {
        ObjectView(ObjectViewRepr::Stored(_)) => {
            object.iter().map(|(key, _)| key).zip(0..).collect()
        }
        ObjectView(ObjectViewRepr::Arena(object)) => {
            object.keys().iter().copied().zip(0..).collect()
        }
    };
    keys.sort();
    let are_strings = keys.iter().all(|(key, _)| key.is_string());
    are_strings.then_some(keys)
}

/// Returns the keys of two objects with the sources of their values.
#[cold]
fn pair<'e>(
    left: ObjectView<'e>,
    right: ObjectView<'e>,
) -> Option<Vec<(ValueRef<'e>, MergeSource)>> {
    Some(together(keys(left)?, keys(right)?))
}

/// Merges the sorted keys of two objects.
pub fn together<'e>(
    left: Vec<(ValueRef<'e>, u8)>,
    right: Vec<(ValueRef<'e>, u8)>,
) -> Vec<(ValueRef<'e>, MergeSource)> {
    let mut parts = Vec::with_capacity(left.len() + right.len());
    let (mut lefts, mut rights) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        let order = match (lefts.peek(), rights.peek()) {
            (None, None) => return parts,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((left, _)), Some((right, _))) => left.cmp(right),
        };
        let left = lefts.next_if(|_| order.is_le());
        let right = rights.next_if(|_| order.is_ge());
        parts.push(match (left, right) {
            (Some((key, left)), Some((_, right))) => (key, MergeSource::Both(left, right)),
            (Some((key, left)), None) => (key, MergeSource::Left(left)),
            (None, Some((key, right))) => (key, MergeSource::Right(right)),
            (None, None) => return parts,
        });
    }
}
