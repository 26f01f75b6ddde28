//! Two sets in order, gone through side by side.

use std::cmp::Ordering;

use crate::builtins::{BuiltinContext, Fault};
use crate::limits;
use crate::value::{V, sort, text};

/// How many times as large one set has to be as the other for members to be searched in it.
const UNEQUAL: usize = 8;

/// Which members of two sets are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those of the left one that are not in the right one.
    LeftAlone,
    /// Those of both.
    Common,
    /// Those of either.
    All,
}

/// Goes through the members of two sets, which are in order. Of equal members the left one is taken.
pub fn side_by_side<'e>(
    call: &BuiltinContext<'e>,
    lefts: &'e [V<'e>],
    rights: &'e [V<'e>],
    wanted: Wanted,
) -> Result<V<'e>, Fault> {
    let most = match wanted {
        Wanted::LeftAlone => lefts.len(),
        Wanted::Common => lefts.len().min(rights.len()),
        Wanted::All => lefts.len() + rights.len(),
    };
    let mut members = bumpalo::collections::Vec::with_capacity_in(most, call.arena.bump());
    if lefts.len() / UNEQUAL > rights.len() || rights.len() / UNEQUAL > lefts.len() {
        leap(call, lefts, rights, wanted, &mut members)?;
    } else if let Some(from) = shared(lefts, rights) {
        let (left_heads, right_heads) = (heads(lefts, from), heads(rights, from));
        let lefts = lefts.iter().zip(left_heads.iter().copied());
        let rights = rights.iter().zip(right_heads.iter().copied());
        merge(call, lefts, rights, wanted, &mut members)?;
    } else {
        let plain = |members: &'e [V<'e>]| members.iter().map(|member| (member, 0));
        merge(call, plain(lefts), plain(rights), wanted, &mut members)?;
    }
    Ok(call.arena.sorted_set(members.into_bump_slice()))
}

/// What strings hold from a byte on, as numbers that order them as far as they go.
fn heads(members: &[V<'_>], from: usize) -> Vec<u128> {
    let head = |member: &V<'_>| {
        let bytes = member.string_bytes().unwrap_or_default();
        text::head(bytes.get(from..).unwrap_or_default())
    };
    members.iter().map(head).collect()
}

/// How many bytes all members of two sets in order begin with, when they are strings.
fn shared(lefts: &[V<'_>], rights: &[V<'_>]) -> Option<usize> {
    let [first, .., last] = lefts else {
        return None;
    };
    let first = first.string_bytes()?;
    let mut shared = sort::common(first, last.string_bytes()?);
    for other in [rights.first()?, rights.last()?] {
        shared = shared.min(sort::common(first, other.string_bytes()?));
    }
    Some(shared)
}

/// Goes through both one by one. What stands beside members orders them as far as it goes.
#[inline]
fn merge<'e>(
    call: &BuiltinContext<'e>,
    mut lefts: impl Iterator<Item = (&'e V<'e>, u128)>,
    mut rights: impl Iterator<Item = (&'e V<'e>, u128)>,
    wanted: Wanted,
    members: &mut bumpalo::collections::Vec<'e, V<'e>>,
) -> Result<(), Fault> {
    let (mut left, mut right) = (lefts.next(), rights.next());
    let mut turns = 0_usize;
    while let (Some((one, head)), Some((other, other_head))) = (left, right) {
        turns += 1;
        if turns.is_multiple_of(limits::LONG_STEP) {
            call.budget.check()?;
        }
        let order = match head.cmp(&other_head) {
            Ordering::Equal => one.cmp(other),
            order => order,
        };
        match order {
            Ordering::Less => {
                if wanted != Wanted::Common {
                    members.push(*one);
                }
                left = lefts.next();
            }
            Ordering::Greater => {
                if wanted == Wanted::All {
                    members.push(*other);
                }
                right = rights.next();
            }
            Ordering::Equal => {
                if wanted != Wanted::LeftAlone {
                    members.push(*one);
                }
                (left, right) = (lefts.next(), rights.next());
            }
        }
    }
    if wanted != Wanted::Common {
        members.extend(left.into_iter().chain(lefts).map(|(member, _)| *member));
    }
    if wanted == Wanted::All {
        members.extend(right.into_iter().chain(rights).map(|(member, _)| *member));
    }
    Ok(())
}

/// Searches the members of the smaller set in the larger one.
fn leap<'e>(
    call: &BuiltinContext<'e>,
    mut lefts: &[V<'e>],
    mut rights: &[V<'e>],
    wanted: Wanted,
    members: &mut bumpalo::collections::Vec<'e, V<'e>>,
) -> Result<(), Fault> {
    let mut turns = 0_usize;
    while let ([first, others @ ..], [second, rest @ ..]) = (lefts, rights) {
        turns += 1;
        if turns.is_multiple_of(limits::LONG_STEP) {
            call.budget.check()?;
        }
        match first.cmp(second) {
            Ordering::Less => {
                let (less, on) = split_below(lefts, second);
                if wanted != Wanted::Common {
                    members.extend_from_slice_copy(less);
                }
                lefts = on;
            }
            Ordering::Greater => {
                let (less, on) = split_below(rights, first);
                if wanted == Wanted::All {
                    members.extend_from_slice_copy(less);
                }
                rights = on;
            }
            Ordering::Equal => {
                if wanted != Wanted::LeftAlone {
                    members.push(*first);
                }
                (lefts, rights) = (others, rest);
            }
        }
    }
    if wanted != Wanted::Common {
        members.extend_from_slice_copy(lefts);
    }
    if wanted == Wanted::All {
        members.extend_from_slice_copy(rights);
    }
    Ok(())
}

/// Those of some members in order that come before another one, and the rest. Steps that double find the stretch to
/// search.
fn split_below<'m, 'e>(members: &'m [V<'e>], bound: &V<'e>) -> (&'m [V<'e>], &'m [V<'e>]) {
    let mut reach = 1;
    while members.get(reach).is_some_and(|member| member < bound) {
        reach *= 2;
    }
    let stretch = members.get(..reach).unwrap_or(members);
    let below = stretch.partition_point(|member| member < bound);
    members.split_at_checked(below).unwrap_or((members, &[]))
}
