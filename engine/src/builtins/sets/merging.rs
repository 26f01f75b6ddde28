//! Merges two sorted sets.

use std::cmp::Ordering;

use crate::bug::{Within as _, bug};
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::limits;
use crate::value::{RefRepr, ValueRef};

/// Ratio of sizes from which members are searched in the larger set.
const UNEQUAL: usize = 8;

/// Members to select from two sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SetOperation {
    /// Members of the left set that are not in the right set.
    LeftOnly,
    /// Members of both sets.
    Common,
    /// Members of either set.
    All,
}

/// Selects members of two sorted sets. Of equal members the left one is taken.
pub fn side_by_side<'e>(
    call: &mut BuiltinContext<'e>,
    lefts: &'e [ValueRef<'e>],
    rights: &'e [ValueRef<'e>],
    operation: SetOperation,
) -> Result<ValueRef<'e>, BuiltinError> {
    let arena = call.arena;
    let most = match operation {
        SetOperation::LeftOnly => lefts.len(),
        SetOperation::Common => lefts.len().min(rights.len()),
        SetOperation::All => lefts.len() + rights.len(),
    };
    if lefts.len() / UNEQUAL > rights.len() || rights.len() / UNEQUAL > lefts.len() {
        let mut members = bumpalo::collections::Vec::with_capacity_in(most, arena.bump());
        leap(call, lefts, rights, operation, &mut members)?;
        return Ok(arena.sorted_set(members.into_bump_slice()));
    }
    let members = arena
        .bump()
        .alloc_slice_fill_copy(most, ValueRef(RefRepr::Null));
    let made = match call.caches().heads.of_both(arena, lefts, rights) {
        Some((left_heads, right_heads)) => {
            let (left, right) = (
                SetSide::new(lefts, left_heads),
                SetSide::new(rights, right_heads),
            );
            merge_selected(call, left, right, operation, members)?
        }
        None => {
            let (left, right) = (SetSide::new(lefts, Alike), SetSide::new(rights, Alike));
            merge_selected(call, left, right, operation, members)?
        }
    };
    Ok(arena.sorted_set(members.within(..made)))
}

/// Numeric keys of members, whose order is consistent with that of the members.
trait Ranks: Copy {
    fn rank(self, at: usize) -> Option<u128>;
}

impl Ranks for &[u128] {
    #[inline]
    fn rank(self, at: usize) -> Option<u128> {
        self.get(at).copied()
    }
}

/// No keys: all members compare equal.
#[derive(Clone, Copy)]
struct Alike;

impl Ranks for Alike {
    #[inline]
    fn rank(self, _: usize) -> Option<u128> {
        Some(0)
    }
}

/// One of the two sets.
#[derive(Clone, Copy)]
struct SetSide<'e, R> {
    members: &'e [ValueRef<'e>],
    ranks: R,
}

impl<'e, R: Ranks> SetSide<'e, R> {
    fn new(members: &'e [ValueRef<'e>], ranks: R) -> Self {
        Self { members, ranks }
    }

    #[inline]
    fn member_at(self, at: usize) -> Option<(&'e ValueRef<'e>, u128)> {
        Some((self.members.get(at)?, self.ranks.rank(at)?))
    }
}

/// Writes the selected members in order. Returns their number.
fn merge_selected<'e, R: Ranks>(
    call: &BuiltinContext<'e>,
    left: SetSide<'e, R>,
    right: SetSide<'e, R>,
    operation: SetOperation,
    members: &mut [ValueRef<'e>],
) -> Result<usize, BuiltinError> {
    match operation {
        SetOperation::LeftOnly => merge::<R, true, false, false>(call, left, right, members),
        SetOperation::Common => merge::<R, false, true, false>(call, left, right, members),
        SetOperation::All => merge::<R, true, true, true>(call, left, right, members),
    }
}

/// Merges members that are only in the left set, in both, or only in the right one. Branch-free: each iteration writes
/// a member, and advances the output if it is selected.
#[inline]
fn merge<'e, R: Ranks, const LEFT: bool, const COMMON: bool, const RIGHT: bool>(
    call: &BuiltinContext<'e>,
    left: SetSide<'e, R>,
    right: SetSide<'e, R>,
    members: &mut [ValueRef<'e>],
) -> Result<usize, BuiltinError> {
    let (mut at, mut other_at, mut made) = (0, 0, 0);
    'all: loop {
        for _ in 0..limits::LONG_STEP {
            let (Some((one, rank)), Some((other, other_rank)), Some(place)) = (
                left.member_at(at),
                right.member_at(other_at),
                members.get_mut(made),
            ) else {
                break 'all;
            };
            let (mut less, mut greater) = (rank < other_rank, rank > other_rank);
            if !less && !greater {
                let order = one.cmp(other);
                (less, greater) = (order.is_lt(), order.is_gt());
            }
            *place = *if RIGHT && greater { other } else { one };
            let is_wanted = LEFT && less || RIGHT && greater || COMMON && !less && !greater;
            at += usize::from(!greater);
            other_at += usize::from(!less);
            made += usize::from(is_wanted);
        }
        call.budget.check()?;
    }
    let rest = |side: SetSide<'e, R>, from| side.members.within(from..);
    for (is_wanted, rest) in [(LEFT, rest(left, at)), (RIGHT, rest(right, other_at))] {
        if is_wanted && let Some(places) = members.get_mut(made..made + rest.len()) {
            places.copy_from_slice(rest);
            made += rest.len();
        }
    }
    Ok(made)
}

/// Searches the members of the smaller set in the larger one.
fn leap<'e>(
    call: &BuiltinContext<'e>,
    mut lefts: &[ValueRef<'e>],
    mut rights: &[ValueRef<'e>],
    operation: SetOperation,
    members: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
) -> Result<(), BuiltinError> {
    let mut turns = 0_usize;
    while let ([first, others @ ..], [second, rest @ ..]) = (lefts, rights) {
        turns += 1;
        if turns.is_multiple_of(limits::LONG_STEP) {
            call.budget.check()?;
        }
        match first.cmp(second) {
            Ordering::Less => {
                let (less, on) = split_below(lefts, second);
                if operation != SetOperation::Common {
                    members.extend_from_slice_copy(less);
                }
                lefts = on;
            }
            Ordering::Greater => {
                let (less, on) = split_below(rights, first);
                if operation == SetOperation::All {
                    members.extend_from_slice_copy(less);
                }
                rights = on;
            }
            Ordering::Equal => {
                if operation != SetOperation::LeftOnly {
                    members.push(*first);
                }
                (lefts, rights) = (others, rest);
            }
        }
    }
    if operation != SetOperation::Common {
        members.extend_from_slice_copy(lefts);
    }
    if operation == SetOperation::All {
        members.extend_from_slice_copy(rights);
    }
    Ok(())
}

/// Splits sorted members before a bound, with an exponential search.
fn split_below<'m, 'e>(
    members: &'m [ValueRef<'e>],
    bound: &ValueRef<'e>,
) -> (&'m [ValueRef<'e>], &'m [ValueRef<'e>]) {
    let mut reach = 1;
    while members.get(reach).is_some_and(|member| member < bound) {
        reach *= 2;
    }
    let stretch = members.get(..reach).unwrap_or(members);
    let below = stretch.partition_point(|member| member < bound);
    members
        .split_at_checked(below)
        .unwrap_or_else(|| bug!("more members are found than there are"))
}
