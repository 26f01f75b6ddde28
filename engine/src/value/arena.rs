//! The arena of one evaluation and the compound values that live in it.
//!
//! Nothing in the arena is dropped: one reset frees a whole decision.

use std::cell::Cell;

use bumpalo::Bump;
use hashbrown::HashTable;

use super::number::NumberBuf;
use super::order::hash;
use super::text::{ArenaText, Short, TextView};
use super::{Kind, Object, Set, V, Value, search};

/// Memory of one evaluation.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
}

/// Members up to which a scan beats a hash table.
const SCAN: usize = 8;

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// The memory itself.
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// Frees everything at once, keeping memory for the next evaluation.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// A string.
    #[inline]
    pub fn text(&self, text: &str) -> V<'_> {
        match Short::new(text.as_bytes()) {
            Some(short) => V::Short(short),
            None => self.borrowed_text(self.bump.alloc_str(text)),
        }
    }

    /// A string that already lives long enough.
    #[inline]
    pub fn borrowed_text<'e>(&'e self, text: &'e str) -> V<'e> {
        match Short::new(text.as_bytes()) {
            Some(short) => V::Short(short),
            None => V::NewText(self.bump.alloc(ArenaText::Utf8(text))),
        }
    }

    /// A string of bytes.
    pub fn bytes_text(&self, bytes: &[u8]) -> V<'_> {
        match (Short::new(bytes), std::str::from_utf8(bytes)) {
            (Some(short), _) => V::Short(short),
            (None, Ok(text)) => self.text(text),
            (None, Err(_)) => V::NewText(
                self.bump
                    .alloc(ArenaText::Bytes(self.bump.alloc_slice_copy(bytes))),
            ),
        }
    }

    /// A string of bytes that already live long enough.
    pub fn borrowed_bytes<'e>(&'e self, bytes: &'e [u8]) -> V<'e> {
        match (Short::new(bytes), std::str::from_utf8(bytes)) {
            (Some(short), _) => V::Short(short),
            (None, Ok(text)) => V::NewText(self.bump.alloc(ArenaText::Utf8(text))),
            (None, Err(_)) => V::NewText(self.bump.alloc(ArenaText::Bytes(bytes))),
        }
    }

    /// A number.
    #[inline]
    pub fn number(&self, number: NumberBuf) -> V<'_> {
        match number {
            NumberBuf::Int(i) => V::Int(i),
            NumberBuf::Decimal(scale, coefficient) => V::Decimal(scale, coefficient),
            NumberBuf::Text(text) => {
                V::NewNumber(self.bump.alloc(self.bump.alloc_str(&text) as &str))
            }
        }
    }

    /// An array with a copy of the elements.
    pub fn array<'e>(&'e self, items: &[V<'e>]) -> V<'e> {
        self.array_of(self.bump.alloc_slice_copy(items))
    }

    /// An array of elements that already live in the arena.
    pub fn array_of<'e>(&'e self, items: &'e [V<'e>]) -> V<'e> {
        V::NewArray(self.bump.alloc(items))
    }

    /// An array from an iterator.
    pub fn array_from<'e>(&'e self, items: impl IntoIterator<Item = V<'e>>) -> V<'e> {
        let mut list = self.list();
        list.extend(items);
        self.array_of(list.into_bump_slice())
    }

    /// A growing list in the arena.
    pub fn list<'e>(&'e self) -> bumpalo::collections::Vec<'e, V<'e>> {
        bumpalo::collections::Vec::new_in(&self.bump)
    }

    /// A set from an iterator; of equal members the first is kept.
    pub fn set_from<'e>(&'e self, items: impl IntoIterator<Item = V<'e>>) -> V<'e> {
        let mut set = SetBuilder::new(self);
        for item in items {
            set.insert(item);
        }
        set.finish()
    }

    /// An object from an iterator; of equal keys the last pair wins.
    pub fn object_from<'e>(&'e self, pairs: impl IntoIterator<Item = (V<'e>, V<'e>)>) -> V<'e> {
        let mut object = ObjectBuilder::new(self);
        for (key, value) in pairs {
            object.set(key, value);
        }
        object.finish()
    }

    /// An object with copies of the keys and values; of equal keys the last pair wins.
    pub fn object_of<'e>(&'e self, keys: &[V<'e>], values: &[V<'e>]) -> V<'e> {
        let mut seen = keys;
        let distinct = |seen: &mut &[V<'e>]| match seen.split_last() {
            Some((last, rest)) => {
                *seen = rest;
                !rest.contains(last)
            }
            None => true,
        };
        if keys.len() > SCAN || !(0..keys.len()).all(|_| distinct(&mut seen)) {
            return self.object_from(keys.iter().copied().zip(values.iter().copied()));
        }
        V::NewObject(self.bump.alloc(ArenaObject {
            keys: self.bump.alloc_slice_copy(keys),
            values: self.bump.alloc_slice_copy(values),
            table: None,
            order: Order::new(self, keys.len()),
        }))
    }

    /// A copy of an owned value that does not outlive the call otherwise.
    pub fn copy_of(&self, value: &Value) -> V<'_> {
        match value {
            Value::Null => V::Null,
            Value::Bool(b) => V::Bool(*b),
            Value::Int(i) => V::Int(*i),
            Value::Decimal(scale, coefficient) => V::Decimal(*scale, *coefficient),
            Value::Number(text) => {
                V::NewNumber(self.bump.alloc(self.bump.alloc_str(&text.0) as &str))
            }
            Value::Short(short) => V::Short(*short),
            Value::Text(text) => self.bytes_text(text.as_bytes()),
            Value::Array(items) => self.copy_of_array(items),
            Value::Object(object) => self.copy_of_object(object),
            Value::Set(set) => self.copy_of_set(set),
        }
    }

    #[inline(never)]
    fn copy_of_array(&self, items: &[Value]) -> V<'_> {
        let mut list = self.list();
        for item in items {
            list.push(self.copy_of(item));
        }
        self.array_of(list.into_bump_slice())
    }

    #[inline(never)]
    fn copy_of_object(&self, object: &Object) -> V<'_> {
        let mut copy = ObjectBuilder::new(self);
        for (key, value) in object.iter() {
            copy.set(self.copy_of(key), self.copy_of(value));
        }
        copy.finish()
    }

    #[inline(never)]
    fn copy_of_set(&self, set: &Set) -> V<'_> {
        let mut copy = SetBuilder::new(self);
        for item in set.items() {
            copy.insert(self.copy_of(item));
        }
        copy.finish()
    }
}

