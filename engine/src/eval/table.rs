//! Hash tables of join elements.
//!
//! A table compares hashes only: the caller must compare the values.

use std::ptr;

use bumpalo::Bump;
use hashbrown::HashMap;

use crate::limits;
use crate::program::Operand;
use crate::value::{Arena, Kind, RefRepr, Value, ValueRef, order};

use super::frame::Register;

/// Join states of the collections that loops search repeatedly.
pub(super) struct Joins<'e> {
    bump: &'e Bump,
    notes: HashMap<ElementPath<'e>, JoinState<'e>, foldhash::fast::FixedState, &'e Bump>,
    /// Bytes that tables may still use.
    left: usize,
}

/// An element path of a collection, which identifies a join.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ElementPath<'e> {
    /// Address of the collection, which does not change during the evaluation.
    collection: usize,
    /// `true` if the path starts at the key of an element, not at its value.
    pub by_key: bool,
    /// Path from there, which may contain slots.
    pub path: &'e [Operand],
    /// `true` if the path has keys of base documents.
    pub is_base: bool,
}

#[derive(Clone, Copy)]
pub(super) enum JoinState<'e> {
    /// Cost of scans so far, in comparisons.
    Cost(usize),
    Table(&'e HashTable<'e>),
}

/// Hash table of the elements of a collection.
pub(super) struct HashTable<'e> {
    elements: Elements<'e>,
    /// First element of each chain.
    chains: &'e [u32],
    links: &'e [ChainLink],
}

/// A chain link of an element: part of its hash, and the next element of the chain.
#[derive(Clone, Copy)]
struct ChainLink {
    /// Remaining bits of the hash; zero if there is no value.
    tag: u32,
    /// Next element of the chain, which has a higher index.
    next: u32,
}

#[derive(Clone, Copy)]
enum Elements<'e> {
    Stored(&'e [Value]),
    Made(&'e [ValueRef<'e>]),
    Pairs(&'e [(Register<'e>, Register<'e>)]),
}

const END: u32 = u32::MAX;

/// Number of comparisons for each element before a collection gets a table. It is several times the cost of a table,
/// because a table gains little if it finds many elements, or is used only a few times.
const COST: usize = 32;

impl<'e> ElementPath<'e> {
    /// Creates an element path; `None` if the value is not a collection.
    pub fn new(collection: ValueRef<'e>, by_key: bool, path: &'e [Operand]) -> Option<Self> {
        let collection = match collection {
            ValueRef(RefRepr::Array(array)) => array.as_ptr().addr(),
            ValueRef(RefRepr::ArenaArray(array)) => ptr::from_ref(array).addr(),
            ValueRef(RefRepr::Object(object)) => object.address(),
            ValueRef(RefRepr::ArenaObject(object)) => ptr::from_ref(object).addr(),
            ValueRef(RefRepr::Set(set)) => ptr::from_ref(&**set).addr(),
            ValueRef(RefRepr::ArenaSet(set)) => ptr::from_ref(set).addr(),
            _ => return None,
        };
        Some(Self {
            collection,
            by_key,
            path,
            is_base: false,
        })
    }
}

impl<'e> Joins<'e> {
    pub fn new(arena: &'e Arena) -> Self {
        let bump = arena.bump();
        Self {
            bump,
            notes: HashMap::with_hasher_in(foldhash::fast::FixedState::default(), bump),
            left: limits::JOIN_BYTES,
        }
    }

    /// Returns the join state of an element path. The initial one has no cost yet.
    pub fn get(&self, place: &ElementPath<'e>) -> JoinState<'e> {
        self.notes.get(place).copied().unwrap_or(JoinState::Cost(0))
    }

    /// Stores the join state of an element path. All others are dropped if there are too many.
    pub fn put(&mut self, place: ElementPath<'e>, known: JoinState<'e>) {
        if self.notes.len() >= limits::JOINED && !self.notes.contains_key(&place) {
            self.notes.clear();
        }
        self.notes.insert(place, known);
    }

    /// Starts a table of a collection, if it is worthwhile and memory suffices.
    pub fn begin(
        &mut self,
        collection: ValueRef<'e>,
        cost: usize,
        memory_left: usize,
    ) -> Option<TableBuilder<'e>> {
        let len = len(collection);
        if cost / COST < len {
            return None;
        }
        let bytes = TableBuilder::bytes(collection);
        // later steps need memory, too
        if bytes > self.left || bytes > memory_left / 2 || len >= END as usize {
            return None;
        }
        self.left -= bytes;
        Some(TableBuilder::new(self.bump, collection))
    }
}

