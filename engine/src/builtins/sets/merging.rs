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
    let capacity = match operation {
        SetOperation::LeftOnly => lefts.len(),
        SetOperation::Common => lefts.len().min(rights.len()),
        SetOperation::All => lefts.len() + rights.len(),
    };
    if lefts.len() / UNEQUAL > rights.len() || rights.len() / UNEQUAL > lefts.len() {
        let mut members = bumpalo::collections::Vec::with_capacity_in(capacity, arena.bump());
        leap(call, lefts, rights, operation, &mut members)?;
        return Ok(arena.sorted_set(members.into_bump_slice()));
    }
    let members = arena
        .bump()
        .alloc_slice_fill_copy(capacity, ValueRef(RefRepr::Null));
    let length = match call.caches().heads.of_both(arena, lefts, rights) {
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
    Ok(arena.sorted_set(members.within(..length)))
}

/// Numeric keys of members, whose order is consistent with that of the members.
trait Ranks: Copy {
    fn rank(self, position: usize) -> Option<u128>;
}

impl Ranks for &[u128] {
    #[inline]
    fn rank(self, position: usize) -> Option<u128> {
        self.get(position).copied()
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
    fn member_at(self, position: usize) -> Option<(&'e ValueRef<'e>, u128)> {
        Some((self.members.get(position)?, self.ranks.rank(position)?))
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
    let (mut left_position, mut right_position, mut length) = (0, 0, 0);
    'all: loop {
        for _ in 0..limits::LONG_STEP {
            let (Some((left_member, rank)), Some((right_member, other_rank)), Some(target)) = (
                left.member_at(left_position),
                right.member_at(right_position),
                members.get_mut(length),
            ) else {
                break 'all;
            };
            let (mut is_less, mut is_greater) = (rank < other_rank, rank > other_rank);
            if !is_less && !is_greater {
                let order = left_member.cmp(right_member);
                (is_less, is_greater) = (order.is_lt(), order.is_gt());
            }
            *target = *if RIGHT && is_greater {
                right_member
            } else {
                left_member
            };
            let is_selected =
                LEFT && is_less || RIGHT && is_greater || COMMON && !is_less && !is_greater;
            left_position += usize::from(!is_greater);
            right_position += usize::from(!is_less);
            length += usize::from(is_selected);
        }
        call.budget.check()?;
    }
    let rest = |side: SetSide<'e, R>, from| side.members.within(from..);
    for (is_selected, rest) in [
        (LEFT, rest(left, left_position)),
        (RIGHT, rest(right, right_position)),
    ] {
        if is_selected && let Some(targets) = members.get_mut(length..length + rest.len()) {
            targets.copy_from_slice(rest);
            length += rest.len();
        }
    }
    Ok(length)
}

/// Searches the members of the smaller set in the larger one.
fn leap<'e>(
    call: &BuiltinContext<'e>,
    mut lefts: &[ValueRef<'e>],
    mut rights: &[ValueRef<'e>],
    operation: SetOperation,
    members: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
) -> Result<(), BuiltinError> {
    let mut iterations = 0_usize;
    while let ([first, other_lefts @ ..], [second, rest @ ..]) = (lefts, rights) {
        iterations += 1;
        if iterations.is_multiple_of(limits::LONG_STEP) {
            call.budget.check()?;
        }
        match first.cmp(second) {
            Ordering::Less => {
                let (smaller, on) = split_below(lefts, second);
                if operation != SetOperation::Common {
                    members.extend_from_slice_copy(smaller);
                }
                lefts = on;
            }
            Ordering::Greater => {
                let (smaller, on) = split_below(rights, first);
                if operation == SetOperation::All {
                    members.extend_from_slice_copy(smaller);
                }
                rights = on;
            }
            Ordering::Equal => {
                if operation != SetOperation::LeftOnly {
                    members.push(*first);
                }
                (lefts, rights) = (other_lefts, rest);
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
    limit: &ValueRef<'e>,
) -> (&'m [ValueRef<'e>], &'m [ValueRef<'e>]) {
    let mut distance = 1;
    while members.get(distance).is_some_and(|member| member < limit) {
        distance *= 2;
    }
    let searched = members.get(..distance).unwrap_or(members);
    let smaller_count = searched.partition_point(|member| member < limit);
    members
        .split_at_checked(smaller_count)
        .unwrap_or_else(|| bug!("more members are found than there are"))
}
