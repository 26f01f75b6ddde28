//! Sets.

use std::cmp::Ordering;

use super::arrays::allot;
use super::{Builtin, Call, Fault, Operands};
use crate::limits;
use crate::value::{SetView, V, Value};

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "and",
        "x: set[any], y: set[any] => z: set[any]",
        "The members of both sets.",
        and,
    )
    .infix("&"),
    Builtin::new(
        "or",
        "x: set[any], y: set[any] => z: set[any]",
        "The members of either set.",
        or,
    )
    .infix("|"),
    Builtin::new(
        "intersection",
        "xs: set[set[any]] => y: set[any]",
        "The members of all sets in a set of sets.",
        intersection,
    ),
    Builtin::new(
        "union",
        "xs: set[set[any]] => y: set[any]",
        "The members of any set in a set of sets.",
        union,
    ),
    Builtin::new(
        "set_diff",
        "set[any], set[any] => set[any]",
        "The members of the first set that are not in the second.",
        set_diff,
    )
    .deprecated(),
];

/// The members of `left` that are not in `right`.
pub fn difference<'e>(
    call: &mut Call<'e>,
    left: SetView<'e>,
    right: SetView<'e>,
) -> Result<V<'e>, Fault> {
    allot(call, left.len())?;
    if are_alike(left, right) {
        return side_by_side(call, left, right, Wanted::LeftAlone);
    }
    Ok(call.arena.set_from(
        left.iter_unordered()
            .filter(|member| !right.contains(*member)),
    ))
}

/// Members from which on it pays to put sets in order.
const MANY: usize = 24;

/// Whether two sets are so large, and so much of one size, that going through both in order is the least work.
fn are_alike(left: SetView<'_>, right: SetView<'_>) -> bool {
    let (small, large) = (left.len().min(right.len()), left.len().max(right.len()));
    small >= MANY && large / small < 8
}

/// Which members of two sets are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    LeftAlone,
    Common,
    All,
}

/// Goes through two sets in order. Of equal members the left one is taken.
fn side_by_side<'e>(
    call: &Call<'e>,
    left: SetView<'e>,
    right: SetView<'e>,
    wanted: Wanted,
) -> Result<V<'e>, Fault> {
    let most = match wanted {
        Wanted::LeftAlone => left.len(),
        Wanted::Common => left.len().min(right.len()),
        Wanted::All => left.len() + right.len(),
    };
    let mut members = bumpalo::collections::Vec::with_capacity_in(most, call.arena.bump());
    let (mut lefts, mut rights) = (in_order(call, left), in_order(call, right));
    let mut turns = 0_usize;
    while let ([first, others @ ..], [second, rest @ ..]) = (lefts, rights) {
        turns += 1;
        if turns.is_multiple_of(limits::LONG_STEP) {
            call.budget.check()?;
        }
        match first.cmp(second) {
            Ordering::Less => {
                if wanted != Wanted::Common {
                    members.push(*first);
                }
                lefts = others;
            }
            Ordering::Greater => {
                if wanted == Wanted::All {
                    members.push(*second);
                }
                rights = rest;
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
    Ok(call.arena.sorted_set(members.into_bump_slice()))
}

/// The members of a set in order, side by side.
fn in_order<'e>(call: &Call<'e>, set: SetView<'e>) -> &'e [V<'e>] {
    match set {
        SetView::Arena(set) => set.sorted(call.arena),
        SetView::Stored(set) => {
            let members = set.items().iter().map(Value::borrow);
            call.arena.bump().alloc_slice_fill_iter(members)
        }
    }
}

fn set_diff<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    difference(call, operands.set(0)?, operands.set(1)?)
}

fn and<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (left, right) = (operands.set(0)?, operands.set(1)?);
    common(call, left, right)
}

/// Takes the members of the smaller set, which matters for `1` and `1.0`.
fn common<'e>(call: &mut Call<'e>, left: SetView<'e>, right: SetView<'e>) -> Result<V<'e>, Fault> {
    let (small, large) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    allot(call, small.len())?;
    if are_alike(small, large) {
        return side_by_side(call, small, large, Wanted::Common);
    }
    Ok(call.arena.set_from(
        small
            .iter_unordered()
            .filter(|member| large.contains(*member)),
    ))
}

fn or<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (left, right) = (operands.set(0)?, operands.set(1)?);
    if right.is_empty() {
        return Ok(operands.at(0));
    }
    if left.is_empty() {
        return Ok(operands.at(1));
    }
    allot(call, left.len() + right.len())?;
    if are_alike(left, right) {
        return side_by_side(call, left, right, Wanted::All);
    }
    Ok(call
        .arena
        .set_from(left.iter_unordered().chain(right.iter_unordered())))
}

fn intersection<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let mut result: Option<V<'e>> = None;
    for set in inner(operands)? {
        let set = set?;
        result = Some(match result {
            None => set,
            Some(result) => match (result.as_set(), set.as_set()) {
                (Some(left), Some(right)) => common(call, left, right)?,
                _ => result,
            },
        });
    }
    Ok(result.unwrap_or_else(|| call.arena.set_from([])))
}

fn union<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let mut result = crate::value::SetBuilder::new(call.arena);
    for set in inner(operands)? {
        if let Some(set) = set?.as_set() {
            allot(call, set.len())?;
            for (at, member) in set.iter_unordered().enumerate() {
                if at % limits::LONG_STEP == limits::LONG_STEP - 1 {
                    call.budget.check()?;
                }
                result.insert(member);
            }
        }
    }
    Ok(result.finish())
}

/// The sets in the set that is the first operand.
fn inner<'e>(operands: &[V<'e>]) -> Result<impl Iterator<Item = Result<V<'e>, Fault>>, Fault> {
    Ok(operands.set(0)?.iter().map(|set| match set.as_set() {
        Some(_) => Ok(set),
        None => Err(Fault::operand(1, &["set"], set)),
    }))
}