pub(super) fn len(collection: ValueRef<'_>) -> usize {
    match collection {
        ValueRef(RefRepr::Array(array)) => array.len(),
        ValueRef(RefRepr::ArenaArray(array)) => array.len(),
        ValueRef(RefRepr::Object(object)) => object.len(),
        ValueRef(RefRepr::ArenaObject(object)) => object.len(),
        ValueRef(RefRepr::Set(set)) => set.items().len(),
        ValueRef(RefRepr::ArenaSet(set)) => set.len(),
        _ => 0,
    }
}

/// Returns the hash of a value that tables support: comparing others may cost less than hashing them.
#[inline]
pub(super) fn hash(value: ValueRef<'_>) -> Option<u64> {
    let known = match value {
        ValueRef(RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_)) => {
            value.text_or_empty().as_bytes().len() <= limits::LARGE_OPERAND
        }
        value => value.kind() < Kind::Array,
    };
    known.then(|| order::hash(value))
}

pub(super) struct TableBuilder<'e> {
    bump: &'e Bump,
    elements: Building<'e>,
    /// Hashes of elements, in two parts.
    links: bumpalo::collections::Vec<'e, ChainLink>,
    chains: &'e mut [u32],
}

enum Building<'e> {
    There(Elements<'e>),
    Pairs(bumpalo::collections::Vec<'e, (Register<'e>, Register<'e>)>),
}

impl<'e> TableBuilder<'e> {
    fn chains(len: usize) -> usize {
        len.next_power_of_two()
    }

    fn bytes(collection: ValueRef<'_>) -> usize {
        let len = len(collection);
        let pair = match collection {
            ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => 0,
            _ => size_of::<(Register<'_>, Register<'_>)>(),
        };
        len * (size_of::<ChainLink>() + pair) + Self::chains(len) * size_of::<u32>()
    }

    fn new(bump: &'e Bump, collection: ValueRef<'e>) -> Self {
        let len = len(collection);
        let elements = match collection {
            ValueRef(RefRepr::Array(array)) => Building::There(Elements::Stored(array)),
            ValueRef(RefRepr::ArenaArray(array)) => Building::There(Elements::Made(array)),
            _ => Building::Pairs(bumpalo::collections::Vec::with_capacity_in(len, bump)),
        };
        Self {
            bump,
            elements,
            links: bumpalo::collections::Vec::with_capacity_in(len, bump),
            chains: bump.alloc_slice_fill_copy(Self::chains(len), END),
        }
    }

    /// Adds the next element with the value at its path.
    pub fn add(
        &mut self,
        key: Register<'e>,
        value: Register<'e>,
        condition_value: Option<ValueRef<'e>>,
    ) {
        if let Building::Pairs(pairs) = &mut self.elements {
            pairs.push((key, value));
        }
        let hash = condition_value.and_then(hash);
        // the link stores the chain until all elements are added
        self.links.push(match hash {
            Some(hash) => ChainLink {
                tag: tag(hash),
                next: chain(hash),
            },
            None => ChainLink { tag: 0, next: END },
        });
    }

    /// Returns the table. Elements of a chain are in the order of the collection.
    pub fn finish(self) -> &'e HashTable<'e> {
        let links = self.links.into_bump_slice_mut();
        let mask = self.chains.len() - 1;
        // from the end, so that chains are in order
        for (at, link) in links.iter_mut().enumerate().rev() {
            if link.tag != 0
                && let Some(first) = self.chains.get_mut(link.next as usize & mask)
                && let Ok(at) = u32::try_from(at)
            {
                link.next = std::mem::replace(first, at);
            }
        }
        let elements = match self.elements {
            Building::There(elements) => elements,
            Building::Pairs(pairs) => Elements::Pairs(pairs.into_bump_slice()),
        };
        self.bump.alloc(HashTable {
            elements,
            chains: self.chains,
            links,
        })
    }
}

/// Bits of a hash that distinguish elements of a chain.
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

/// Bits of a hash that select the chain.
#[expect(clippy::cast_possible_truncation, reason = "a part is wanted")]
fn chain(hash: u64) -> u32 {
    hash as u32
}

impl<'e> HashTable<'e> {
    /// Iterates over the elements, with their keys, whose value may have a hash.
    #[inline]
    pub fn find(&'e self, hash: u64) -> FoundElements<'e> {
        let first = self
            .chains
            .get(chain(hash) as usize & (self.chains.len() - 1));
        FoundElements {
            table: Some(self),
            tag: tag(hash),
            next: first.copied().unwrap_or(END),
        }
    }
}

/// Iterator over found elements, in order.
pub(super) struct FoundElements<'e> {
    table: Option<&'e HashTable<'e>>,
    tag: u32,
    next: u32,
}

impl FoundElements<'_> {
    pub fn nothing() -> Self {
        Self {
            table: None,
            tag: 0,
            next: END,
        }
    }
}