/// The order of members or keys, found when first asked for. It holds positions in slots that were set aside
/// at the start, since a late pointer into the arena would tie the lifetimes of all values together.
struct Order<'e> {
    slots: &'e [Cell<u32>],
    state: Cell<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    AsInserted,
    BySlots,
}

impl<'e> Order<'e> {
    fn new(arena: &'e Arena, len: usize) -> Self {
        Self {
            slots: arena.bump.alloc_slice_fill_with(len, |_| Cell::new(0)),
            state: Cell::new(State::Unknown),
        }
    }

    /// The positions in order; `None` when the order of insertion already is the order.
    fn of(&self, keys: &[V<'e>]) -> Option<&'e [Cell<u32>]> {
        if self.state.get() == State::Unknown {
            self.state.set(if keys.is_sorted() {
                State::AsInserted
            } else {
                self.sort(keys)
            });
        }
        (self.state.get() == State::BySlots).then_some(self.slots)
    }

    fn sort(&self, keys: &[V<'e>]) -> State {
        let mut order: Vec<(V<'e>, u32)> = keys.iter().copied().zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (slot, (_, at)) in self.slots.iter().zip(order) {
            slot.set(at);
        }
        State::BySlots
    }
}

/// A set in the arena: distinct members, ordered when first asked for.
pub struct ArenaSet<'e> {
    items: &'e [V<'e>],
    table: Option<HashTable<u32, &'e Bump>>,
    order: Order<'e>,
}

impl<'e> ArenaSet<'e> {
    /// Number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The members in the order of insertion.
    pub fn items(&self) -> &'e [V<'e>] {
        self.items
    }

