//! Sets in the arena: hashed when built, and sorted when their order is first needed.

use std::cell::Cell;
use std::cmp::Ordering;

use super::Arena;
use super::keys::{ArenaKeyTable, SCAN, SortedPositions, insert_key, insert_stored};
use super::value_size::ValueSize;
use crate::bug::bug;
use crate::limits;
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::sort::{self, Sortable};
use crate::value::{Kind, RefRepr, Value, ValueRef, search};

/// A set in the arena: distinct members, sorted on first use of their order.
pub struct ArenaSet<'e> {
    items: &'e [ValueRef<'e>],
    /// Hash table of members, unless they are few or sorted.
    table: Option<ArenaKeyTable<'e>>,
    order: SortedPositions<'e>,
    extent: ValueSize,
}

impl<'e> ArenaSet<'e> {
    #[inline]
    pub(super) fn extent(&self) -> ValueSize {
        self.extent
    }

    #[inline]
    pub(super) fn arena(&self) -> &'e Arena {
        self.order.arena()
    }

    /// Returns the number of members. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns `true` if it has no members.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns `true` if the order is known, so that an ordered traversal needs no sort.
    pub fn is_ordered(&self) -> bool {
        self.order.is_sorted()
    }

    /// Returns the members in the order of insertion.
    pub fn items(&self) -> &'e [ValueRef<'e>] {
        self.items
    }

    /// Returns the members, if the order of insertion is the sort order.
    pub fn in_order(&self) -> Option<&'e [ValueRef<'e>]> {
        self.order
            .sorted_positions(self.items)
            .is_none()
            .then_some(self.items)
    }

    /// Returns the members as a sorted slice.
    pub fn sorted(&self, arena: &'e Arena) -> &'e [ValueRef<'e>] {
        let Some(order) = self.order.sorted_positions(self.items) else {
            return self.items;
        };
        let member = |index: usize| {
            let slot = order
                .get(index)
                .map_or_else(|| bug!("the order of a set is too short"), Cell::get);
            let member = self.items.get(slot as usize).copied();
            member.unwrap_or_else(|| bug!("the order of a set names no member"))
        };
        arena
            .bump
            .alloc_slice_fill_with(order.len().min(self.items.len()), member)
    }

    /// Returns the members in order. The first call sorts them.
    pub fn iter(&self) -> ArenaMembers<'e> {
        ArenaMembers {
            items: self.items,
            order: self.order.sorted_positions(self.items),
            at: 0,
        }
    }

    /// Returns `true` if the set contains an equal member. Uses the hash table or the order, if there is one.
    #[inline]
    pub fn contains(&self, member: ValueRef<'_>) -> bool {
        match &self.table {
            Some(table) => table.find(self.items, member).is_some(),
            None if self.items.len() > SCAN => self
                .items
                .binary_search_by(|item| item.cmp(&member))
                .is_ok(),
            None => search::position_in_flight(self.items, member).is_some(),
        }
    }
}

impl Arena {
    /// Returns the size of a set of sorted members. Compounds sort last, so only the end is visited.
    #[inline]
    fn size_of_sorted(&self, items: &[ValueRef<'_>]) -> Option<ValueSize> {
        if items.last().is_none_or(is_simple) {
            self.size_with_extra(&[], &[], items.len())
        } else {
            self.size_of(items)
        }
    }

    /// Creates a set of distinct sorted members.
    pub fn sorted_set<'e>(&'e self, items: &'e [ValueRef<'e>]) -> ValueRef<'e> {
        let Some(extent) = self.size_of_sorted(items) else {
            return ValueRef(RefRepr::Null);
        };
        ValueRef(RefRepr::ArenaSet(self.bump.alloc(ArenaSet {
            items,
            table: None,
            order: SortedPositions::as_inserted(self),
            extent,
        })))
    }
}

/// Length of an array from which its elements are sorted instead of inserted one by one.
const SORT_THRESHOLD: usize = 24;

/// The members of a set in the arena, in order, without copies.
#[derive(Clone)]
pub struct ArenaMembers<'e> {
    items: &'e [ValueRef<'e>],
    order: Option<&'e [Cell<u32>]>,
    at: usize,
}

impl<'e> Iterator for ArenaMembers<'e> {
    type Item = ValueRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'e>> {
        let index = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        self.items.get(index).copied()
    }
}

/// Returns `true` for scalars, whose comparison is cheap.
#[inline]
fn is_simple(value: &ValueRef<'_>) -> bool {
    !matches!(value.kind(), Kind::Array | Kind::Object | Kind::Set)
}

/// Compares a member with a string or number. Inlined for the most frequent kinds.
#[inline]
fn compare(item: &ValueRef<'_>, member: &ValueRef<'_>) -> Ordering {
    match (item, member) {
        (ValueRef(RefRepr::Short(left)), ValueRef(RefRepr::Short(right))) => left.cmp(right),
        (ValueRef(RefRepr::Int(left)), ValueRef(RefRepr::Int(right))) => left.cmp(right),
        (ValueRef(RefRepr::ArenaText(left)), ValueRef(RefRepr::ArenaText(right))) => {
            left.as_bytes().cmp(right.as_bytes())
        }
        _ => item.cmp(member),
    }
}

/// Returns the position of a string or number among sorted members, or that for its insertion.
#[inline]
fn position_among(items: &[ValueRef<'_>], member: &ValueRef<'_>) -> Result<usize, usize> {
    items.binary_search_by(|item| compare(item, member))
}

/// Builder of a set in the arena. Equal members count once.
pub struct SetBuilder<'e> {
    arena: &'e Arena,
    items: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<ArenaKeyTable<'e>>,
    /// `true` while members are kept sorted.
    in_order: bool,
}

