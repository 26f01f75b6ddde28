//! Sets in the arena.

use std::cell::Cell;
use std::cmp::Ordering;

use super::Arena;
use super::keys::{Order, SCAN, Table, insert_key, insert_stored};
use super::value_size::ValueSize;
use crate::bug::bug;
use crate::limits;
use crate::value::array::ArrayView;
use crate::value::sort::{self, Sortable};
use crate::value::{Kind, Value, ValueRef, search};

/// A set in the arena: distinct members, ordered when first asked for.
pub struct ArenaSet<'e> {
    items: &'e [ValueRef<'e>],
    /// Where members are by their hashes, unless they are few or in order.
    table: Option<Table<'e>>,
    order: Order<'e>,
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

    /// Number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether its order is known, so that going through it in order costs no sorting.
    pub fn is_ordered(&self) -> bool {
        self.order.is_sorted()
    }

    /// The members in the order of insertion.
    pub fn items(&self) -> &'e [ValueRef<'e>] {
        self.items
    }

    /// The members, when the order of insertion is their order.
    pub fn in_order(&self) -> Option<&'e [ValueRef<'e>]> {
        self.order
            .sorted_positions(self.items)
            .is_none()
            .then_some(self.items)
    }

    /// The members in order, side by side.
    pub fn sorted(&self, arena: &'e Arena) -> &'e [ValueRef<'e>] {
        let Some(order) = self.order.sorted_positions(self.items) else {
            return self.items;
        };
        let member = |at: usize| {
            let slot = order
                .get(at)
                .map_or_else(|| bug!("the order of a set is too short"), Cell::get);
            let member = self.items.get(slot as usize).copied();
            member.unwrap_or_else(|| bug!("the order of a set names no member"))
        };
        arena
            .bump
            .alloc_slice_fill_with(order.len().min(self.items.len()), member)
    }

    /// The members in order.
    pub fn iter(&self) -> ArenaMembers<'e> {
        ArenaMembers {
            items: self.items,
            order: self.order.sorted_positions(self.items),
            at: 0,
        }
    }

    /// Whether an equal member is in it.
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
    /// The extent of a set around members in order, among which compounds come last.
    #[inline]
    fn around_sorted(&self, items: &[ValueRef<'_>]) -> Option<ValueSize> {
        if items.last().is_none_or(is_simple) {
            self.around_more(&[], &[], items.len())
        } else {
            self.around(items)
        }
    }

    /// A set of distinct members that are in order.
    pub fn sorted_set<'e>(&'e self, items: &'e [ValueRef<'e>]) -> ValueRef<'e> {
        let Some(extent) = self.around_sorted(items) else {
            return ValueRef::Null;
        };
        ValueRef::ArenaSet(self.bump.alloc(ArenaSet {
            items,
            table: None,
            order: Order::as_inserted(self),
            extent,
        }))
    }
}

/// Elements from which on those of a whole array are sorted at once.
const MANY: usize = 24;

/// The members of a set in the arena, in order.
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
        let at = match self.order {
            Some(order) => order.get(self.at)?.get() as usize,
            None => self.at,
        };
        self.at += 1;
        self.items.get(at).copied()
    }
}

/// Whether a value is no compound.
#[inline]
fn is_simple(value: &ValueRef<'_>) -> bool {
    !matches!(value.kind(), Kind::Array | Kind::Object | Kind::Set)
}

/// How a member compares with a string or number, in line for what most are.
#[inline]
fn compared(item: &ValueRef<'_>, member: &ValueRef<'_>) -> Ordering {
    match (item, member) {
        (ValueRef::Short(one), ValueRef::Short(other)) => one.cmp(other),
        (ValueRef::Int(one), ValueRef::Int(other)) => one.cmp(other),
        (ValueRef::ArenaText(one), ValueRef::ArenaText(other)) => {
            one.as_bytes().cmp(other.as_bytes())
        }
        _ => item.cmp(member),
    }
}

/// The place of a string or number among members in order, or where it would stand.
#[inline]
fn position_among(items: &[ValueRef<'_>], member: &ValueRef<'_>) -> Result<usize, usize> {
    items.binary_search_by(|item| compared(item, member))
}

/// A set being built.
pub struct SetBuilder<'e> {
    arena: &'e Arena,
    items: bumpalo::collections::Vec<'e, ValueRef<'e>>,
    table: Option<Table<'e>>,
    /// Whether the members were put in order one by one.
    in_order: bool,
}