impl<'e> Iterator for FoundElements<'e> {
    type Item = (Register<'e>, Register<'e>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let table = self.table?;
        loop {
            let at = self.next;
            let link = table.links.get(at as usize)?;
            self.next = link.next;
            if link.tag == self.tag {
                let index = Register::Value(ValueRef(RefRepr::Int(i64::from(at))));
                return match table.elements {
                    Elements::Stored(items) => {
                        Some((index, Register::Stored(items.get(at as usize)?)))
                    }
                    Elements::Made(items) => {
                        Some((index, Register::Value(*items.get(at as usize)?)))
                    }
                    Elements::Pairs(pairs) => pairs.get(at as usize).copied(),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COST, ElementPath, JoinState, Joins, hash};
    use crate::eval::frame::Register;
    use crate::limits;
    use crate::value::{Arena, RefRepr, Value, ValueRef};

    #[test]
    fn elements_are_found_in_order() {
        let arena = Arena::new();
        let mut joins = Joins::new(&arena);
        let items = ["a", "b", "a", "c", "b", "a"].map(|text| arena.text(text));
        let array = arena.array(&items);
        assert!(joins.begin(array, 6 * COST - 1, usize::MAX).is_none());
        let mut builder = joins.begin(array, 6 * COST, usize::MAX).unwrap();
        for (at, item) in (0..).zip(items) {
            let value = (at != 2).then_some(item);
            builder.add(
                Register::Value(ValueRef(RefRepr::Int(at))),
                Register::Value(item),
                value,
            );
        }
        let table = builder.finish();
        let found = |text: &str| {
            let found = table.find(hash(arena.text(text)).unwrap());
            found.map(|(key, _)| key.value()).collect::<Vec<_>>()
        };
        assert!(found("a") == [ValueRef(RefRepr::Int(0)), ValueRef(RefRepr::Int(5))]);
        assert!(found("b") == [ValueRef(RefRepr::Int(1)), ValueRef(RefRepr::Int(4))]);
        assert!(found("c") == [ValueRef(RefRepr::Int(3))]);
        assert!(found("d").is_empty());
    }

    #[test]
    fn tables_take_no_more_than_they_may() {
        let arena = Arena::new();
        let mut joins = Joins::new(&arena);
        let array = arena.array(&[ValueRef(RefRepr::Int(1)); 1024]);
        let bytes = 1024 * (8 + 4);
        joins.left = 2 * bytes;
        let mut begun = |memory| joins.begin(array, usize::MAX, memory).is_some();
        assert!(!begun(2 * bytes - 1));
        assert!(begun(2 * bytes));
        assert!(begun(usize::MAX));
        assert!(!begun(usize::MAX));
        assert_eq!(joins.left, 0);
    }

    #[test]
    fn collections_are_forgotten_when_they_are_many() {
        let arena = Arena::new();
        let mut joins = Joins::new(&arena);
        let places: Vec<ElementPath<'_>> = (0..=limits::JOINED)
            .filter_map(|_| ElementPath::new(arena.array(&[]), false, &[]))
            .collect();
        let cost = |joins: &Joins<'_>, at: usize| match joins.get(&places[at]) {
            JoinState::Cost(cost) => cost,
            JoinState::Table(_) => 0,
        };
        for place in &places[..limits::JOINED] {
            joins.put(*place, JoinState::Cost(1));
        }
        joins.put(places[0], JoinState::Cost(2));
        assert_eq!((cost(&joins, 0), cost(&joins, 1)), (2, 1));
        joins.put(places[limits::JOINED], JoinState::Cost(3));
        assert_eq!((cost(&joins, 0), cost(&joins, limits::JOINED)), (0, 3));
    }

    #[test]
    fn long_strings_are_left_out_whatever_their_bytes() {
        for byte in [b'a', 0xff] {
            let known = |length| hash(Value::bytes(&vec![byte; length]).borrow()).is_some();
            assert!(known(15) && known(limits::LARGE_OPERAND));
            assert!(!known(limits::LARGE_OPERAND + 1), "{byte}");
        }
    }
}