    /// The members in order.
    pub fn iter(&self) -> ArenaMembers<'e> {
        ArenaMembers {
            items: self.items,
            order: self.order.of(self.items),
            at: 0,
        }
    }

    /// Whether an equal member is in it.
    #[inline]
    pub fn contains(&self, member: V<'_>) -> bool {
        match &self.table {
            Some(table) => find(table, self.items, member).is_some(),
            None => search::position_in_flight(self.items, member).is_some(),
        }
    }
}

/// The members of a set in the arena, in order.
#[derive(Clone)]
pub struct ArenaMembers<'e> {
    items: &'e [V<'e>],
    order: Option<&'e [Cell<u32>]>,
    at: usize,
}

impl<'e> Iterator for ArenaMembers<'e> {
    type Item = V<'e>;

    #[inline]
    fn next(&mut self) -> Option<V<'e>> {
        let at = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        self.items.get(at).copied()
    }
}

#[inline]
fn find(table: &HashTable<u32, &Bump>, items: &[V<'_>], member: V<'_>) -> Option<usize> {
    let same = |at: &u32| items.get(*at as usize).is_some_and(|item| *item == member);
    table.find(hash(member), same).map(|at| *at as usize)
}

/// A set being built.
pub struct SetBuilder<'e> {
    arena: &'e Arena,
    items: bumpalo::collections::Vec<'e, V<'e>>,
    table: Option<HashTable<u32, &'e Bump>>,
}

impl<'e> SetBuilder<'e> {
    /// An empty set.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            items: arena.list(),
            table: None,
        }
    }

    /// Adds a member; `false` when an equal one is there.
    #[inline]
    pub fn insert(&mut self, member: V<'e>) -> bool {
        if insert_key(&mut self.items, &mut self.table, self.arena, member).is_err() {
            return false;
        }
        true
    }

    /// Number of members so far.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no members yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The set.
    pub fn finish(self) -> V<'e> {
        let items = self.items.into_bump_slice();
        let order = Order::new(self.arena, items.len());
        V::NewSet(self.arena.bump.alloc(ArenaSet {
            items,
            table: self.table,
            order,
        }))
    }
}

/// Appends a key unless an equal one is there, whose position is the error.
#[inline]
fn insert_key<'e>(
    keys: &mut bumpalo::collections::Vec<'e, V<'e>>,
    table: &mut Option<HashTable<u32, &'e Bump>>,
    arena: &'e Arena,
    key: V<'e>,
) -> Result<(), usize> {
    let rehash = |at: &u32, keys: &[V<'e>]| keys.get(*at as usize).map_or(0, |k| hash(*k));
    match table {
        Some(table) => {
            let code = hash(key);
            let same = |at: &u32| keys.get(*at as usize).is_some_and(|k| *k == key);
            if let Some(at) = table.find(code, same) {
                return Err(*at as usize);
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an arena holds fewer than 2^32 values of 16 bytes"
            )]
            let at = keys.len() as u32;
            keys.push(key);
            table.insert_unique(code, at, |at| rehash(at, keys));
        }
        None => {
            if let Some(at) = search::position_in_flight(keys, key) {
                return Err(at);
            }
            keys.push(key);
            if keys.len() > SCAN {
                let mut new = HashTable::with_capacity_in(4 * SCAN, &arena.bump);
                for (at, key) in (0_u32..).zip(keys.iter()) {
                    new.insert_unique(hash(*key), at, |at| rehash(at, keys));
                }
                *table = Some(new);
            }
        }
    }
    Ok(())
}