/// Strings and numbers up to which a set being built is kept in order: no other way finds what is there already for
/// less, and whoever reads the set needs no sorting.
const ORDERED: usize = 64;

impl Arena {
    /// The set of one member.
    pub fn set_of_one<'e>(&'e self, member: &ValueRef<'e>) -> ValueRef<'e> {
        let items = std::slice::from_ref(&*self.bump().alloc(*member));
        let Some(extent) = self.around(items) else {
            return ValueRef::Null;
        };
        ValueRef::ArenaSet(self.bump().alloc(ArenaSet {
            items,
            table: None,
            order: Order::as_inserted(self),
            extent,
        }))
    }
}

impl<'e> SetBuilder<'e> {
    /// An empty set.
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            items: bumpalo::collections::Vec::with_capacity_in(SCAN, arena.bump()),
            table: None,
            in_order: true,
        }
    }

    /// The members so far.
    pub fn items(&self) -> &[ValueRef<'e>] {
        &self.items
    }

    /// Adds a member; `false` when an equal one is there.
    #[inline]
    pub fn insert(&mut self, member: ValueRef<'e>) -> bool {
        if self.in_order {
            return self.insert_among_few(&member);
        }
        insert_key(&mut self.items, &mut self.table, self.arena, member).is_ok()
    }

    /// Adds a member that is stored; `false` when an equal one is there.
    #[inline]
    pub fn insert_stored(&mut self, member: &'e Value) -> bool {
        if self.in_order {
            return self.insert_among_few(&member.borrow());
        }
        insert_stored(&mut self.items, &mut self.table, self.arena, member).is_ok()
    }

    /// Adds all elements of an array.
    pub fn extend(&mut self, elements: ArrayView<'e>) {
        let are_sorted = self.items.is_empty()
            && elements.len() >= MANY
            && match elements {
                ArrayView::Stored(items) => self.fill(items, Value::borrow),
                ArrayView::Arena(items) => self.fill(items, |item| *item),
            };
        if !are_sorted {
            for (at, element) in elements.iter().enumerate() {
                if at % limits::LONG_STEP == limits::LONG_STEP - 1 && !self.arena.goes_on() {
                    return;
                }
                self.insert(element);
            }
        }
    }

    /// Makes strings or numbers the members, in order; whether they are that.
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
        let Some(places) = sort::distinct(elements, || self.arena.goes_on()) else {
            return false;
        };
        self.items = list(places.len());
        for at in places {
            if let Some(element) = elements.get(at) {
                self.items.push(member(element));
            }
        }
        true
    }

    /// Adds a member at its place in the order, as long as members are few, and no compounds.
    #[inline(never)]
    fn insert_among_few(&mut self, member: &ValueRef<'e>) -> bool {
        let is_simple = is_simple(member);
        // what comes in order stays in order, however much it is
        let is_above = |last: &ValueRef<'_>| compared(last, member).is_lt();
        if is_simple && self.items.last().is_none_or(is_above) {
            self.items.push(*member);
            return true;
        }
        let place = if is_simple {
            position_among(&self.items, member)
        } else {
            Err(ORDERED)
        };
        match place {
            Ok(_) => {
                // where members repeat, more of them will come
                if self.items.len() > SCAN {
                    self.leave_order();
                }
                false
            }
            Err(at) if is_simple && self.items.len() < ORDERED => {
                self.items.insert(at, *member);
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
            self.table = Some(Table::new(&self.items, 2 * SCAN, self.arena));
        }
    }

    /// Whether an equal member is there already.
    #[inline]
    pub fn contains(&self, member: ValueRef<'_>) -> bool {
        match &self.table {
            Some(table) => table.find(&self.items, member).is_some(),
            None if self.in_order => position_among(&self.items, &member).is_ok(),
            None => search::position_in_flight(&self.items, member).is_some(),
        }
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
    pub fn finish(mut self) -> ValueRef<'e> {
        self.take()
    }

    /// The set; what is left has no members.
    pub fn take(&mut self) -> ValueRef<'e> {
        let items = std::mem::replace(&mut self.items, self.arena.list()).into_bump_slice();
        let extent = if self.in_order {
            self.arena.around_sorted(items)
        } else {
            self.arena.around(items)
        };
        let Some(extent) = extent else {
            return ValueRef::Null;
        };
        let order = if self.in_order {
            Order::as_inserted(self.arena)
        } else {
            Order::new(self.arena, items.len())
        };
        ValueRef::ArenaSet(self.arena.bump().alloc(ArenaSet {
            items,
            table: self.table.take(),
            order,
            extent,
        }))
    }
}