/// Maximum number of strings and numbers that are kept sorted during insertion: no other method finds duplicates
/// faster, and an ordered traversal needs no sort.
const ORDERED: usize = 64;

impl Arena {
    /// Creates a set of one member, without a table. Returns `null` if a limit was reached; the evaluation then ends.
    pub fn set_of_one<'e>(&'e self, member: &ValueRef<'e>) -> ValueRef<'e> {
        let items = std::slice::from_ref(&*self.bump().alloc(*member));
        let Some(extent) = self.size_of(items) else {
            return ValueRef(RefRepr::Null);
        };
        ValueRef(RefRepr::ArenaSet(self.bump().alloc(ArenaSet {
            items,
            table: None,
            order: SortedPositions::as_inserted(self),
            extent,
        })))
    }
}

impl<'e> SetBuilder<'e> {
    /// Creates an empty builder, whose memory is in the arena.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            items: bumpalo::collections::Vec::with_capacity_in(SCAN, arena.bump()),
            table: None,
            in_order: true,
        }
    }

    /// Returns the members so far, in the order of insertion.
    pub fn items(&self) -> &[ValueRef<'e>] {
        &self.items
    }

    /// Adds a member. Returns `false` if an equal one exists.
    #[inline]
    pub fn insert(&mut self, member: ValueRef<'e>) -> bool {
        if self.in_order {
            return self.insert_among_few(&member);
        }
        insert_key(&mut self.items, &mut self.table, self.arena, member).is_ok()
    }

    /// Adds a stored member. Returns `false` if an equal one exists.
    #[inline]
    pub fn insert_stored(&mut self, member: &'e Value) -> bool {
        if self.in_order {
            return self.insert_among_few(&member.borrow());
        }
        insert_stored(&mut self.items, &mut self.table, self.arena, member).is_ok()
    }

    /// Adds all elements of an array. Large arrays are sorted instead of hashed. Stops early if the evaluation has ended.
    pub fn extend(&mut self, elements: ArrayView<'e>) {
        let are_sorted = self.items.is_empty()
            && elements.len() >= SORT_THRESHOLD
            && match elements {
                ArrayView(ArrayViewRepr::Stored(items)) => self.fill(items, Value::borrow),
                ArrayView(ArrayViewRepr::Arena(items)) => self.fill(items, |item| *item),
            };
        if !are_sorted {
            for (index, element) in elements.iter().enumerate() {
                if index % limits::LONG_STEP == limits::LONG_STEP - 1 && !self.arena.goes_on() {
                    return;
                }
                self.insert(element);
            }
        }
    }

    /// Sets the members to distinct sorted elements, if all are strings or all are numbers. Returns `true` if they are.
    fn fill<T: Sortable>(
        &mut self,
        elements: &'e [T],
        member: impl Fn(&'e T) -> ValueRef<'e>,
    ) -> bool {
        let is_simple = |first: &T| first.text().is_some() || first.number().is_some();
        if !elements.first().is_some_and(is_simple) {
            return false;
        }
        let list = |room| bumpalo::collections::Vec::with_capacity_in(room, self.arena.bump());
        let Some(positions) = sort::distinct(elements, || self.arena.goes_on()) else {
            return false;
        };
        self.items = list(positions.len());
        for position in positions {
            if let Some(element) = elements.get(position) {
                self.items.push(member(element));
            }
        }
        true
    }

    /// Inserts a member in order while members are few and scalars. Returns `false` if it did not.
    #[inline(never)]
    fn insert_among_few(&mut self, member: &ValueRef<'e>) -> bool {
        let is_simple = is_simple(member);
        // members that arrive in order stay in order, in any number
        let is_above = |last: &ValueRef<'_>| compare(last, member).is_lt();
        if is_simple && self.items.last().is_none_or(is_above) {
            self.items.push(*member);
            return true;
        }
        let position = if is_simple {
            position_among(&self.items, member)
        } else {
            Err(ORDERED)
        };
        match position {
            Ok(_) => {
                // if the array has duplicates, more of them are likely
                if self.items.len() > SCAN {
                    self.leave_order();
                }
                false
            }
            Err(index) if is_simple && self.items.len() < ORDERED => {
                self.items.insert(index, *member);
                true
            }
            Err(_) => {
                self.leave_order();
                self.insert(*member)
            }
        }
    }

    fn leave_order(&mut self) {
        self.in_order = false;
        if self.items.len() > SCAN {
            self.table = Some(ArenaKeyTable::new(&self.items, 2 * SCAN, self.arena));
        }
    }

    /// Returns `true` if an equal member exists.
    #[inline]
    pub fn contains(&self, member: ValueRef<'_>) -> bool {
        match &self.table {
            Some(table) => table.find(&self.items, member).is_some(),
            None if self.in_order => position_among(&self.items, &member).is_ok(),
            None => search::position_in_flight(&self.items, member).is_some(),
        }
    }

    /// Returns the number of members so far.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns `true` if it has no members yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the set, which cannot change any more.
    pub fn finish(mut self) -> ValueRef<'e> {
        self.take()
    }

    /// Returns the set and leaves an empty builder.
    pub fn take(&mut self) -> ValueRef<'e> {
        let items = std::mem::replace(&mut self.items, self.arena.list()).into_bump_slice();
        let extent = if self.in_order {
            self.arena.size_of_sorted(items)
        } else {
            self.arena.size_of(items)
        };
        let Some(extent) = extent else {
            return ValueRef(RefRepr::Null);
        };
        let order = if self.in_order {
            SortedPositions::as_inserted(self.arena)
        } else {
            SortedPositions::new(self.arena, items.len())
        };
        ValueRef(RefRepr::ArenaSet(self.arena.bump().alloc(ArenaSet {
            items,
            table: self.table.take(),
            order,
            extent,
        })))
    }
}