/// An object in the arena: distinct keys, ordered when first asked for.
pub struct ArenaObject<'e> {
    keys: &'e [V<'e>],
    values: &'e [V<'e>],
    table: Option<HashTable<u32, &'e Bump>>,
    order: Order<'e>,
}

impl<'e> ArenaObject<'e> {
    /// Number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: V<'_>) -> Option<V<'e>> {
        let at = match &self.table {
            Some(table) => find(table, self.keys, key)?,
            None => search::position_in_flight(&self.keys, key)?,
        };
        self.values.get(at).copied()
    }

    /// The keys in the order of insertion.
    pub fn keys(&self) -> &'e [V<'e>] {
        self.keys
    }

    /// The values in the order of insertion of their keys.
    pub fn values(&self) -> &'e [V<'e>] {
        self.values
    }

    /// The pairs in key order.
    pub fn iter(&self) -> ArenaPairs<'e> {
        let order = self.order.of(self.keys);
        ArenaPairs {
            keys: self.keys,
            values: self.values,
            order,
            at: 0,
        }
    }
}

/// The pairs of an object in the arena, in key order.
#[derive(Clone)]
pub struct ArenaPairs<'e> {
    keys: &'e [V<'e>],
    values: &'e [V<'e>],
    order: Option<&'e [Cell<u32>]>,
    at: usize,
}

impl<'e> Iterator for ArenaPairs<'e> {
    type Item = (V<'e>, V<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        Some((*self.keys.get(at)?, *self.values.get(at)?))
    }
}

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The key is new.
    New,
    /// The key was there with an equal value.
    Same,
    /// The key was there with another value, which stays.
    Conflict,
}

/// An object being built.
pub struct ObjectBuilder<'e> {
    arena: &'e Arena,
    keys: bumpalo::collections::Vec<'e, V<'e>>,
    values: bumpalo::collections::Vec<'e, V<'e>>,
    table: Option<HashTable<u32, &'e Bump>>,
}

impl<'e> ObjectBuilder<'e> {
    /// An empty object.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            keys: arena.list(),
            values: arena.list(),
            table: None,
        }
    }

    /// Adds a pair unless the key is there.
    #[inline]
    pub fn put(&mut self, key: V<'e>, value: V<'e>) -> Put {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => {
                self.values.push(value);
                Put::New
            }
            Err(at) if self.values.get(at).is_some_and(|old| *old == value) => Put::Same,
            Err(_) => Put::Conflict,
        }
    }

    /// Sets the value under a key; the first of equal keys stays.
    #[inline]
    pub fn set(&mut self, key: V<'e>, value: V<'e>) {
        match insert_key(&mut self.keys, &mut self.table, self.arena, key) {
            Ok(()) => self.values.push(value),
            Err(at) => {
                if let Some(old) = self.values.get_mut(at) {
                    *old = value;
                }
            }
        }
    }

    /// The value under a key so far.
    pub fn get(&self, key: V<'_>) -> Option<V<'e>> {
        let at = match &self.table {
            Some(table) => find(table, &self.keys, key)?,
            None => search::position_in_flight(&self.keys, key)?,
        };
        self.values.get(at).copied()
    }

    /// Number of keys so far.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has no keys yet.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The object.
    pub fn finish(self) -> V<'e> {
        V::NewObject(self.arena.bump.alloc(ArenaObject {
            order: Order::new(self.arena, self.keys.len()),
            keys: self.keys.into_bump_slice(),
            values: self.values.into_bump_slice(),
            table: self.table,
        }))
    }
}

impl V<'_> {
    /// The kind and, for strings, the bytes: what a built-in wants to match on.
    pub fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    /// The bytes of a string; empty for other values.
    pub fn text_or_empty(&self) -> TextView<'_> {
        self.as_text().unwrap_or(TextView::Utf8(""))
    }
}
