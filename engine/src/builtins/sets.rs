//! Built-ins on sets. Sorted sets are merged, others hashed.

pub mod heads;
mod merging;

use smallvec::SmallVec;

use self::merging::{SetOperation, side_by_side};
use super::arrays::allot;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::limits;
use crate::value::{Kind, SetBuilder, SetView, SetViewRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "and",
        "x: set[any], y: set[any] => z: set[any]",
        "The members of both sets.",
        and,
    )
    .listed(&["sets"])
    .holding()
    .infix("&"),
    Builtin::new(
        "or",
        "x: set[any], y: set[any] => z: set[any]",
        "The members of either set.",
        or,
    )
    .listed(&["sets"])
    .holding()
    .infix("|"),
    Builtin::new(
        "intersection",
        "xs: set[set[any]] => y: set[any]",
        "The members of all sets in a set of sets.",
        intersection,
    )
    .listed(&["sets"])
    .holding(),
    Builtin::new(
        "union",
        "xs: set[set[any]] => y: set[any]",
        "The members of any set in a set of sets.",
        union,
    )
    .listed(&["sets"])
    .holding(),
    Builtin::new(
        "set_diff",
        "set[any], set[any] => set[any]",
        "The members of the first set that are not in the second.",
        set_diff,
    )
    .deprecated(),
];

/// Returns the members of `left` that are not in `right`: by a linear merge if both are cheap to order, otherwise by a
/// lookup of each member.
pub fn difference<'e>(
    call: &mut BuiltinContext<'e>,
    left: SetView<'e>,
    right: SetView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    allot(call, left.len())?;
    if left.len() >= SORT_THRESHOLD && is_cheap_to_order(left) {
        let lefts = in_order(call, left);
        if is_ordered(right) || (is_cheap_to_order(right) && right.len() < left.len() / 2) {
            return side_by_side(call, lefts, in_order(call, right), SetOperation::LeftOnly);
        }
        return select_members(call, lefts, |member| !right.contains(member));
    }
    Ok(call.arena.set_from(
        left.iter_unordered()
            .filter(|member| !right.contains(*member)),
    ))
}

/// Number of members from which sorting sets pays off.
const SORT_THRESHOLD: usize = 24;

/// Returns `true` if a set can be iterated in order without sorting.
fn is_ordered(set: SetView<'_>) -> bool {
    match set {
        SetView(SetViewRepr::Stored(_)) => true,
        SetView(SetViewRepr::Arena(set)) => set.is_ordered(),
    }
}

/// Returns `true` if a set is sorted, or can be sorted in about the time that hashing its members takes.
fn is_cheap_to_order(set: SetView<'_>) -> bool {
    let simple = |member: ValueRef<'_>| member.kind() < Kind::Array;
    is_ordered(set) || set.iter_unordered().next().is_none_or(simple)
}

/// Selects members of two sorted lists.
fn select_members<'e>(
    call: &BuiltinContext<'e>,
    members: &[ValueRef<'e>],
    is_selected: impl Fn(ValueRef<'e>) -> bool,
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut selected =
        bumpalo::collections::Vec::with_capacity_in(members.len(), call.arena.bump());
    for chunk in members.chunks(limits::LONG_STEP) {
        selected.extend(chunk.iter().copied().filter(|member| is_selected(*member)));
        call.budget.check()?;
    }
    Ok(call.arena.sorted_set(selected.into_bump_slice()))
}

/// Returns the sorted members of a set as a slice.
fn in_order<'e>(call: &BuiltinContext<'e>, set: SetView<'e>) -> &'e [ValueRef<'e>] {
    match set {
        SetView(SetViewRepr::Arena(set)) => set.sorted(call.arena),
        SetView(SetViewRepr::Stored(set)) => call.arena.in_flight(set.items()),
    }
}

fn set_diff<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    difference(call, operands.set(0)?, operands.set(1)?)
}

fn and<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.set(0)?, operands.set(1)?);
    common(call, left, right)
}

/// Intersects two sets. Takes the members of the smaller set, which matters for `1` and `1.0`.
fn common<'e>(
    call: &mut BuiltinContext<'e>,
    left: SetView<'e>,
    right: SetView<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (small, large) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    allot(call, small.len())?;
    if small.len() >= SORT_THRESHOLD && is_cheap_to_order(small) {
        let members = in_order(call, small);
        if is_ordered(large) {
            return side_by_side(call, members, in_order(call, large), SetOperation::Common);
        }
        return select_members(call, members, |member| large.contains(member));
    }
    Ok(call.arena.set_from(
        small
            .iter_unordered()
            .filter(|member| large.contains(*member)),
    ))
}

fn or<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.set(0)?, operands.set(1)?);
    if right.is_empty() {
        return Ok(operands.operand(0));
    }
    if left.is_empty() {
        return Ok(operands.operand(1));
    }
    allot(call, left.len() + right.len())?;
    let are_many = left.len() + right.len() >= SORT_THRESHOLD;
    if are_many && is_cheap_to_order(left) && is_cheap_to_order(right) {
        let (lefts, rights) = (in_order(call, left), in_order(call, right));
        return side_by_side(call, lefts, rights, SetOperation::All);
    }
    Ok(call
        .arena
        .set_from(left.iter_unordered().chain(right.iter_unordered())))
}

fn intersection<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut result: Option<ValueRef<'e>> = None;
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

fn union<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut sets: SmallVec<[ValueRef<'e>; FEW]> = SmallVec::new();
    for set in inner(operands)? {
        sets.push(set?);
    }
    if sets.len() <= FEW
        && let Some((first, rest)) = sets.split_first()
    {
        return rest
            .iter()
            .try_fold(*first, |all, set| or(call, &[all, *set]));
    }
    let mut all = SetBuilder::new(call.arena);
    for members in sets.iter().filter_map(|set| set.as_set()) {
        allot(call, members.len())?;
        for (index, member) in members.iter_unordered().enumerate() {
            if (index + 1).is_multiple_of(limits::LONG_STEP) {
                call.budget.check()?;
            }
            all.insert(member);
        }
        call.budget.check()?;
    }
    Ok(all.finish())
}

/// Number of sets up to which the union is built set by set.
const FEW: usize = 4;

/// Iterates over the sets in the first operand.
fn inner<'e>(
    operands: &[ValueRef<'e>],
) -> Result<impl Iterator<Item = Result<ValueRef<'e>, BuiltinError>>, BuiltinError> {
    Ok(operands.set(0)?.iter().map(|set| match set.as_set() {
        Some(_) => Ok(set),
        None => Err(BuiltinError::operand(1, &["set"], set)),
    }))
}
